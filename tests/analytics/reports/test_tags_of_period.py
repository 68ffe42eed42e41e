"""The list of tags with the clicks of a period."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.rights import Scope
from accounts.services import NewAccount
from analytics.reports import figures, scope
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import key_client_in
from testing.analytics.facts import Fact, record
from testing.refusals import broken_rules

MakeLink = Callable[..., dict[str, Any]]
MARCH = {"startDate": "2026-03-01", "endDate": "2026-03-31"}


def listed(api: APIClient, **query: object) -> dict[str, tuple[int, int]]:
    """The clicks and unique clicks of each tag."""
    response = api.get("/api/tags", query)
    assert response.status_code == 200, response.content
    return {tag["name"]: (tag["clicks"], tag["uniqueClicks"]) for tag in response.json()["data"]["tags"]}


@pytest.mark.parametrize("some_tags", [scope.SOME_TAGS, 0], ids=["some tags", "many tags"])
def test_tags_have_the_clicks_of_a_period(
    api: APIClient,
    strange_api: APIClient,
    make_link: MakeLink,
    some_tags: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scope, "SOME_TAGS", some_tags)
    today = datetime.now(UTC).replace(hour=12) - timedelta(days=1)
    both, mail, plain = (make_link(tags=tags)["_id"] for tags in (["Spring", "mail"], ["mail"], []))
    make_link(tags=["unused"])
    body = {"originalUrl": "https://example.com/", "tags": ["mail", "hers"]}
    hers = strange_api.post("/api/urls", body).json()["data"]["url"]["_id"]
    for link, number in ((both, 2), (mail, 3), (plain, 5), (hers, 7)):
        record(link, [Fact("2026-03-02T23:30Z", count=number), Fact(today.isoformat())])
    nothing = {"mail": (0, 0), "Spring": (0, 0), "unused": (0, 0)}
    for query, expected in (
        (MARCH, {"mail": (5, 2), "Spring": (2, 1)}),
        ({"startDate": "2026-03-03", "endDate": "2026-03-03"}, {}),
        (
            {"startDate": "2026-03-03", "endDate": "2026-03-03", "timezone": "Europe/Berlin"},
            {"mail": (5, 2), "Spring": (2, 1)},
        ),
        ({"period": "7d"}, {"mail": (2, 2), "Spring": (1, 1)}),
        ({"period": "all"}, {"mail": (7, 4), "Spring": (3, 2)}),
        ({"endDate": "2026-03-31"}, {"mail": (5, 2), "Spring": (2, 1)}),
        ({"endDate": "2026-05-31"}, {}),
    ):
        assert listed(api, **query) == nothing | expected, query
    assert listed(api, **MARCH, limit=1, page=2) == {"Spring": (2, 1)}
    assert listed(api, **MARCH, search="none") == {}
    [tag] = api.get("/api/tags", {**MARCH, "search": "spr", "clicks": "true"}).json()["data"]["tags"]
    assert tag == {
        "name": "Spring",
        "color": None,
        "linkCount": 1,
        "clickCount": 0,
        "clicks": 2,
        "uniqueClicks": 1,
    }
    assert listed(strange_api, **MARCH) == {"hers": (7, 1), "mail": (7, 1)}
    # The same figures as those of the workspace's report.
    groups = api.get("/api/analytics", {**MARCH, "groupBy": "tag"}).json()["data"]["groups"]
    assert [(group["value"], group["clicks"]) for group in groups] == [
        ("none", 5),
        ("mail", 5),
        ("spring", 2),
    ]


def test_tags_are_sorted_by_their_clicks_and_exported(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, number in (("a,b", 2), ("=c", 5), ("d", 2), ("e", 0)):
        link = make_link(tags=[name])
        if number:
            record(link["_id"], [Fact("2026-03-02T23:30Z", count=number)])
    query = {**MARCH, "sortBy": "clicks", "sortOrder": "desc"}
    assert list(listed(api, **query)) == ["=c", "a,b", "d", "e"]
    assert list(listed(api, **{**query, "sortOrder": "asc"})) == ["e", "a,b", "d", "=c"]
    assert list(listed(api, **query, limit=3, page=2)) == ["e"]
    # A walk there and back.
    names, address = [], "/api/tags"
    parameters: dict[str, Any] | None = {**query, "limit": 3}
    for relation in ("next", "prev"):
        response = api.get(address, parameters)
        names.append([tag["name"] for tag in response.json()["data"]["tags"]])
        address, parameters = re.search(rf'<([^>]*)>; rel="{relation}"', response["Link"])[1], None  # type: ignore[index]
    names.append([tag["name"] for tag in api.get(address).json()["data"]["tags"]])
    assert names == [["=c", "a,b", "d"], ["e"], ["=c", "a,b", "d"]]
    for order in (query, {**MARCH, "sortBy": "linkCount"}):
        file = api.get("/api/tags", {**order, "format": "csv"})
        assert file["Content-Type"] == "text/csv; charset=utf-8"
        head, *rows = file.content.decode().splitlines()
        assert head == "name,color,linkCount,clickCount,clicks,uniqueClicks"
        assert sorted(rows) == ['"a,b",,1,,2,1', "'=c,,1,,5,1", "d,,1,,2,1", "e,,1,,0,0"]
    [row] = api.get("/api/tags", {"format": "jsonl", "search": "d"}).content.decode().splitlines()
    assert json.loads(row)["name"] == "d"
    for refused, rule in (
        ({"sortBy": "clicks"}, ("sortBy", "conflict")),
        ({"format": "csv", "limit": 5}, ("limit", "conflict")),
        ({"format": "xml"}, ("format", "invalid_choice")),
        ({"country": "DE"}, ("country", "unknown_field")),
    ):
        assert broken_rules(api.get("/api/tags", refused)) == [rule]
    monkeypatch.setattr("analytics.tags.MAX_TAGS", 3)
    assert broken_rules(api.get("/api/tags", query)) == [("search", "too_many_tags")]


def test_the_queries_do_not_depend_on_the_tags(api: APIClient, make_link: MakeLink) -> None:
    numbers = []
    for tags in (["one"], ["two", "three", "four"]):
        record(make_link(tags=tags)["_id"], [Fact("2026-03-02T10:00Z")])
        with CaptureQueriesContext(connection) as queries:
            assert len(listed(api, **MARCH)) == (1 if tags == ["one"] else 4)
        numbers.append(len(queries))
    assert numbers[0] == numbers[1]


def test_bad_and_large_ranges_are_refused(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = make_link(tags=["spring"])["_id"]
    record(link, [Fact(f"2026-03-0{day}T10:00Z") for day in (1, 2, 3)])
    for query, rule in (
        ({"period": "week"}, ("period", "invalid_choice")),
        ({"period": "7d", "startDate": "2026-03-01"}, ("period", "conflict")),
        ({"startDate": "2026-03-02", "endDate": "2026-03-01"}, ("endDate", "range")),
        ({"period": "7d", "timezone": "Mars"}, ("timezone", "zone")),
        ({"period": "7d", "page": "100000000"}, ("page", "max_value")),
        ({"period": "7d", "page": "1000000", "limit": "100"}, ("page", "too_deep")),
    ):
        assert broken_rules(api.get("/api/tags", query)) == [rule]
    monkeypatch.setattr(figures, "MAX_LINK_DAYS", 2)
    refused = api.get("/api/tags", MARCH)
    assert broken_rules(refused) == [("startDate", "range_too_large")]
    assert refused.json()["data"]["reason"] == "link_days"
    assert listed(api, startDate="2026-03-02", endDate="2026-03-03") == {"spring": (2, 2)}


def test_a_period_needs_the_scope_of_reports(alice: NewAccount, make_link: MakeLink) -> None:
    make_link(tags=["spring"])
    for scopes, limits, status, code in (
        ((Scope.URLS_READ, Scope.ANALYTICS_READ), {}, 200, None),
        ((Scope.URLS_READ,), {}, 403, "scope_required"),
        ((Scope.ANALYTICS_READ,), {}, 403, "scope_required"),
        ((Scope.URLS_READ, Scope.ANALYTICS_READ), {"only_own": True}, 403, "key_limited"),
    ):
        key = scoped_key(alice.workspace, alice.user, *scopes, **limits)
        response = key_client_in(alice.workspace, key.text).get("/api/tags", MARCH)
        assert (response.status_code, response.json().get("code")) == (status, code)
