"""Clients that read a report again and again get its content only if it has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework.test import APIClient

from testing.analytics.facts import Fact, record

DAYS = {"startDate": "2026-03-01", "endDate": "2026-03-03"}


def test_a_report_that_is_known_is_not_sent_again(
    api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    link = make_link()["_id"]
    domain = api.post("/api/domains", {"domain": "links.example"}).json()["data"]["domain"]["_id"]
    record(link, [Fact("2026-03-01T10:00Z", count=3)])
    paths: list[tuple[str, dict[str, Any]]] = [
        ("/api/analytics", {**DAYS, "compare": "year"}),
        ("/api/analytics/clicks", {**DAYS, "limit": 1}),
        ("/api/analytics/sparklines", {"urlIds": link}),
        (f"/api/analytics/{link}", DAYS),
        (f"/api/analytics/{link}/devices", DAYS),
        (f"/api/analytics/{link}/geographic", {**DAYS, "country": "DE"}),
        # Its nextCursor is another text each time.
        (f"/api/analytics/{link}/clicks", {**DAYS, "limit": 1}),
        (f"/api/domains/{domain}/analytics", DAYS),
        (f"/api/domains/{domain}/unknown-codes", DAYS),
    ]
    tags = []
    for path, query in paths:
        whole = api.get(path, query)
        tags.append(whole["ETag"])
        for known in (tags[-1], tags[-1].removeprefix("W/"), f'"other", {tags[-1]}', "*"):
            response = api.get(path, query, headers={"if-none-match": known})
            assert (response.status_code, response.content, response["ETag"]) == (304, b"", tags[-1]), path
            assert response["Cache-Control"] == whole["Cache-Control"] == "no-store"
        for unknown in ('"other"', "rubbish", ""):
            response = api.get(path, query, headers={"if-none-match": unknown})
            assert (response.status_code, response.json()["success"]) == (200, True), path
    assert len({*tags}) == len(tags)
    assert api.delete(f"/api/analytics/{link}?before=2026-03-02").status_code == 200
    changed = [
        api.get(path, query, headers={"if-none-match": tag}).status_code
        for (path, query), tag in zip(paths, tags, strict=True)
    ]
    # Neither the last thirty days nor the domain had these clicks.
    assert changed == [200, 200, 304, 200, 200, 200, 200, 304, 304]
