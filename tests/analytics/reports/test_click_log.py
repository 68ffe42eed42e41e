from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from analytics.models import Kind
from analytics.reports import click_log
from analytics.reports.periods import RequestedRange
from analytics.reports.scope import of_link
from analytics.reports.selected import Clicks
from links.models import Link
from testing.analytics.facts import Fact, click, record
from testing.analytics.raw_clicks import store_clicks
from testing.refusals import broken_rules
from tests.analytics.reading import report


def log(api: APIClient, link: str, **query: object) -> dict[str, Any]:
    return report(api, link, "/clicks", **query)


def walk(api: APIClient, link: str, **query: object) -> list[list[str]]:
    """The countries of each page."""
    pages: list[list[str]] = []
    cursor: dict[str, str] = {}
    while True:
        data = log(api, link, **query, **cursor)
        pages.append([item["country"] for item in data["clicks"]])
        assert data["pagination"].keys() == {"limit", "nextCursor"}
        if data["pagination"]["nextCursor"] is None:
            return pages
        assert len(pages) < 100
        cursor = {"cursor": data["pagination"]["nextCursor"]}


def test_empty_log(api: APIClient, link: str) -> None:
    assert log(api, link) == {"clicks": [], "pagination": {"limit": 20, "nextCursor": None}}


def test_full_log_entries(api: APIClient, link: str) -> None:
    record(
        link,
        [
            Fact(
                "2026-03-01T10:00:00.5Z",
                "US",
                "New York",
                "mobile",
                "Safari",
                "iOS",
                "https://www.a.example/b",
                language="es",
                region="New York",
            ),
            Fact("2026-03-01T09:00Z", "unknown", "unknown", kind=Kind.REFUSED, reason="country"),
        ],
    )
    data = log(api, link)
    ids = [item.pop("_id") for item in data["clicks"]]
    assert data == {
        "clicks": [
            {
                "time": "2026-03-01T10:00:00.500000Z",
                "kind": "click",
                "reason": None,
                "country": "US",
                "region": "New York",
                "city": "New York",
                "device": "mobile",
                "browser": "Safari",
                "operatingSystem": "iOS",
                "language": "es",
                "referrer": "https://www.a.example/b",
                "scanned": False,
                "branch": None,
                "location": "https://example.com/page",
            },
            {
                "time": "2026-03-01T09:00:00Z",
                "kind": "refused",
                "reason": "country",
                "country": "unknown",
                "region": "unknown",
                "city": "unknown",
                "device": "desktop",
                "browser": "Firefox",
                "operatingSystem": "Linux",
                "language": "unknown",
                "referrer": "direct",
                "scanned": False,
                "branch": None,
                "location": None,
            },
        ],
        "pagination": {"limit": 20, "nextCursor": None},
    }
    assert [len(identifier) for identifier in ids] == [32, 32]
    assert [item["_id"] for item in log(api, link)["clicks"]] == ids
    assert len(set(ids)) == 2


LETTERS = [2 * letter for letter in "ABCDEFG"]


