"""What a client is told of a body or a query that is not as it should be."""

from __future__ import annotations

from django.http import HttpResponse


def broken_rules(response: HttpResponse) -> list[tuple[str, str]]:
    """Of each error its field and its code, in the envelope that all refusals of this kind have."""
    assert response.status_code == 400, response.content
    answer = response.json()
    assert answer.keys() == {"success", "message", "code", "errors"}
    assert (answer["success"], answer["code"]) == (False, "validation_error")
    assert all(error.keys() == {"field", "code", "message"} for error in answer["errors"])
    first = answer["errors"][0]
    assert answer["message"] == f"{first['field']}: {first['message']}"
    return [(error["field"], error["code"]) for error in answer["errors"]]
