"""Reports as clients get them."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.test import APIClient


def report(api: APIClient, link: str, part: str = "", **query: object) -> dict[str, Any]:
    response = api.get(f"/api/analytics/{link}{part}", query)
    assert response.status_code == 200, response.content
    answer = response.json()
    assert answer.keys() == {"success", "data"}
    assert answer["success"] is True
    return answer["data"]


def broken_rules(response: HttpResponse) -> list[tuple[str, str]]:
    assert response.status_code == 400, response.content
    answer = response.json()
    assert answer.keys() == {"success", "message", "code", "errors"}
    assert (answer["success"], answer["code"]) == (False, "validation_error")
    first = answer["errors"][0]
    assert answer["message"] == f"{first['field']}: {first['message']}"
    return [(error["field"], error["code"]) for error in answer["errors"]]
