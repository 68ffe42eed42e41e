"""Checks the responses to invalid bodies and queries."""

from __future__ import annotations

from django.http import HttpResponse


def broken_rules(response: HttpResponse) -> list[tuple[str, str]]:
    """The field and code of each error. Checks the envelope, too."""
    assert response.status_code == 400, response.content
    body = response.json()
    assert body.keys() - {"data"} == {"success", "message", "code", "errors"}
    are_unknown = {error["code"] for error in body["errors"]} == {"unknown_field"}
    code = "unknown_field" if are_unknown else "validation_error"
    assert (body["success"], body["code"]) == (False, code)
    assert all(error.keys() - {"didYouMean"} == {"field", "code", "message"} for error in body["errors"])
    first = body["errors"][0]
    assert body["message"] == f"{first['field']}: {first['message']}"
    return [(error["field"], error["code"]) for error in body["errors"]]
