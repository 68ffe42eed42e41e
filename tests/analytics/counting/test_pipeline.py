from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db.models import Sum
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.journal.records import UNKNOWN_CODE
from analytics.models import (
    Click,
    DayCount,
    Dimension,
    Kind,
    PendingRecord,
    QuarterTotal,
    Segment,
    UnknownCode,
    VisitorBlock,
)  # fmt: skip
from domains.models import Domain, DomainStatus
from testing.analytics.clicks import close_journal, drain
from testing.analytics.journaled import AMERICAN, BRITISH, MakeLink, journaled, pk
from testing.links.deletion import delete_finally
from tests.analytics.counting.counted import totals

IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


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
    assert counts(Dimension.CLIENT) == {"desktop\tLinux\tFirefox": 2, "mobile\tiOS\tSafari": 1}
    assert counts(Dimension.REFERRER) == {"example.net": 1}
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
    quarters = QuarterTotal.objects.values("link_id", "start").order_by("link_id", "start")
    sums = quarters.annotate(total=Sum("clicks"), unique=Sum("unique_clicks"))
    assert list(sums.values_list("total", "unique")) == [(4, 3), (1, 0), (1, 1), (1, 1)]


@pytest.mark.parametrize("header", ["sec-gpc", "dnt"])
def test_opted_out_visitor_is_counted_without_identification(
    visitor: Client, make_link: MakeLink, header: str
) -> None:
    link = make_link()
    visitor.get(f"/{link['shortCode']}", headers={header: "1"}, REMOTE_ADDR=AMERICAN)
    drain()

    assert totals() == [(1, 0)]
    assert VisitorBlock.objects.count() == 0
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
