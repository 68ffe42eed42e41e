"""Visits are erased before a day: reports, log, sums and counters agree afterwards, whatever is counted meanwhile."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.history import list_changes
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from analytics.counting import erasure
from analytics.counting.audit import differences
from analytics.counting.closed_days import close_days
from analytics.counting.imported_days import add_days
from analytics.counting.pipeline import Drainer
from analytics.models import (
    BusyDayCount,
    BusyMonth,
    ClosedDay,
    DayCount,
    DayTotal,
    LifeCount,
    MonthCount,
    RawClick,
    UnreportedClicks,
    VisitorBlock,
)
from links.models import ClickCounter, Link
from testing.accounts.accounts import account
from testing.accounts.keys import scoped_client
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.analytics.busy_days import unpack_days
from testing.analytics.clicks import close_journal, drain
from testing.analytics.journaled import BRITISH, MakeLink, journaled, pk
from tests.analytics.counting.open_batches import COUNTERS, batch_held_before

TODAY = datetime.now(UTC).date()
# Recent enough that the pipeline does not take their times for errors.
DAYS = [TODAY - timedelta(days=age) for age in (12, 11, 10, 5, 1, 0)]
BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


def noon(day: date) -> datetime:
    moment = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return min(moment, datetime.now(UTC))


def erase(client: APIClient, link: str, before: object, **query: Any) -> Any:
    parameters = "&".join(f"{name}={value}" for name, value in {"before": before, **query}.items())
    return client.delete(f"/api/analytics/{link}?{parameters}")


def erased(client: APIClient, link: str, before: object, **query: Any) -> Any:
    response = erase(client, link, before, **query)
    assert response.status_code == 200, response.content
    return response.json()["data"]


def visits(link: int, days: list[date] = DAYS) -> None:
    """Three clicks of two visitors, and two other requests, on each of the days."""
    for day in days:
        journaled(link, noon(day), count=2)
        journaled(link, noon(day), address=BRITISH, referrer="https://news.example/")
        journaled(link, noon(day), kind=4, reason="country")
        journaled(link, noon(day), kind=3, user_agent=BOT)


def clicks_of(api: APIClient, link: str) -> tuple[int, int]:
    """The clicks of the report, and those of the counter."""
    report = api.get(f"/api/analytics/{link}").json()["data"]["totalClicks"]
    return report, api.get(f"/api/urls/{link}").json()["data"]["url"]["clickCount"]


def test_visits_before_a_day_are_erased_everywhere(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    made, other = make_link(), make_link()
    link, number = made["_id"], pk(made)
    visits(number)
    visits(pk(other))
    assert drain() == 60
    close_days(busy=1)
    assert {month.link_id for month in BusyMonth.objects.all()} == {number, pk(other)}

    assert erased(api, link, DAYS[3]) == {
        "before": str(DAYS[3]),
        "erased": {"days": 3, "clicks": 9, "uniqueClicks": 6, "otherRequests": 6, "logEntries": 15},
        "clickCount": 18,
    }
    assert list(differences()) == []
    assert clicks_of(api, link) == (9, 18)
    assert clicks_of(api, other["_id"]) == (18, 18)
    assert {day for (day,) in DayTotal.objects.filter(link_id=number).values_list("day")} == set(DAYS[3:])
    log = api.get(f"/api/analytics/{link}/clicks?limit=100").json()["data"]["clicks"]
    assert len(log) == 15
    # Again: nothing is left.
    nothing = {"days": 0, "clicks": 0, "uniqueClicks": 0, "otherRequests": 0, "logEntries": 0}
    assert erased(api, link, DAYS[3])["erased"] == nothing

    # The counter loses all that was erased, earlier or now, once that is asked for.
    assert erased(api, link, DAYS[5], fromClickCount="true")["clickCount"] == 3
    assert list(differences()) == []
    assert clicks_of(api, link) == (3, 3)
    assert erased(api, link, TODAY + timedelta(days=1), fromClickCount="true")["clickCount"] == 0
    assert clicks_of(api, link) == (0, 0)
    for model in (RawClick, DayTotal, DayCount, LifeCount, MonthCount, VisitorBlock, UnreportedClicks):
        assert not model.objects.filter(link_id=number).exists()
    assert list(differences()) == []
    # The history says who did what.
    newest = list_changes(alice.workspace, limit=1).changes[0]
    assert (newest.action, newest.actor, newest.object_id) == (
        "link.visits_erased",
        alice.user,
        Link.objects.get(pk=number).public_id,
    )
    assert newest.after == {"before": str(TODAY + timedelta(days=1)), "clicks": 3, "clickCount": 0}
    assert ClickCounter.objects.get(link_id=pk(other)).clicks == 18


@pytest.mark.slow
def test_visits_of_random_days_slots_and_imports_leave_no_difference(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "CHUNK", 7)
    chance = random.Random(7)
    made = make_link()
    link, number = made["_id"], pk(made)
    for step in range(8):
        visits(number, chance.sample(DAYS, 3))
        drain()
        if step == 1:
            close_days(busy=1)
        if step > 2:
            add_days({(number, chance.choice(DAYS)): chance.randrange(1, 9)})
        if step == 2:
            unpack_days()
            for table in ("analytics_lifecount", "analytics_busydaycount", "analytics_daytotal"):
                # As if a second drainer had counted.
                with connection.cursor() as cursor:
                    cursor.execute(f"UPDATE {table} SET slot = 3 WHERE slot = 0 AND link_id = %s", [number])
        before = chance.choice(DAYS)
        data = erased(api, link, before, fromClickCount=chance.choice(["true", "false"]))
        assert list(differences()) == []
        assert not DayTotal.objects.filter(link_id=number, day__lt=before).exists()
        assert data["clickCount"] == ClickCounter.objects.get(link_id=number).clicks
    assert min(BusyDayCount.objects.values_list("clicks", flat=True), default=1) > 0


def test_a_used_up_link_has_clicks_left_once_its_count_is_erased(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(restrictions={"maxClicks": 1})

    def status() -> int:
        return visitor.get(f"/{link['shortCode']}").status_code

    assert [status(), status()] == [302, 410]
    drain()
    tomorrow = TODAY + timedelta(days=1)
    assert erased(api, link["_id"], tomorrow)["clickCount"] == 1
    assert status() == 410
    assert erased(api, link["_id"], tomorrow, fromClickCount="true")["clickCount"] == 0
    assert [status(), status()] == [302, 410]
    drain()
    assert list(differences()) == []


def test_too_many_visits_for_one_call_are_erased_by_repeating_it(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_link()
    visits(pk(made))
    drain()
    monkeypatch.setattr(erasure, "CHUNK", 1)
    monkeypatch.setattr(erasure, "SECONDS", 0)
    response = erase(api, made["_id"], DAYS[3])
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert int(response["Retry-After"]) > 0
    monkeypatch.setattr(erasure, "SECONDS", 20)
    assert erased(api, made["_id"], DAYS[3])["erased"]["clicks"] == 9
    assert list(differences()) == []


@pytest.mark.django_db(transaction=True)
def test_erasing_in_the_middle_of_counting_leaves_no_difference(
    api: APIClient, make_link: MakeLink, clicks_dir: Path
) -> None:
    made = make_link()
    link, number = made["_id"], pk(made)
    visits(number)
    close_journal()
    assert drain() == 30
    close_days(busy=1)
    # A batch that is open when the erasure begins, with late clicks of erased days, and one that begins afterwards.
    visits(number, DAYS[:4])
    close_journal()
    answers: list[Any] = []
    waits = threading.Event()

    def call() -> None:
        def noticed(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
            if "pg_advisory_xact_lock(5823143" in sql:
                waits.set()
            return execute(sql, *rest)

        try:
            with connection.execute_wrapper(noticed):
                answers.append(erased(api, link, DAYS[4]))
        finally:
            waits.set()
            connection.close()

    thread = threading.Thread(target=call)
    with batch_held_before(COUNTERS, clicks_dir, 20):
        thread.start()
        assert waits.wait(60)
        # The erasure waits for the batch, whose clicks it could not see.
        assert answers == []
        visits(number, DAYS[:1])
        close_journal()
    thread.join()
    assert answers[0]["erased"]["clicks"] == 24
    while Drainer(clicks_dir).drain_batch():
        pass
    assert list(differences()) == []
    # Three clicks that arrived later, those of the last two days, and all of them in the counter.
    assert clicks_of(api, link) == (9, 33)
    assert ClosedDay.objects.get().day > DAYS[3] - timedelta(days=5)
    assert LifeCount.objects.filter(link_id=number).exists()


def test_erasing_requires_what_a_deletion_of_the_link_requires(
    alice: NewAccount, strange_api: APIClient, anonymous: APIClient
) -> None:
    workspace = team(alice)
    owner = key_client_in(workspace, alice.api_key)
    link = owner.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]["_id"]
    statuses = []
    for role in (Role.VIEWER, Role.EDITOR):
        member = account(f"{role}@example.com")
        add_member(workspace, member, role)
        statuses.append(erase(key_client_in(workspace, member.api_key), link, TODAY).status_code)
    assert statuses == [403, 200]
    assert erase(strange_api, link, TODAY).status_code == 404
    assert erase(anonymous, link, TODAY).status_code == 401
    reader = scoped_client(workspace, alice.user, Scope.ANALYTICS_READ)
    assert erase(reader, link, TODAY).json()["code"] == "scope_required"
    stranger_to_it = scoped_client(workspace, alice.user, Scope.URLS_WRITE, only_own=True)
    assert erase(stranger_to_it, link, TODAY).status_code == 404

    def fault(before: object, **query: Any) -> Any:
        response = erase(owner, link, before, **query)
        assert response.status_code == 400
        return response.json()["errors"][0]

    assert fault("")["field"] == "before"
    assert fault("yesterday")["code"] == "invalid"
    assert fault(f"{TODAY}T12:00:00Z")["code"] == "no_date"
    assert fault(TODAY + timedelta(days=2))["code"] == "future"
    assert fault("1900-01-01")["code"] == "out_of_range"
    assert fault(TODAY, fromClickCount="perhaps")["field"] == "fromClickCount"
    assert owner.delete(f"/api/analytics/{link}").json()["errors"][0]["code"] == "required"


def test_erasing_takes_as_many_queries_for_many_days(
    api: APIClient, make_link: MakeLink, django_assert_max_num_queries: Any
) -> None:
    made = make_link()
    visits(pk(made))
    drain()
    with django_assert_max_num_queries(30):
        erased(api, made["_id"], TODAY)
