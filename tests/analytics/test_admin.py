"""The admin pages of clicks, segments and dead letters."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.models import Click, DeadLetter, Kind, Segment
from domains.models import Domain
from links.models import Link
from testing.accounts.admin import Operator
from testing.analytics.clicks import drain
from testing.analytics.facts import Fact, record

CLICKS = "analytics/click/"
SEGMENTS = "analytics/segment/"
LETTERS = "analytics/deadletter/"

DAY = "2026-03-01"


def times(operator: Operator, **query: str) -> list[str]:
    return [f"{click.time:%H:%M}" for click in operator.rows(CLICKS, **query)]


@pytest.mark.parametrize("clicks", [1, 3])
def test_query_count_of_the_click_list_is_constant(operator: Operator, link: str, clicks: int) -> None:
    recent = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    record(link, [Fact(f"{DAY}T10:00Z", count=clicks), Fact(recent, count=clicks)])
    # Session and operator; two shorter periods, the count, and the page with the links' addresses.
    assert len(operator.rows(CLICKS)) == clicks
    assert operator.queries(CLICKS) == 6
    assert len(operator.rows(CLICKS, q=link)) == 2 * clicks
    # Session and operator; the link, the oldest row shown, the count, and the page.
    assert operator.queries(CLICKS, q=link) == 6
    assert operator.queries(CLICKS, q=link, kind="0") == 6


def test_the_list_begins_with_the_requests_of_the_last_hour(
    operator: Operator, make_link: Callable[..., dict[str, Any]], link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    other = make_link(customCode="Summer")["_id"]

    def fact(minutes: int, kind: Kind = Kind.CLICK) -> Fact:
        return Fact(f"{now - timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}", kind=kind)

    record(link, [fact(90), fact(40), fact(5)])
    record(other, [fact(30, Kind.CRAWLER)])

    def ages(**query: str) -> list[int]:
        return [round((now - click.time).total_seconds() / 60) for click in operator.rows(CLICKS, **query)]

    assert ages() == [5, 30, 40]
    assert ages(o="0") == [40, 30, 5]
    assert ages(kind=str(Kind.CRAWLER.value)) == [30]
    assert ages(q=link) == [5, 40, 90]
    assert operator.see(CLICKS).context["cl"].model_admin.link(operator.rows(CLICKS)[1]) == (
        f'<a href="/admin/links/link/{Link.objects.get(public_id=other).pk}/change/">/Summer</a>'
    )
    Link.objects.filter(public_id=other).delete()
    assert "deleted link" in operator.see(CLICKS).content.decode()
    # The last ten minutes have enough rows for the list.
    monkeypatch.setattr("analytics.admin.COUNT_LIMIT", 1)
    assert ages() == [5]


def test_a_search_shows_the_requests_for_one_link(
    operator: Operator, alice: NewAccount, api: APIClient, make_link: Callable[..., dict[str, Any]], link: str
) -> None:
    other = make_link(customCode="Summer")["_id"]
    record(link, [Fact(f"{DAY}T10:00Z"), Fact(f"{DAY}T12:00Z"), Fact(f"{DAY}T11:00Z", kind=Kind.HEAD)])
    record(other, [Fact(f"{DAY}T13:00Z")])
    code = Link.objects.get(public_id=link).short_code
    assert times(operator) == times(operator, q="nothing") == []
    assert times(operator, q=link) == times(operator, q=f" {code} ") == ["12:00", "11:00", "10:00"]
    assert times(operator, q="Summer") == ["13:00"]
    assert times(operator, q=link, kind="1") == ["11:00"]
    assert times(operator, q=link, kind="nonsense") == ["12:00", "11:00", "10:00"]
    domain = Domain.objects.create(
        owner=alice.workspace, domain="b.example", host="b.example", status="active"
    )
    make_link(customCode="Summer", domainId=str(domain.public_id))
    page = operator.see(CLICKS, q="Summer")
    assert [str(message) for message in page.context["messages"]] == [
        "Several links have this code. Search by id instead."
    ]
    assert list(page.context["cl"].result_list) == []


def test_filters_read_at_most_the_counted_rows(
    operator: Operator, link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.admin.COUNT_LIMIT", 2)
    record(link, [Fact(f"{DAY}T{hour}:00Z", kind=Kind(hour % 2)) for hour in range(10, 15)])
    assert times(operator, q=link) == ["14:00", "13:00"]
    assert times(operator, q=link, kind="1") == ["13:00"]


@pytest.mark.django_db(transaction=True)
def test_segment_list_shows_uncounted_bytes(
    operator: Operator, make_link: Callable[..., dict[str, Any]], visitor: Client, clicks_dir: Path
) -> None:
    code = make_link()["shortCode"]
    visitor.get(f"/{code}")
    drain()
    segment = Segment.objects.get()
    size = (clicks_dir / f"{segment.pk}.segment").stat().st_size
    assert [waiting(operator)] == [[size - segment.offset]] == [[0]]
    visitor.get(f"/{code}")
    more = (clicks_dir / f"{segment.pk}.segment").stat().st_size - size
    assert more > 0
    assert waiting(operator) == [more]
    (clicks_dir / f"{segment.pk}.segment").unlink()
    assert waiting(operator) == [None]
    assert operator.rows(SEGMENTS, open="1") == [segment]
    Segment.objects.update(finished_at="2026-03-01T00:00Z")
    assert operator.rows(SEGMENTS, open="1") == []


def waiting(operator: Operator) -> list[int | None]:
    changelist = operator.see(SEGMENTS).context["cl"]
    return [changelist.model_admin.waiting(segment) for segment in changelist.result_list]


@pytest.mark.parametrize("rows", [1, 3])
def test_query_count_of_the_segment_list_is_constant(operator: Operator, rows: int) -> None:
    for number in range(rows):
        Segment.objects.create(id=f"01a1fa86-0000-7000-8000-{number:012}")
        DeadLetter.objects.create(record=b"sealed-bytes", reason="No such kind.")
    assert [operator.queries(page) for page in (SEGMENTS, LETTERS)] == [4, 4]
    assert "sealed-bytes" not in operator.see(LETTERS).content.decode()


def test_all_pages_are_read_only(operator: Operator, link: str) -> None:
    record(link, [Fact(f"{DAY}T10:00Z")])
    DeadLetter.objects.create(record=b"", reason="No such kind.")
    for page, row in ((CLICKS, Click.objects.get()), (LETTERS, DeadLetter.objects.get())):
        assert operator.get(f"/admin/{page}add/").status_code == 403
        assert operator.send(f"{page}{row.pk}/delete/", post="yes").status_code in (302, 403)
        operator.send(f"{page}{row.pk}/change/", reason="Nothing.")
        operator.act(page, "delete_selected", [row], post="yes")
        row.refresh_from_db()
        assert row.reason != "Nothing."
