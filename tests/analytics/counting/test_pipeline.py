from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.counting.pipeline import Drainer
from analytics.counting.tables.lifetime_counts import close_days
from analytics.counting.tables.salts import delete_old_visitors
from analytics.journal.pending import open_record
from analytics.journal.records import UNKNOWN_CODE, decode
from analytics.models import (
    Click,
    ClosedDay,
    DayCount,
    DaySalt,
    DayTotal,
    DayVisitor,
    DeadLetter,
    Dimension,
    Kind,
    LifeCount,
    PendingRecord,
    QuarterTotal,
    Segment,
    UnknownCode,
)  # fmt: skip
from domains.models import Domain, DomainStatus
from links.models import OwnerTotals
from testing.analytics.clicks import close_journal, drain
from testing.links.deletion import delete_finally
from tests.analytics.counting.journaled import AMERICAN, BRITISH, MakeLink, journaled, pk

IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


def totals() -> list[tuple[int, int]]:
    return list(DayTotal.objects.order_by("link_id", "day").values_list("clicks", "unique_clicks"))


def counts(dimension: Dimension) -> dict[str, int]:
    return dict(DayCount.objects.filter(dimension=dimension).values_list("value", "clicks"))


def click_count(api: APIClient, link: dict[str, Any]) -> int:
    return api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"]


