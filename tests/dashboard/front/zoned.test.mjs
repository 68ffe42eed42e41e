import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fromZoned, toZoned } from "../../../dashboard/front/core/zoned.js";

const BERLIN = "Europe/Berlin";

describe("a moment in a zone", () => {
    test("has the date and time of that zone, in summer and winter", () => {
        const shown = [
            ["2030-03-01T10:30:59.999Z", "UTC", "2030-03-01T10:30"],
            ["2030-01-15T23:30:00Z", BERLIN, "2030-01-16T00:30"],
            ["2030-07-15T23:30:00Z", BERLIN, "2030-07-16T01:30"],
            ["2030-01-15T23:30:00Z", "Asia/Kolkata", "2030-01-16T05:00"],
            ["2030-01-15T03:30:00Z", "America/New_York", "2030-01-14T22:30"],
            ["0099-01-15T03:30:00Z", "UTC", "0099-01-15T03:30"],
        ];
        for (const [moment, zone, expected] of shown) assert.equal(toZoned(moment, zone), expected);
        assert.deepEqual(["", null, undefined].map(moment => toZoned(moment, BERLIN)), ["", "", ""]);
    });

    test("comes back from what was typed, beside each change of the clocks, too", () => {
        const typed = [
            ["2030-01-16T00:30", BERLIN, "2030-01-15T23:30:00.000Z"],
            ["2030-07-16T01:30", BERLIN, "2030-07-15T23:30:00.000Z"],
            ["2030-03-31T01:59", BERLIN, "2030-03-31T00:59:00.000Z"],
            ["2030-03-31T03:00", BERLIN, "2030-03-31T01:00:00.000Z"],
            ["2030-10-27T01:59", BERLIN, "2030-10-26T23:59:00.000Z"],
            ["2030-10-27T03:00", BERLIN, "2030-10-27T02:00:00.000Z"],
            ["2030-11-03T00:30", "America/New_York", "2030-11-03T04:30:00.000Z"],
            ["2030-11-03T02:00", "America/New_York", "2030-11-03T07:00:00.000Z"],
            ["2030-04-07T12:00", "Australia/Lord_Howe", "2030-04-07T01:30:00.000Z"],
            ["2030-01-01T00:00", "Pacific/Kiritimati", "2029-12-31T10:00:00.000Z"],
        ];
        for (const [text, zone, expected] of typed) {
            assert.equal(fromZoned(text, zone), expected);
            assert.equal(toZoned(expected, zone), text);
        }
    });

    test("is the first one of an hour that the clocks repeat", () => {
        assert.equal(fromZoned("2030-10-27T02:30", BERLIN), "2030-10-27T00:30:00.000Z");
        assert.equal(toZoned("2030-10-27T01:30:00Z", BERLIN), "2030-10-27T02:30");
    });

    test("is as much later if the clocks leave it out", () => {
        assert.equal(fromZoned("2030-03-31T02:30", BERLIN), "2030-03-31T01:30:00.000Z");
        assert.equal(toZoned("2030-03-31T01:30:00.000Z", BERLIN), "2030-03-31T03:30");
    });

    test("is none for an input without a date", () => {
        for (const text of ["", "20300-01-01T00:00"]) assert.equal(fromZoned(text, BERLIN), "");
    });
});
