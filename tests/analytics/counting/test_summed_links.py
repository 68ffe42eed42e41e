"""The days of all links of large workspaces and domains are added up. Reports say the same as without that."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.counting import summed_links
from analytics.counting.audit import differences, repair
from analytics.counting.closed_days import close_days
from analytics.counting.imported_days import add_days
from analytics.counting.retention import delete_clicks_of_deleted_links, drop_before
from analytics.counting.summed_links import begin_rollups, fold_changes
from analytics.models import ClosedDay, DayTotal, LifeCount, Rollup, RollupChange, RollupLinks
from analytics.reports import raw, selected
from analytics.reports.queries import minute_of
from common.database import execute
from testing.accounts.workspaces import key_client_in, team
from testing.analytics.clicks import drain
from testing.analytics.facts import Fact, record
from testing.analytics.journaled import AMERICAN, BRITISH, MakeLink, journaled, pk
from testing.connections import is_a_connection_blocked
from testing.domains.domains import active_domain
from testing.polling import eventually
from testing.visitors.agents import FIREFOX
from tests.analytics.counting.open_batches import COUNTERS, batch_held_before

TODAY = datetime.now(UTC).date()
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1"
)
QUERIES: list[dict[str, str]] = [
    {},
    {"period": "7d"},
    {"period": "24h"},
    {"period": "today", "timezone": "Asia/Kolkata"},
    {"period": "30d", "timezone": "America/New_York", "compare": "previous"},
    {"period": "7d", "interval": "hour"},
    {"period": "all"},
    {"period": "all", "timezone": "Pacific/Auckland", "interval": "month"},
    {"period": "30d", "groupBy": "weekdayHour", "timezone": "Europe/Berlin"},
    {"period": "30d", "groupBy": "country"},
    {"period": "30d", "limit": "1"},
    {"period": "mtd"},
    {"period": "today", "referrer": "news.example"},
    {"period": "7d", "country": "GB", "device": "mobile", "timezone": "Asia/Kathmandu"},
    {"period": "30d", "referrer": "direct", "browser": "Firefox", "groupBy": "url"},
    {"period": "30d", "referrer": "-mail.example", "os": "-Windows,-unknown", "interval": "month"},
    {"period": "24h", "channel": "referral", "groupBy": "channel"},
    {"period": "30d", "kind": "crawler", "device": "desktop"},
    {"period": "7d", "timezone": "Asia/Kathmandu", "limit": "2"},
    {"period": "12mo", "timezone": "America/St_Johns"},
]


def read(api: APIClient, query: dict[str, str]) -> Any:
    response = api.get("/api/analytics", query)
    assert response.status_code == 200, response.json()
    return response.json()["data"]


@contextmanager
def without_rollups() -> Iterator[None]:
    complete = list(Rollup.objects.filter(is_complete=True).values_list("pk", flat=True))
    Rollup.objects.update(is_complete=False)
    yield
    Rollup.objects.filter(pk__in=complete).update(is_complete=True)


def assert_agree(*clients: APIClient, **selection: str) -> None:
    for client in clients:
        for query in [query | selection for query in QUERIES]:
            rolled = read(client, query)
            with without_rollups():
                assert rolled == read(client, query), query
    assert list(differences()) == []


def visit(link: int, chance: random.Random) -> None:
    age = chance.choice([0, 0, 0, 1, 2, 5, 12, 13])
    moment = datetime.now(UTC) - timedelta(days=age, minutes=chance.randrange(600))
    journaled(
        link,
        moment,
        count=chance.choice([1, 1, 1, 3]),
        kind=chance.choice([0, 0, 0, 3]),
        address=chance.choice([AMERICAN, BRITISH]),
        referrer=chance.choice(["", "https://news.example/x", "https://www.mail.example/"]),
        user_agent=chance.choice([FIREFOX, IPHONE]),
    )


def begin_next_bucket() -> None:
    """Let the next link be in another bucket of RollupLinks than all links before."""
    sequence = "pg_get_serial_sequence('links_link', 'id')"
    execute(f"SELECT setval({sequence}, nextval({sequence}) + {2**RollupLinks.LINK_BITS})")


class Changes:
    """Everything that changes which clicks the links of two workspaces and of a domain have, at random."""

    def __init__(self, alice: NewAccount, api: APIClient, make_link: MakeLink, chance: random.Random) -> None:
        self.chance, self.apis = chance, [api, key_client_in(team(alice, "Other"), alice.api_key)]
        self.workspaces = [
            alice.workspace,
            alice.user.memberships.exclude(workspace=alice.workspace).get().workspace,
        ]
        self.domain = active_domain(alice.workspace)
        self.of_domain = 0
        made = [make_link() for _ in range(4)]
        begin_next_bucket()
        made += [make_link(domainId=str(self.domain.public_id)) for _ in range(3)]
        self.numbers = {link["_id"]: pk(link) for link in made}
        # The workspace of each link; the links of the domain are where it is.
        self.owner = dict.fromkeys([link["_id"] for link in made[:4]], 0)
        self.on_domain = {link["_id"] for link in made[4:]}
        self.deleted: set[str] = set()

    def step(self) -> None:
        self.chance.choice([*[self.visits] * 3, self.move, self.move_domain, self.delete, self.undelete, self.erase,
                            self.import_clicks, self.fold])()  # fmt: skip

    def any_link(self) -> tuple[str, int]:
        owners = self.owner | dict.fromkeys(self.on_domain, self.of_domain)
        return self.chance.choice(sorted(owners.items()))

    def visits(self) -> None:
        for _ in range(10):
            visit(self.numbers[self.any_link()[0]], self.chance)
        drain()

    def move(self) -> None:
        link, owner = self.chance.choice(sorted(self.owner.items()))
        body = {"ids": [link], "workspaceId": str(self.workspaces[1 - owner].public_id)}
        assert self.apis[owner].post("/api/urls/move", body, format="json").status_code == 200
        self.owner[link] = 1 - owner

    def move_domain(self) -> None:
        body = {"workspaceId": str(self.workspaces[1 - self.of_domain].public_id)}
        path = f"/api/domains/{self.domain.public_id}/move"
        assert self.apis[self.of_domain].post(path, body, format="json").status_code == 200
        self.of_domain = 1 - self.of_domain

    def delete(self) -> None:
        link, owner = self.any_link()
        if len(self.owner) > 1 and len(self.on_domain) > 1 and not self.deleted:
            assert self.apis[owner].delete(f"/api/urls/{link}").status_code == 200
            self.owner.pop(link, None)
            self.was_on_domain = link in self.on_domain
            self.on_domain.discard(link)
            self.deleted = {link}
            self.deleted_by = owner

    def undelete(self) -> None:
        for link in self.deleted:
            # Visits that are counted while it is deleted come back with it.
            visit(self.numbers[link], self.chance)
            drain()
            restored = self.apis[self.deleted_by].post(f"/api/urls/{link}/undelete").json()["data"]["url"]
            if restored["domainId"] is None:
                self.owner[link] = self.deleted_by
            else:
                self.on_domain.add(link)
        self.deleted = set()

    def erase(self) -> None:
        link, owner = self.any_link()
        before = TODAY - timedelta(days=self.chance.choice([0, 3, 8]))
        assert self.apis[owner].delete(f"/api/analytics/{link}?before={before}").status_code == 200

    def import_clicks(self) -> None:
        day = TODAY - timedelta(days=self.chance.choice([1, 9]))
        add_days({(self.numbers[self.any_link()[0]], day): self.chance.randrange(1, 50)})

    def fold(self) -> None:
        fold_changes(self.chance.choice([1, 5]), 1_000)
        close_days(busy=4)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_changes_leave_no_difference(
    alice: NewAccount, api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(summed_links, "_CHUNK", 3)
    monkeypatch.setattr(summed_links, "_ROWS_OF_BUCKET", 2)
    changes = Changes(alice, api, make_link, random.Random(seed))
    for _ in range(8):
        changes.step()
    changes.visits()
    for _ in range(30):
        begin_rollups(clicks=0, links=1)
        changes.step()
    assert Rollup.objects.filter(is_complete=True, domain_id=changes.domain.pk).exists()
    for _ in range(2):
        assert_agree(*changes.apis)
        owner = changes.apis[changes.of_domain]
        assert_agree(owner, domainId=str(changes.domain.public_id))
        fold_changes(1)
        assert not RollupChange.objects.exists()
    close_days(busy=4)
    rolled = LifeCount.objects.filter(link_id__lt=0)
    assert rolled.exists()
    assert list(differences()) == []
    # The audit looks at their sums, too.
    rolled.filter(pk=rolled.order_by("clicks").last().pk).update(clicks=0)
    with transaction.atomic():
        assert len(list(differences())) == len(list(repair())) == 1
    assert list(differences()) == []


@pytest.mark.django_db(transaction=True)
def test_a_move_waits_for_the_batch_that_counts_the_link(
    alice: NewAccount, api: APIClient, make_link: MakeLink, clicks_dir: Path
) -> None:
    other = team(alice, "Other")
    link, stays = make_link(), make_link()
    for made in (link, stays):
        journaled(pk(made))
    drain()
    begin_rollups(clicks=0, links=1)
    # A request that is no click locks its link's counter only against deletion.
    journaled(pk(link), kind=3)
    journaled(pk(stays))
    moved: list[int] = []

    def move() -> None:
        body = {"ids": [link["_id"]], "workspaceId": str(other.public_id)}
        moved.append(api.post("/api/urls/move", body, format="json").status_code)
        connection.close()

    thread = threading.Thread(target=move)
    with batch_held_before(COUNTERS, clicks_dir, 2):
        thread.start()
        eventually(is_a_connection_blocked)
        assert moved == []
    thread.join()
    assert moved == [200]
    begin_rollups(clicks=0, links=1)
    assert_agree(api, key_client_in(other, alice.api_key))
    assert read(key_client_in(other, alice.api_key), {})["notCounted"]["crawler"] == 1


@pytest.mark.django_db(transaction=True)
def test_a_wrong_rollup_is_repaired_and_that_of_a_deleted_workspace_disappears(
    alice: NewAccount, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    for _ in range(3):
        journaled(pk(link))
    drain()
    call_command("housekeeping", once=True)
    assert not Rollup.objects.exists()
    begin_rollups(clicks=3, links=1)
    fold_changes(1)
    rollup = Rollup.objects.get()
    assert DayTotal.objects.get(link_id=-rollup.pk).clicks == 3
    assert list(differences()) == []
    DayTotal.objects.filter(link_id=-rollup.pk).update(clicks=4)
    *_, found = differences()
    assert found == f"roll-up {rollup.pk} {TODAY}: day of the roll-up 4, its links 3"
    assert read(api, {})["totalClicks"] == 4
    with transaction.atomic():
        assert [text.endswith(": clicks of the roll-up 4, now 3") for text in repair()] == [True]
    assert read(api, {})["totalClicks"] == 3
    begin_rollups(clicks=3, links=1)
    delete_clicks_of_deleted_links()
    [renewed] = Rollup.objects.all()
    assert renewed.is_complete
    assert renewed.pk != rollup.pk
    assert list(differences()) == []
    assert not DayTotal.objects.filter(link_id=-rollup.pk).exists()
    Rollup.objects.update(owner_id=0)
    begin_rollups(clicks=3, links=1)
    delete_clicks_of_deleted_links()
    assert [row.link_id for row in DayTotal.objects.all() if row.link_id < 0] == []


@pytest.mark.django_db(transaction=True)
@time_machine.travel("2026-04-20T12:00Z")
def test_days_of_clock_changes_are_those_of_a_plain_loop(api: APIClient, make_link: MakeLink) -> None:
    chance = random.Random(11)
    links = [make_link()["_id"] for _ in range(2)]
    begin_next_bucket()
    links.append(make_link()["_id"])
    visits: list[tuple[str, Fact]] = []

    def count_some(link: str) -> None:
        made = [
            Fact(
                f"{chance.choice(['2026-03-07', '2026-03-08', '2026-03-09', '2026-04-04', '2026-04-05'])}"
                f"T{chance.randrange(24):02}:{chance.randrange(60):02}Z",
                *chance.choice([("DE", "Berlin"), ("US", "unknown"), ("unknown", "unknown")]),
                device=chance.choice(["desktop", "mobile"]),
                referrer=chance.choice(["", "https://news.example/a"]),
                language=chance.choice(["de", "unknown"]),
                region=chance.choice(["Berlin", "unknown"]),
                scanned=chance.random() < 0.2,
            )
            for _ in range(80)
        ]
        record(link, made)
        visits.extend((link, fact) for fact in made)

    # A day of 23 hours, one that begins in the middle of an hour, one of 24 and a half hours, and all days.
    ranges = (
        ("America/New_York", "2026-03-08", "2026-03-08"),
        ("Asia/Kathmandu", "2026-03-08", "2026-03-08"),
        ("Australia/Lord_Howe", "2026-04-05", "2026-04-05"),
        ("Asia/Kathmandu", "2026-03-07", "2026-04-04"),
        ("UTC", "2026-03-08", "2026-04-05"),
    )
    for link in links:
        count_some(link)
    for state in ("without a roll-up", "all changes wait", "folded"):
        if state == "all changes wait":
            begin_rollups(clicks=0, links=1)
            assert Rollup.objects.get().is_complete
        elif state == "folded":
            fold_changes(1)
        assert RollupChange.objects.exists() == (state == "all changes wait")
        for zone, first, last in ranges:
            inside = [
                (link, fact)
                for link, fact in visits
                if first
                <= datetime.fromisoformat(fact.time).astimezone(ZoneInfo(zone)).date().isoformat()
                <= last
            ]
            for filters in ({}, {"device": "mobile"}, {"country": "DE", "referrer": "direct"}):
                query = {
                    "startDate": first,
                    "endDate": last,
                    "timezone": zone,
                    "interval": "hour",
                    "limit": "50",
                }
                report = read(api, query | filters)
                by_link = [
                    (link, fact)
                    for link, fact in inside
                    if filters.get("device", fact.device) == fact.device
                    and filters.get("country", fact.country) == fact.country
                    and ("referrer" not in filters or not fact.referrer)
                ]
                counted = [fact for _, fact in by_link]
                assert (
                    report["totalClicks"]
                    == sum(step["clicks"] for step in report["clicksByDate"])
                    == len(counted)
                )
                assert report["scans"] == sum(fact.scanned for fact in counted)
                best = {url["_id"]: url["clicks"] for url in report["topUrls"]}
                assert best == Counter(link for link, _ in by_link)
                for name, key, value in (
                    ("topCountries", "country", lambda fact: fact.country),
                    ("topDevices", "device", lambda fact: fact.device),
                    ("topLanguages", "language", lambda fact: fact.language),
                    ("topReferrers", "referrer", lambda fact: "news.example" if fact.referrer else "direct"),
                    ("topRegions", "region", lambda fact: fact.region),
                ):
                    listed: Counter[str] = Counter()
                    for row in report[name]:
                        listed[row[key]] += row["clicks"]
                    assert listed == Counter(map(value, counted)), (zone, filters, name, state)


@pytest.mark.django_db(transaction=True)
def test_links_that_tie_for_the_last_place_are_listed_the_same_way(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    for clicks in (2, 1, 3, 2, 1, 2, 1):
        journaled(pk(make_link()), count=clicks)
    drain()
    begin_rollups(clicks=0, links=1)
    for look in (1, 3, 1_000):
        monkeypatch.setattr(selected, "_FIRST_LOOK", look)
        for limit in ("1", "2", "3", "5", "6", "10"):
            rolled = read(api, {"limit": limit})
            with without_rollups():
                assert rolled == read(api, {"limit": limit}), (look, limit)
            assert [url["clicks"] for url in rolled["topUrls"]] == [3, 2, 2, 2, 1, 1, 1][: int(limit)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("now", "cuts"), [("03:30", 2), ("14:30", 1)])
def test_days_are_cut_unless_raw_clicks_are_missing(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch, now: str, cuts: int
) -> None:
    chance, links = random.Random(now), [make_link()["_id"] for _ in range(2)]
    read_parts = []
    from_rollups = selected.from_rollups
    monkeypatch.setattr(
        selected,
        "from_rollups",
        lambda *args, **kw: [read_parts.append(kw["parts"]), from_rollups(*args, **kw)][1],
    )

    def assert_agrees() -> list[int]:
        """The number of days that were cut in each statement of a report."""
        read_parts.clear()
        rolled = read(api, {"period": "24h"})
        tried = [len(parts.days) for parts in read_parts]
        with without_rollups():
            assert rolled == read(api, {"period": "24h"})
        return tried

    with time_machine.travel(f"2026-04-20T{now}Z"):
        for link in links:
            facts = [
                Fact(
                    f"2026-04-{day}T{hour:02}:10Z",
                    *chance.choice([("DE", "Berlin"), ("US", "unknown"), ("unknown", "unknown")]),
                    language=chance.choice(["de", "unknown"]),
                    referrer=chance.choice(["", "https://news.example/a"]),
                )
                for day in (18, 19, 20)
                for hour in range(24 if day < 20 else int(now[:2]) + 1)
            ]
            record(link, facts)
        begin_rollups(clicks=0, links=1)
        assert assert_agrees() == [cuts]
        execute(
            "DELETE FROM analytics_rawclick WHERE minute < %s", [minute_of(datetime(2026, 4, 20, tzinfo=UTC))]
        )
        assert assert_agrees() == [cuts, 0]


@pytest.mark.django_db(transaction=True)
def test_filters_of_a_rollup_notice_expired_clicks_and_too_many_requests(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = pk(make_link())
    yesterday = datetime.now(UTC) - timedelta(days=1)
    for moment in (yesterday, yesterday, datetime.now(UTC)):
        journaled(link, moment, user_agent=FIREFOX)
    drain()
    begin_rollups(clicks=0, links=1)
    week: dict[str, str] = {"period": "7d", "browser": "Firefox"}
    assert read(api, week)["totalClicks"] == 3
    with monkeypatch.context() as patch:
        patch.setattr("analytics.reports.raw.MAX_REQUESTS", 2)
        refused = api.get("/api/analytics", week)
        assert (refused.status_code, refused.json()["data"]) == (400, {"reason": "requests", "limit": 2})
        assert read(api, week | {"period": "today"})["totalClicks"] == 1
    # Some of the days have expired, but their clicks are there.
    ClosedDay.objects.update(raw_from=TODAY)
    assert read(api, week)["totalClicks"] == 3
    drop_before(TODAY)
    refused = api.get("/api/analytics", week)
    assert (refused.status_code, refused.json()["data"]["reason"]) == (400, "totals")
    assert read(api, week | {"period": "today"})["totalClicks"] == 1


@pytest.mark.django_db(transaction=True)
def test_filters_of_a_rollup_read_few_requests_of_other_workspaces(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    journaled(pk(make_link()), user_agent=FIREFOX)
    journaled(pk(strange), user_agent=FIREFOX, count=2)
    drain()
    begin_rollups(clicks=0, links=1)

    def ways(query: dict[str, str], clicks: int) -> list[bool]:
        """Whether each statement has filtered the requests of all workspaces."""
        with CaptureQueriesContext(connection) as queries:
            assert read(api, query)["totalClicks"] == clicks
        return ["asked AS" in query["sql"] for query in queries if "hit AS" in query["sql"]]

    firefox = {"period": "today", "browser": "Firefox"}
    assert ways(firefox, 1) == [True]
    monkeypatch.setattr("analytics.reports.raw.MAX_REQUESTS", 1)
    assert ways(firefox, 1) == [True, False]
    assert True not in ways({"period": "today", "kind": "crawler"}, 0)
    monkeypatch.setattr("analytics.reports.raw.MAX_REQUESTS", 9)
    slow = raw._FILTERED_READ.replace("AS requests,", "AS requests, pg_sleep(9),", 1)
    monkeypatch.setattr("analytics.reports.raw._FILTERED_READ", slow)
    monkeypatch.setattr(selected, "_LIMITS", "SET LOCAL statement_timeout = 500")
    assert ways(firefox, 1) == [True, False]


@pytest.fixture
def no_large_changes() -> Iterator[None]:
    """No change of a roll-up is small enough for a request."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_functiondef('analytics_change_rollups'::regproc)")
        [function] = cursor.fetchone()
        cursor.execute(function.replace("100000 <", "-1 <"))
        yield
        cursor.execute(function)