def test_a_click_reaches_every_table(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    # All clicks in one quarter of an hour.
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
    with time_machine.travel(noon):
        before = datetime.now(UTC)
        headers = {"referer": "https://www.example.net/a?token=secret#here"}
        assert visitor.get(f"/{link['shortCode']}", REMOTE_ADDR=AMERICAN, headers=headers).status_code == 302
        assert visitor.get(f"/{link['shortCode']}", REMOTE_ADDR=AMERICAN).status_code == 302
        iphone = Client(headers={"host": "sho.rt", "user-agent": IPHONE})
        assert iphone.get(f"/{link['shortCode']}", REMOTE_ADDR=BRITISH).status_code == 302
        after = datetime.now(UTC)

    assert drain() == 3

    assert click_count(api, link) == 3
    assert totals() == [(3, 2)]
    [quarter] = QuarterTotal.objects.all()
    assert (quarter.clicks, quarter.unique_clicks) == (3, 2)
    assert quarter.start == noon
    assert counts(Dimension.COUNTRY) == {"US": 2, "GB": 1}
    assert counts(Dimension.CITY) == {}
    assert counts(Dimension.DEVICE) == {"desktop": 2, "mobile": 1}
    assert counts(Dimension.BROWSER) == {"Firefox": 2, "Safari": 1}
    assert counts(Dimension.OPERATING_SYSTEM) == {"Linux": 2, "iOS": 1}
    assert counts(Dimension.REFERRER) == {"direct": 2, "example.net": 1}
    assert counts(Dimension.OUTCOME) == {}
    rows = list(Click.objects.order_by("id"))
    assert all(before <= row.time <= after for row in rows)
    assert [
        (
            row.kind,
            row.reason,
            row.country,
            row.city,
            row.device,
            row.browser,
            row.operating_system,
            row.referrer,
        )
        for row in rows
    ] == [
        (0, "", "US", "unknown", "desktop", "Firefox", "Linux", "https://www.example.net/a"),
        (0, "", "US", "unknown", "desktop", "Firefox", "Linux", ""),
        (0, "", "GB", "unknown", "mobile", "Safari", "iOS", ""),
    ]


def test_a_visitor_is_unique_once_a_day_and_link(make_link: MakeLink) -> None:
    first, second = pk(make_link()), pk(make_link())
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=3)
    journaled(first, noon, count=2)
    drain()
    journaled(first, noon + timedelta(hours=1))
    journaled(first, noon, address=BRITISH)
    journaled(first, noon, user_agent=IPHONE)
    journaled(second, noon)
    journaled(first, noon + timedelta(days=1))
    drain()

    assert totals() == [(5, 3), (1, 1), (1, 1)]
    assert list(QuarterTotal.objects.order_by("link_id", "start").values_list("clicks", "unique_clicks")) == [
        (4, 3), (1, 0), (1, 1), (1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("header", ["sec-gpc", "dnt"])
def test_opted_out_visitor_is_counted_without_identification(
    visitor: Client, make_link: MakeLink, header: str
) -> None:
    link = make_link()
    visitor.get(f"/{link['shortCode']}", headers={header: "1"}, REMOTE_ADDR=AMERICAN)
    drain()

    assert totals() == [(1, 0)]
    assert DayVisitor.objects.count() == 0
    assert counts(Dimension.COUNTRY) == {"US": 1}


def test_requests_that_are_not_clicks_are_recorded_separately(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    path = f"/{link['shortCode']}"
    visitor.head(path)
    visitor.get(path, headers={"sec-purpose": "prefetch"})
    visitor.get(path, headers={"user-agent": GOOGLEBOT})
    api.put(f"/api/urls/{link['_id']}", {"expiresAt": "2020-01-01"})
    assert visitor.get(path).status_code == 410
    assert visitor.get(path, headers={"user-agent": GOOGLEBOT}).status_code == 410
    api.put(f"/api/urls/{link['_id']}", {"expiresAt": None, "password": "secret"})
    assert visitor.get(path).status_code == 401

    assert drain() == 6

    assert click_count(api, link) == 0
    assert totals() == []
    assert counts(Dimension.OUTCOME) == {
        "head": 1, "prefetch": 1, "crawler": 2, "refused:expired": 1, "refused:password": 1,
    }  # fmt: skip
    assert list(Click.objects.order_by("id").values_list("kind", "reason")) == [
        (Kind.HEAD, ""), (Kind.PREFETCH, ""), (Kind.CRAWLER, ""),
        (Kind.REFUSED, "expired"), (Kind.CRAWLER, "expired"), (Kind.REFUSED, "password"),
    ]  # fmt: skip


def test_unknown_codes_are_counted_by_domain(visitor: Client, alice: NewAccount) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace,
        domain="example.net",
        subdomain="go",
        host="go.example.net",
        status=DomainStatus.ACTIVE,
    )
    for host in ("sho.rt", "sho.rt", "go.example.net", "evil.example"):
        assert visitor.get("/nothing", headers={"host": host}).status_code == 404
    assert drain() == 3

    today = datetime.now(UTC).date()
    assert list(UnknownCode.objects.order_by("domain_id").values_list("domain_id", "day", "hits")) == [
        (0, today, 2), (domain.pk, today, 1),
    ]  # fmt: skip


def test_unknown_codes_of_a_domain_are_no_clicks_of_the_link_with_its_key(make_link: MakeLink) -> None:
    link = pk(make_link())
    journaled(link)
    journaled(link, kind=UNKNOWN_CODE)
    assert drain() == 2

    assert (Click.objects.count(), totals()) == (1, [(1, 1)])
    assert list(UnknownCode.objects.values_list("domain_id", "hits")) == [(link, 1)]


def test_claimed_click_is_counted_exactly_once(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(restrictions={"maxClicks": 2})
    assert [visitor.get(f"/{link['shortCode']}").status_code for _ in range(3)] == [302, 302, 410]
    assert (click_count(api, link), totals(), PendingRecord.objects.count()) == (2, [], 2)
    drain()

    assert (click_count(api, link), totals(), PendingRecord.objects.count()) == (2, [(2, 1)], 0)
    assert counts(Dimension.OUTCOME) == {"refused:limit_reached": 1}


def test_clicks_of_a_deleted_link_are_left_out(
    visitor: Client, alice: NewAccount, make_link: MakeLink
) -> None:
    link, other = make_link(), make_link()
    for visited in (link, other):
        visitor.get(f"/{visited['shortCode']}")
    delete_finally(alice.workspace, link["_id"])

    assert drain() == 2
    assert list(Click.objects.values_list("link_id", flat=True)) == [pk(other)]
    assert totals() == [(1, 1)]


def test_several_drainers_count_each_click_once(make_link: MakeLink, clicks_dir: Path) -> None:
    link = pk(make_link())
    drainers = [Drainer(clicks_dir) for _ in range(3)]
    taken = []
    for count in (5, 7, 0, 1):
        journaled(link, count=count)
        taken.append([drainer.drain_batch() for drainer in drainers])

    assert taken == [[5, 0, 0], [7, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert totals() == [(13, 1)]


def test_counted_segment_is_wiped_and_deleted_after_its_writer_exits(
    make_link: MakeLink, clicks_dir: Path
) -> None:
    journaled(pk(make_link()), count=3)
    [segment] = clicks_dir.iterdir()
    assert (segment.stat().st_mode & 0o777, clicks_dir.stat().st_mode & 0o777) == (0o600, 0o700)
    assert AMERICAN.encode() in segment.read_bytes()
    drain()
    assert set(segment.read_bytes()) == {0}

    close_journal()
    drain()
    assert list(clicks_dir.glob("*.segment")) == []
    assert [segment.finished_at is not None for segment in Segment.objects.all()] == [True]


def test_no_table_contains_an_address(visitor: Client, make_link: MakeLink) -> None:
    plain, capped = make_link(), make_link(restrictions={"maxClicks": 5})
    for link in (plain, capped):
        visitor.get(f"/{link['shortCode']}", REMOTE_ADDR=AMERICAN)
    stored = [dump()]
    drain()
    stored.append(dump())

    assert ["Firefox" in text for text in stored] == [False, True]
    assert [AMERICAN in text for text in stored] == [False, False]


def dump() -> str:
    """Every row of every table, with bytes decoded as text."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
        rows = []
        for (name,) in cursor.fetchall():
            cursor.execute(f'SELECT * FROM "{name}"')
            rows += [
                str(bytes(value) if isinstance(value, memoryview) else value)
                for row in cursor
                for value in row
            ]
    return "\n".join(rows)


def test_uncountable_records_become_dead_letters(make_link: MakeLink) -> None:
    link = pk(make_link())
    for _ in range(3):
        journaled(link, count=400)
        journaled(link, reason="\0")
    assert drain() == 1203

    assert totals() == [(1200, 1)]
    letters = DeadLetter.objects.order_by("id")
    assert [decode(open_record(letter.record)).reason for letter in letters] == ["\0"] * 3
    assert not any(AMERICAN.encode() in bytes(letter.record) for letter in letters)


@pytest.mark.parametrize("time", [-(2**62), 0, 2**62])
def test_impossible_time_counts_today(make_link: MakeLink, time: int) -> None:
    journaled(pk(make_link()), moment=None, time=time)
    assert drain() == 1

    assert totals() == [(1, 1)]
    assert list(DayTotal.objects.values_list("day", flat=True)) == [datetime.now(UTC).date()]
    assert DeadLetter.objects.count() == 0


def test_undecryptable_pending_record_becomes_a_dead_letter(make_link: MakeLink) -> None:
    PendingRecord.objects.create(record=b"x" * 60)
    journaled(pk(make_link()))
    assert drain() == 2
    assert totals() == [(1, 1)]
    assert [bytes(letter.record) for letter in DeadLetter.objects.all()] == [b"x" * 60]


def life() -> dict[str, int]:
    return dict(LifeCount.objects.filter(dimension=Dimension.COUNTRY).values_list("value", "clicks"))


def test_days_are_closed_once_and_late_clicks_reach_the_lifetime_counts(make_link: MakeLink) -> None:
    link = pk(make_link())
    now = datetime.now(UTC)
    for age in (0, 2, 3, 10):
        journaled(link, now - timedelta(days=age))
    drain()
    assert life() == {}

    for _ in range(2):
        close_days()
        assert life() == {"US": 2}
        assert ClosedDay.objects.get().day == (now - timedelta(days=3)).date()

    journaled(link, now - timedelta(days=3), address=BRITISH)
    journaled(link, now - timedelta(days=2), address=BRITISH)
    drain()
    close_days()
    assert life() == {"US": 2, "GB": 1}
    assert sum(clicks for clicks, _ in totals()) == 6


def test_salts_and_visitors_are_destroyed_after_two_days(make_link: MakeLink) -> None:
    link = pk(make_link())
    now = datetime.now(UTC)
    for age in (0, 1, 2, 3):
        journaled(link, now - timedelta(days=age))
    drain()
    delete_old_visitors()

    kept = [now.date() - timedelta(days=1), now.date()]
    assert list(DaySalt.objects.order_by("day").values_list("day", flat=True)) == kept
    assert list(DayVisitor.objects.order_by("day").values_list("day", flat=True)) == kept
    assert totals() == [(1, 1)] * 4


def test_visitor_hash_differs_by_day_and_link(make_link: MakeLink) -> None:
    first, second = pk(make_link()), pk(make_link())
    earlier, later = (datetime.now(UTC) - timedelta(days=age) for age in (5, 4))
    journaled(first, earlier)
    journaled(second, earlier)
    journaled(first, later)
    drain()
    assert len(set(DayVisitor.objects.values_list("visitor", flat=True))) == 3
    assert set(DaySalt.objects.values_list("day", flat=True)) == {earlier.date(), later.date()}


def slots(link_id: int) -> dict[bool, int]:
    """An owner's click totals: those that requests write (False) and those that drainers write (True)."""
    totals = {False: 0, True: 0}
    for slot, clicks in OwnerTotals.objects.filter(owner__links=link_id).values_list("slot", "clicks"):
        totals[slot >= 8] += clicks
    return totals


def test_drainer_and_requests_write_separate_owner_totals(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link, capped = make_link(), make_link(restrictions={"maxClicks": 9})
    for visited in (link, link, link, capped):
        visitor.get(f"/{visited['shortCode']}")
    drain()
    assert slots(pk(link)) == {False: 1, True: 3}
    assert api.get("/api/urls/stats").json()["totalClicks"] == 4

    # Deleting subtracts from the requests' slots, whatever their values: only the sum matters.
    api.delete(f"/api/urls/{link['_id']}")
    assert slots(pk(capped)) == {False: -2, True: 3}
    assert api.get("/api/urls/stats").json()["totalClicks"] == 1


def test_rows_of_a_concurrently_deleted_link_are_deleted(alice: NewAccount, make_link: MakeLink) -> None:
    link, other = make_link(), make_link()
    for visited in (link, other):
        journaled(pk(visited), count=3)
    journaled(pk(link), kind=Kind.HEAD)

    def delete_behind_the_counts(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if sql.lstrip().startswith("WITH first"):
            delete_finally(alice.workspace, link["_id"])
        return result

    with connection.execute_wrapper(delete_behind_the_counts):
        drain()
    for table in (Click, DayTotal, QuarterTotal, DayCount, DayVisitor):
        assert set(table.objects.values_list("link_id", flat=True)) == {pk(other)}


def test_drainer_locks_only_the_segments_of_its_batch(make_link: MakeLink, clicks_dir: Path) -> None:
    link = pk(make_link())
    for count in (5, 7):
        journaled(link, count=count)
        close_journal()
    locked: list[int] = []

    def look(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if "FROM analytics_segment" in sql and "SKIP LOCKED" in sql:
            locked.append(len(rest[0][0]))
        return result

    drainer = Drainer(clicks_dir)
    drainer._limit = 5
    with connection.execute_wrapper(look):
        assert drainer.drain_batch() == 5
    assert locked == [1]
