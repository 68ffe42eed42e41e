import assert from "node:assert/strict";
import { test } from "node:test";
import { GROUPS, merged, stateOf } from "../../../dashboard/front/pages/webhooks/types.js";
import { texts } from "../../../dashboard/front/texts/en.js";

test("each type of events is in one group, and has a text", () => {
    const types = GROUPS.flatMap(group => group.types);
    const named = Object.keys(texts).filter(key => key.startsWith("event."));
    assert.deepEqual(types.map(type => `event.${type}`).sort(), named.sort());
});

test("an endpoint is active, failing, or disabled for a reason", () => {
    const since = "2030-03-01T09:30:00Z";
    assert.equal(stateOf({ disabledReason: null, failingSince: null }), "active");
    assert.equal(stateOf({ disabledReason: null, failingSince: since }), "failing");
    for (const reason of ["manual", "gone", "failing"]) {
        assert.equal(stateOf({ disabledReason: reason, failingSince: since }), `disabled.${reason}`);
    }
});

test("messages that are read again replace the shown ones, and new ones precede them", () => {
    const [third, second, first] = [3, 2, 1].map(id => ({ _id: String(id), status: "pending" }));
    const sent = { ...second, status: "delivered" };
    assert.deepEqual(merged([second, first], [third, sent]), [third, sent, first]);
    assert.deepEqual(merged([], []), []);
});