@pytest.mark.django_db(transaction=True)
def test_a_large_change_begins_the_rollup_again(
    api: APIClient, make_link: MakeLink, no_large_changes: None
) -> None:
    link, other = make_link(), make_link()
    for made in (link, other):
        journaled(pk(made), count=3)
    drain()
    begin_rollups(clicks=0, links=1)
    assert Rollup.objects.get().is_complete
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert not Rollup.objects.get().is_complete
    assert read(api, {})["totalClicks"] == 3
    begin_rollups(clicks=0, links=1)
    assert Rollup.objects.get().is_complete
    assert_agree(api)


@pytest.mark.django_db(transaction=True)
def test_top_links_are_left_out_of_reports_with_too_many_clicks(
    alice: NewAccount, api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = str(active_domain(alice.workspace).public_id)
    link = make_link(domainId=domain)
    journaled(pk(link), count=3)
    drain()
    begin_rollups(clicks=3, links=1)
    fold_changes(1)
    for query in ({}, {"domainId": domain}):
        with monkeypatch.context() as patch:
            [top] = read(api, query)["topUrls"]
            assert (top["_id"], top["clicks"], top["uniqueClicks"]) == (link["_id"], 3, 1)
            patch.setattr(selected, "MAX_RANKED", 0)
            report = read(api, query)
            assert report["topUrls"] == []
            assert report["otherUrls"] == {"clicks": 3, "uniqueClicks": 1}
