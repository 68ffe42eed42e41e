import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hostIn, withScheme } from "../../../dashboard/front/core/addresses.js";
import { listOf } from "../../../dashboard/front/core/lists.js";
import { changesOf, copyOf, emptyFields, fieldsOf, finalAddress, typedFields } from "../../../dashboard/front/pages/editor/model.js";

const LINK = /** @type {any} */ ({
    originalUrl: "https://example.com/a",
    targetUrl: "https://example.com/b",
    domainId: "base",
    customCode: "spring",
    title: "Spring",
    description: null,
    tags: ["a", "b c"],
    isActive: false,
    startsAt: "2030-03-01T10:30:59Z",
    notStartedUrl: null,
    expiresAt: null,
    expiredUrl: "https://example.com/over",
    restrictions: { maxClicks: 5, allowedCountries: ["DE"] },
    utm: { source: "mail" },
    redirectType: 301,
    fallbackUrl: null,
    healthCheck: "daily",
    forwardQuery: true,
    referrerPolicy: "origin",
    preview: { title: "Card", description: null, imageUrl: null },
    rules: [{ url: "https://example.com/de", conditions: [{ type: "country", values: ["DE"] }] }],
    split: [],
    externalId: "order 1",
    isArchived: true,
});

describe("the fields of the editor", () => {
    test("hold what a link has", () => {
        assert.deepEqual(fieldsOf(LINK), {
            originalUrl: "https://example.com/a",
            targetUrl: "https://example.com/b",
            domainId: "base",
            customCode: "spring",
            title: "Spring",
            description: "",
            tags: "a,b c",
            isActive: false,
            startsAt: "2030-03-01T10:30:59Z",
            notStartedUrl: "",
            expiresAt: "",
            expiredUrl: "https://example.com/over",
            password: "",
            removesPassword: false,
            maxClicks: "5",
            maxClicksPerVisitor: "",
            allowedCountries: ["DE"],
            blockedCountries: [],
            allowedDevices: [],
            utm: { source: "mail", medium: "", campaign: "", term: "", content: "" },
            utmTemplateId: "",
            redirectType: "301",
            fallbackUrl: "",
            healthCheck: "daily",
            forwardQuery: true,
            referrerPolicy: "origin",
            preview: { title: "Card", description: "", imageUrl: "" },
            rules: LINK.rules,
            split: [],
            externalId: "order 1",
            isArchived: true,
        });
    });

    test("of an empty editor and of a link have the same names", () => {
        assert.deepEqual(Object.keys(emptyFields()), Object.keys(fieldsOf(LINK)));
    });

    test("of two editors share nothing", () => {
        emptyFields().rules.push(LINK.rules[0]);
        assert.deepEqual(emptyFields().rules, []);
    });
});

describe("what a save sends", () => {
    const before = fieldsOf(LINK);

    test("is nothing without a change", () => {
        assert.deepEqual(changesOf(fieldsOf(LINK), before), {});
    });

    test("is each changed field, with null for what was emptied", () => {
        const changed = {
            ...before,
            targetUrl: " ",
            title: " New ",
            tags: "a, ,c,",
            expiresAt: "2031-01-01T00:00:00.000Z",
            maxClicks: "",
            maxClicksPerVisitor: "2",
            referrerPolicy: "",
            preview: { title: " ", description: "", imageUrl: "" },
        };
        assert.deepEqual(changesOf(changed, before), {
            targetUrl: null,
            title: "New",
            tags: ["a", "c"],
            expiresAt: "2031-01-01T00:00:00.000Z",
            referrerPolicy: null,
            preview: null,
            restrictions: {
                maxClicks: null,
                maxClicksPerVisitor: 2,
                allowedCountries: ["DE"],
                blockedCountries: [],
                allowedDevices: [],
            },
        });
    });

    test("is a password only if one was typed, and null to remove it", () => {
        assert.deepEqual(changesOf({ ...before, password: "secret" }, before), { password: "secret" });
        assert.deepEqual(changesOf({ ...before, password: "secret", removesPassword: true }, before), { password: null });
    });

    test("is only the destination of a new link with nothing else", () => {
        const typed = { ...emptyFields(), originalUrl: " https://example.com " };
        assert.deepEqual(changesOf(typed, emptyFields()), { originalUrl: "https://example.com" });
    });
});

test("only the inputs that changed are typed", () => {
    const before = fieldsOf(LINK);
    assert.deepEqual(typedFields({ ...before, title: "x", tags: before.tags }, before), { title: "x" });
});

test("a list has no empty parts", () => assert.deepEqual(listOf(" a,, b ,"), ["a", "b"]));

describe("a typed address", () => {
    test("gets the scheme that everybody means", () => {
        const typed = [" example.com/sale ", "go.example.com:8080/a?b=c#d", "bücher.example"];
        assert.deepEqual(typed.map(withScheme), [
            "https://example.com/sale",
            "https://go.example.com:8080/a?b=c#d",
            "https://bücher.example",
        ]);
    });

    test("stays as it is with a scheme, or if it is no address", () => {
        const typed = ["http://example.com", "ftp://example.com/", "javascript:alert(1)", "mailto:a@example.com", "sale", "", "a b.example"];
        assert.deepEqual(typed.map(withScheme), typed);
    });

    test("names its host", () => {
        assert.deepEqual(["https://go.example.com/x", " go.example.com ", "go.example.com?a"].map(hostIn), ["go.example.com", "go.example.com", "go.example.com"]);
    });
});

test("the destination is in the field, and the original address needs no target", () => {
    const plain = { ...LINK, targetUrl: null };
    assert.equal(fieldsOf(plain).targetUrl, "https://example.com/a");
    assert.deepEqual(changesOf(fieldsOf(plain), fieldsOf(plain)), {});
    assert.deepEqual(changesOf({ ...fieldsOf(LINK), targetUrl: "https://example.com/a" }, fieldsOf(LINK)), { targetUrl: null });
});

test("a copy leads where the link leads, under a code of its own", () => {
    const copied = { ...emptyFields(), ...copyOf(LINK) };
    const { originalUrl, customCode, title, isArchived } = /** @type {any} */ (changesOf(copied, emptyFields()));
    assert.deepEqual([originalUrl, customCode, title, isArchived], ["https://example.com/b", undefined, "Spring", undefined]);
});

describe("the final address", () => {
    const at = (/** @type {Partial<import("../../../dashboard/front/pages/editor/model.js").Fields>} */ fields) =>
        finalAddress({ ...emptyFields(), ...fields });

    test("has the parameters of the campaign before the fragment", () => {
        const utm = { ...emptyFields().utm, source: "mail", term: " " };
        assert.equal(at({ originalUrl: "https://example.com/?utm_source=x&a=1#top", utm }), "https://example.com/?utm_source=mail&a=1#top");
    });

    test("is the target, if there is one", () => {
        assert.equal(at({ originalUrl: "https://example.com/", targetUrl: "https://other.example/" }), "https://other.example/");
    });

    test("is null while the address is incomplete", () => {
        for (const originalUrl of ["", "example", "https://", "javascript:alert(1)"]) assert.equal(at({ originalUrl }), null);
    });
});
