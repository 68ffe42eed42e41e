import assert from "node:assert/strict";
import { test } from "node:test";
import { expressionOf } from "../../../dashboard/front/pages/routes.js";

test("a path of the server names the properties of its page", () => {
    const expression = expressionOf("links/<uuid:id>/report");
    assert.deepEqual({ ...expression.exec("links/0190/report")?.groups }, { id: "0190" });
    for (const other of ["links/0190", "links/0190/report/", "links//report", "links/a/b/report"]) {
        assert.equal(expression.exec(other), null);
    }
});

test("the path of the list is empty", () => {
    assert.match("", expressionOf(""));
    assert.doesNotMatch("new", expressionOf(""));
});
