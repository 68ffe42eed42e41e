import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { moved } from "../../../dashboard/front/pages/editor/shares.js";
import { hoursOf, schedulesOf } from "../../../dashboard/front/pages/editor/week.js";

const ZONE = "Europe/Berlin";

/** @param {string[]} days @param {string} from @param {string} until */
const schedule = (days, from, until) => ({ days, from, until, timezone: ZONE });

/** @param {boolean[] | null} hours */
const switchedOn = hours => (hours ?? []).flatMap((isOn, hour) => (isOn ? [hour] : []));

describe("the hours of a week", () => {
    test("are those of the schedules, over midnight and over the end of the week, too", () => {
        const night = hoursOf([schedule(["mon", "sun"], "22:00", "02:00")]);
        assert.deepEqual(switchedOn(night), [0, 1, 22, 23, 24, 25, 166, 167]);
        assert.deepEqual(switchedOn(hoursOf([schedule(["tue"], "00:00", "00:00")])), Array.from({ length: 24 }, (_, hour) => 24 + hour));
    });
    test("cannot say what is finer, or differs by zone", () => {
        assert.equal(hoursOf([schedule(["mon"], "09:30", "17:00")]), null);
        assert.equal(hoursOf([schedule(["mon"], "09:00", "17:00"), { ...schedule(["tue"], "09:00", "17:00"), timezone: "UTC" }]), null);
    });
    test("become schedules that share their days", () => {
        const office = schedule(["mon", "tue", "fri"], "09:00", "17:00");
        const late = schedule(["tue"], "20:00", "00:00");
        assert.deepEqual(schedulesOf(hoursOf([late, office]) ?? [], ZONE), [office, late]);
        assert.deepEqual(schedulesOf(hoursOf([]) ?? [], ZONE), []);
        assert.deepEqual(schedulesOf(Array.from({ length: 168 }, () => true), ZONE), [
            schedule(["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "00:00", "00:00"),
        ]);
    });
    test("are the same hours after a way there and back", () => {
        const hours = Array.from({ length: 168 }, (_, hour) => (hour * hour) % 7 < 3);
        assert.deepEqual(hoursOf(schedulesOf(hours, ZONE)), hours);
    });
});

describe("a boundary between two shares", () => {
    test("moves weight to one of them, and leaves both something", () => {
        assert.deepEqual(moved([25, 25, 50], 1, 40), [25, 40, 35]);
        assert.deepEqual(moved([25, 25, 50], 0, -5), [1, 49, 50]);
        assert.deepEqual(moved([25, 25, 50], 1, 90), [25, 74, 1]);
        assert.deepEqual(moved([100, 1, 0], 1, 5), [100, 1, 0]);
    });
});
