import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { loadTexts, refusalText, stepText, t, textOr } from "../../../dashboard/front/core/texts.js";
import { texts as german } from "../../../dashboard/front/texts/de.js";
import { texts as english } from "../../../dashboard/front/texts/en.js";

/** The names of the values in a text. @param {string | {one: string, other: string}} text */
const namesIn = text => [...new Set((typeof text === "string" ? text : text.other).match(/\{\w+\}/g) ?? [])].sort();

test("German has every text of the English page, with the same values", () => {
    assert.deepEqual(Object.keys(german).sort(), Object.keys(english).sort());
    for (const [key, text] of Object.entries(english)) {
        const translated = Reflect.get(german, key);
        assert.deepEqual([key, namesIn(translated)], [key, namesIn(text)]);
        assert.deepEqual([key, typeof translated], [key, typeof text]);
    }
});

describe("a text in German", () => {
    before(async () => {
        document.documentElement.lang = "de";
        await loadTexts();
    });

    test("has its values, with numbers as Germans write them", () => {
        assert.equal(t("summary.clicks", { count: 1 }), "Auswertung: 1 Klick");
        assert.equal(t("summary.clicks", { count: 12345 }), "Auswertung: 12.345 Klicks");
    });

    test("that the page does not know is the fallback", () => {
        assert.equal(textOr("condition.network", "x"), german["condition.network"]);
        assert.equal(textOr("condition.weather", "weather"), "weather");
    });

    test("of a refusal is that of its field, and of an unknown code the API's own", () => {
        assert.equal(refusalText({ code: "unheard_of", message: "No." }), "No.");
        assert.notEqual(refusalText({ code: "code_taken", message: "Taken." }), "Taken.");
    });

    test("of a refusal has the values of its data, for each reason", () => {
        const error = { code: "range_too_large", field: "startDate", message: "Too much." };
        /** @param {object} data */
        const told = data => refusalText(error, data);
        assert.match(told({ reason: "link_days", limit: 300000, days: 15 }), /mehr als 300\.000 Tage .* höchstens 15 Tage/);
        assert.match(told({ reason: "totals", since: "2026-03-02" }), /ab dem 02\.03\.2026 /);
        const reasons = ["link_days", "links", "requests", "deleted_requests", "totals", "only_totals", "new"];
        const general = refusalText(error);
        assert.deepEqual(reasons.map(reason => told({ reason, limit: 1, days: 1, since: "2026-03-02" }) === general), [...Array(6).fill(false), true]);
    });

    test("of a step depends on whether it passed", () => {
        const outcome = { reason: "country", rule: null, variant: null, counted: false };
        const passed = stepText({ check: "country", passed: true, detail: "d" }, outcome);
        const refused = stepText({ check: "country", passed: false, detail: "d" }, outcome);
        assert.notEqual(passed, refused);
        assert.equal(stepText({ check: "moon", passed: true, detail: "The moon is full." }, outcome), "The moon is full.");
    });
});
