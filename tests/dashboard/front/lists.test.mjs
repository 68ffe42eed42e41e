import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addressOfView } from "../../../dashboard/front/pages/links/view_filters.js";
import { bodyOf, linesOf } from "../../../dashboard/front/pages/many/lines.js";

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
        assert.deepEqual(bodyOf(lines, { domainId: "", tags: ["x"], utm: { source: " mail ", medium: "" } }), {
            urls: [
                { originalUrl: "https://example.com/a", title: "A", tags: ["x"], utm: { source: "mail" } },
                { originalUrl: "https://example.com/b", tags: ["x"], utm: { source: "mail" } },
            ],
        });
        assert.deepEqual(bodyOf(lines.slice(1), { domainId: "d", tags: [], utm: {} }), {
            urls: [{ originalUrl: "https://example.com/b", domainId: "d" }],
        });
    });
});

describe("the address of a saved view", () => {
    test("has its filters in one order, and no default", () => {
        const filters = { tags: "a,b", status: "active", archived: "any", domainId: "base", expiresWithin: "7", sortBy: "createdAt", sortOrder: "desc" };
        assert.equal(addressOfView({ filters }), "/dashboard/?archived=any&domain=base&expires=7&status=active&tags=a%2Cb");
        assert.equal(addressOfView({ filters: {} }), "/dashboard/");
        assert.equal(addressOfView({ filters: { sortBy: "title" } }), "/dashboard/?sortBy=title&sortOrder=desc");
    });
    test("has the days of its moments", () => {
        const filters = { createdFrom: "2030-03-01T00:00:00.000Z", createdBefore: "2030-04-01T00:00:00.000Z" };
        assert.equal(addressOfView({ filters }), "/dashboard/?from=2030-03-01&until=2030-03-31");
    });
});
