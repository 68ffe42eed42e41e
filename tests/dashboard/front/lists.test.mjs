import assert from "node:assert/strict";
import { describe, test } from "node:test";
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