@pytest.mark.parametrize(
    ("limit", "pages"),
    [
        (1, [[letter] for letter in reversed(LETTERS)]),
        (3, [["GG", "FF", "EE"], ["DD", "CC", "BB"], ["AA"]]),
        (6, [["GG", "FF", "EE", "DD", "CC", "BB"], ["AA"]]),
        (7, [["GG", "FF", "EE", "DD", "CC", "BB", "AA"]]),
        (100, [["GG", "FF", "EE", "DD", "CC", "BB", "AA"]]),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_pages(api: APIClient, link: str, limit: int, pages: list[list[str]], at_once: bool) -> None:
    second = 0 if at_once else 1
    record(link, [Fact(f"2026-03-01T10:00:0{n * second}Z", letter) for n, letter in enumerate(LETTERS)])
    assert walk(api, link, limit=limit) == pages


def test_default_page_size_is_twenty(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T10:00Z", count=21)])
    assert [len(page) for page in walk(api, link)] == [20, 1]


def test_new_clicks_do_not_shift_later_pages(api: APIClient, link: str) -> None:
    record(link, [Fact("2026-03-01T10:00Z", letter) for letter in LETTERS])
    first = log(api, link, limit=3)
    number = Link.objects.get(public_id=link).pk
    for time in ("2026-03-01T10:00Z", "2026-03-01T11:00Z"):
        store_clicks([click(number, Fact(time, "ZZ"))])
    second = log(api, link, limit=3, cursor=first["pagination"]["nextCursor"])
    assert [item["country"] for item in second["clicks"]] == ["DD", "CC", "BB"]


def test_kinds(api: APIClient, link: str) -> None:
    kinds = ["click", "head", "prefetch", "crawler", "refused"]
    record(link, [Fact(f"2026-03-01T1{n}:00Z", kind=Kind[name.upper()]) for n, name in enumerate(kinds)])
    for kind, expected in [
        *((kind, [kind]) for kind in kinds),
        ("click,refused", ["refused", "click"]),
        ("refused,click,click", ["refused", "click"]),
        (",".join(kinds), kinds[::-1]),
    ]:
        assert [item["kind"] for item in log(api, link, kind=kind)["clicks"]] == expected
    assert [item["kind"] for item in log(api, link)["clicks"]] == kinds[::-1]


@pytest.mark.parametrize(
    "kind", ["", ",", "click,", "Click", "0", "click refused", "other", "click,other", "\x00"]
)
def test_unknown_kinds_are_refused(api: APIClient, link: str, kind: str) -> None:
    response = api.get(f"/api/analytics/{link}/clicks", {"kind": kind})
    assert [field for field, _ in broken_rules(response)] == ["kind"]


@pytest.mark.parametrize(
    ("limit", "code"), [("0", "min_value"), ("101", "max_value"), ("x", "invalid"), ("", "invalid")]
)
def test_limits(api: APIClient, link: str, limit: str, code: str) -> None:
    assert broken_rules(api.get(f"/api/analytics/{link}/clicks", {"limit": limit})) == [("limit", code)]


def test_invalid_cursors_are_refused(
    api: APIClient, make_link: Callable[..., dict[str, Any]], strange_api: APIClient
) -> None:
    link, other_link = make_link()["_id"], make_link()["_id"]
    record(link, [Fact("2026-03-01T10:00Z", count=3)])
    cursor = log(api, link, limit=1)["pagination"]["nextCursor"]
    sealed = bytearray(base64.urlsafe_b64decode(cursor + "="))
    sealed[20] ^= 1
    forged = base64.urlsafe_b64encode(sealed).decode().rstrip("=")
    wrong = ["", " ", "x", "0", cursor[:-1], cursor + "A", cursor + "=", f" {cursor}", cursor + "\n", forged]
    wrong += ["A" * 59, "A" * 60, "é" * 59, "+" * 59, "A" * 10_000, "\x00", "null"]
    for invalid in wrong:
        response = api.get(f"/api/analytics/{link}/clicks", {"cursor": invalid})
        assert [field for field, _ in broken_rules(response)] == ["cursor"], invalid
    # A cursor is valid only for the log of its link.
    assert broken_rules(api.get(f"/api/analytics/{other_link}/clicks", {"cursor": cursor})) == [
        ("cursor", "invalid")
    ]
    assert strange_api.get(f"/api/analytics/{link}/clicks", {"cursor": cursor}).status_code == 404
    assert len(log(api, link, cursor=cursor)["clicks"]) == 2


def test_cursor_survives_secret_key_rotation(
    api: APIClient, link: str, settings: Any, bearer: APIClient
) -> None:
    record(link, [Fact("2026-03-01T10:00Z", count=3)])
    cursor = log(api, link, limit=1)["pagination"]["nextCursor"]
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another" * 10
    assert len(log(api, link, cursor=cursor)["clicks"]) == 2


@pytest.mark.parametrize("reach", [1, 2, 3, 6, 7, 8])
def test_pages_of_a_rare_kind_may_be_short_but_are_complete(
    api: APIClient, link: str, reach: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(click_log, "REACH", reach)
    rare = {"BB", "FF"}
    record(
        link,
        [
            Fact(f"2026-03-01T10:00:0{n}Z", letter, kind=Kind.REFUSED if letter in rare else Kind.CLICK)
            for n, letter in enumerate(LETTERS)
        ],
    )
    for limit in (1, 2, 20):
        for kind, expected in (
            ("refused", "FB"),
            ("click", "GEDCA"),
            ("click,refused", "GFEDCBA"),
            ("head", ""),
        ):
            pages = walk(api, link, limit=limit, kind=kind)
            assert "".join(country[0] for page in pages for country in page) == expected
            assert all(len(page) <= limit for page in pages)


@pytest.mark.parametrize("items", [1, 3])
def test_query_count_is_constant(
    api: APIClient, link: str, django_assert_num_queries: Any, items: int
) -> None:
    record(link, [Fact("2026-03-01T12:00Z", count=items)])
    with django_assert_num_queries(3):  # the credential, the link, the page
        assert len(log(api, link)["clicks"]) == items


def test_page_is_read_in_index_order_without_sorting(api: APIClient, link: str) -> None:
    """With sorting off, the planner sorts only where no index has the order."""
    found = Link.objects.get(public_id=link)
    store_clicks(click(found.pk + n % 3, Fact(f"2026-03-01T10:{n % 60:02}:00Z")) for n in range(600))
    log = click_log.ClickLog(of_link(found), RequestedRange(None, None, UTC), Clicks(), name="x")
    with connection.cursor() as cursor:
        cursor.execute(
            "ANALYZE analytics_rawclick; SET LOCAL enable_sort = off; SET LOCAL enable_seqscan = off"
        )
        with CaptureQueriesContext(connection) as captured:
            log.read(20)
        cursor.execute(f"EXPLAIN {captured[0]['sql']}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    lines = [line.strip(" ->") for line in plan.splitlines()]
    [scan] = [
        place
        for place, line in enumerate(lines)
        if line.startswith("Index Scan Backward using analytics_raw")
    ]
    # Only the clicks of one minute are sorted.
    assert lines[scan - 3].startswith("Incremental Sort")
    assert lines[scan - 1] == "Presorted Key: t.minute"
    conditions = {line.partition("Index Cond:")[2] for line in plan.splitlines() if "Index Cond:" in line}
    [condition] = [condition for condition in conditions if "(minute >= " in condition]
    assert "(link_id = " in condition
    assert "(minute <= " in condition
