import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { listOf, textOfList } from "../../../dashboard/front/core/lists.js";
import { addressOfView } from "../../../dashboard/front/pages/links/view_filters.js";
import { bodyOf, linesOf, refusalsOf } from "../../../dashboard/front/pages/many/lines.js";

describe("tags in an address", () => {
    test("are separated by commas, and may have some", () => {
        for (const tags of [["x,y", "x"], ["x\\,y"], ["a\\", "b"], ["\\", ","], []]) assert.deepEqual(listOf(textOfList(tags)), tags);
        assert.deepEqual(listOf(" x , it's \\ ,,a\\,b"), ["x", "it's \\", "a,b"]);
    });
});

describe("a pasted list", () => {
    test("has an address and perhaps a title in each line that is not empty", () => {
        const pasted = "example.com/a\tSpring sale\r\n\n  https://example.com/b  \nno address\tof\tanything\n";
        assert.deepEqual(
            linesOf(pasted).map(({ originalUrl, title }) => [originalUrl, title]),
            [
                ["https://example.com/a", "Spring sale"],
                ["https://example.com/b", ""],
                ["no address", "of anything"],
            ],
        );
    });
    test("becomes links with the shared fields that are not empty", () => {
        const lines = linesOf("https://example.com/a\tA\nhttps://example.com/b");
        assert.deepEqual(bodyOf(lines, { domainId: "", tags: ["x"], utmTemplateId: "", utm: { source: " mail ", medium: "" } }), {
            urls: [
                { originalUrl: "https://example.com/a", title: "A", tags: ["x"], utm: { source: "mail" } },
                { originalUrl: "https://example.com/b", tags: ["x"], utm: { source: "mail" } },
            ],
        });
        assert.deepEqual(bodyOf(lines.slice(1), { domainId: "d", tags: [], utmTemplateId: "t", utm: {} }), {
            urls: [{ originalUrl: "https://example.com/b", domainId: "d", utmTemplateId: "t" }],
        });
    });
    test("is refused at its lines, and once at the fields that they share", () => {
        const shared = { field: "utm.source", code: "not_allowed", message: "Only mail." };
        const own = { field: "originalUrl", code: "invalid", message: "No address." };
        const results = [
            { index: 0, success: true, errors: [], message: "" },
            { index: 1, success: false, errors: [shared], message: "utm.source: Only mail." },
            { index: 2, success: false, errors: [own, shared], message: "originalUrl: No address." },
            { index: 3, success: false, errors: [], message: "Too many links." },
        ];
        assert.deepEqual(refusalsOf(results), {
            shared: [shared],
            lines: [
                { index: 2, messages: ["No address."] },
                { index: 3, messages: ["Too many links."] },
            ],
        });
    });
});

describe("the address of a saved view", () => {
    test("has its filters in one order, and no default", () => {
        const filters = { tags: "a,b", tagsMode: "all", excludeTags: "c", status: "active", health: "dead", archived: "any", domainId: "base", expiresWithin: "7", sortBy: "createdAt", sortOrder: "desc" };
        assert.equal(addressOfView({ filters }), "/dashboard/?archived=any&domain=base&excludeTags=c&expires=7&health=dead&status=active&tags=a%2Cb&tagsMode=all");
        assert.equal(addressOfView({ filters: { tagsMode: "any" } }), "/dashboard/");
        assert.equal(addressOfView({ filters: { sortBy: "title" } }), "/dashboard/?sortBy=title&sortOrder=desc");
    });
    test("has the days of its moments", () => {
        const filters = { createdFrom: "2030-03-01T00:00:00.000Z", createdBefore: "2030-04-01T00:00:00.000Z" };
        assert.equal(addressOfView({ filters }), "/dashboard/?from=2030-03-01&until=2030-03-31");
    });
});
