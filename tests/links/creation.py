"""Creating links: bodies, and what tests check after each refusal."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.http import HttpResponse
from rest_framework.test import APIClient

URL = "https://example.com/page"
UTM_KEYS = ("source", "medium", "campaign", "term", "content")
RESTRICTION_LISTS = ("allowedCountries", "blockedCountries", "allowedDevices")


def everything_written() -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM links_link), (SELECT count(*) FROM links_code),"
            " (SELECT count(*) FROM links_clickcounter),"
            " (SELECT sum(links)::int FROM links_ownertotals),"
            " (SELECT sum(active_links)::int FROM links_ownertotals),"
            " (SELECT sum(clicks)::int FROM links_ownertotals)"
        )
        return cursor.fetchall()


def refused(api: APIClient, body: dict[str, Any], status: int) -> HttpResponse:
    """The error response of a creation. Asserts that the database is unchanged."""
    before = everything_written()
    response = api.post("/api/urls", body)
    assert response.status_code == status, (body, response.content)
    assert everything_written() == before, body
    return response


def at(path: str, value: Any) -> dict[str, Any]:
    """``at("utm.source", 5)`` is a body whose ``utm`` is ``{"source": 5}``; a final number stands for a list item."""
    *outer, last = path.split(".")
    nested: Any = [value] if last == "0" else {last: value}
    for key in reversed(outer):
        nested = {key: nested}
    return nested


FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}\N{ZERO WIDTH JOINER}\N{BOY}"
