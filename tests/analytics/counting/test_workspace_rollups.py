"""Large workspaces have their links' days added up: their reports say the same as with the days of the links."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from rest_framework.test import APIClient

from accounts.services import NewAccount
from analytics.counting import workspace_rollups
from analytics.counting.audit import differences, repair
from analytics.counting.closed_days import close_days
from analytics.counting.imported_days import add_days
from analytics.counting.retention import delete_clicks_of_deleted_links
from analytics.counting.workspace_rollups import begin_rollups, fold_changes
from analytics.models import DayTotal, LifeCount, RollupChange, WorkspaceRollup
from analytics.reports import selected
from testing.accounts.workspaces import key_client_in, team
from testing.analytics.clicks import drain
from testing.analytics.journaled import AMERICAN, BRITISH, MakeLink, journaled, pk
from testing.connections import is_a_connection_blocked
from testing.polling import eventually
from testing.visitors.agents import FIREFOX
from tests.analytics.counting.open_batches import COUNTERS, batch_held_before

TODAY = datetime.now(UTC).date()
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1"
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
]


def read(api: APIClient, query: dict[str, str]) -> Any:
    response = api.get("/api/analytics", query)
    assert response.status_code == 200, response.json()
    return response.json()["data"]


@contextmanager
def without_rollups() -> Iterator[None]:
    complete = list(WorkspaceRollup.objects.filter(is_complete=True).values_list("pk", flat=True))
    WorkspaceRollup.objects.update(is_complete=False)
    yield
    WorkspaceRollup.objects.filter(pk__in=complete).update(is_complete=True)


def assert_agree(*clients: APIClient) -> None:
    for client in clients:
        for query in QUERIES:
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


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_changes_leave_no_difference(
    alice: NewAccount, api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(workspace_rollups, "_CHUNK", 3)
    chance = random.Random(seed)
    other = team(alice, "Other")
    there = key_client_in(other, alice.api_key)
    made = [make_link() for _ in range(6)]
    numbers = {link["_id"]: pk(link) for link in made}
    here, away, deleted = {link["_id"] for link in made}, set[str](), set[str]()

    def step() -> None:
        match chance.randrange(9):
            case 0 | 1 | 2:
                for _ in range(10):
                    visit(numbers[chance.choice(sorted(here | away))], chance)
                drain()
            case 3 if len(here) > 1:
                link = chance.choice(sorted(here))
                body = {"ids": [link], "workspaceId": str(other.public_id)}
                assert api.post("/api/urls/move", body, format="json").status_code == 200
                here.remove(link)
                away.add(link)
            case 4 if len(here) > 1:
                link = chance.choice(sorted(here))
                assert api.delete(f"/api/urls/{link}").status_code == 200
                here.remove(link)
                deleted.add(link)
            case 5 if deleted:
                link = deleted.pop()
                # Visits that are counted while it is deleted come back with it.
                visit(numbers[link], chance)
                drain()
                assert api.post(f"/api/urls/{link}/undelete").status_code == 200
                here.add(link)
            case 6:
                link = chance.choice(sorted(here))
                before = TODAY - timedelta(days=chance.choice([0, 3, 8]))
                assert api.delete(f"/api/analytics/{link}?before={before}").status_code == 200
            case 7:
                link = numbers[chance.choice(sorted(here | away))]
                add_days({(link, TODAY - timedelta(days=chance.choice([1, 9]))): chance.randrange(1, 50)})
            case 8:
                fold_changes(chance.choice([1, 5]), 1_000)
                close_days(busy=4)

    for _ in range(8):
        step()
    begin_rollups(clicks=0, links=1)
    assert WorkspaceRollup.objects.filter(is_complete=True).count() >= 1
    for _ in range(25):
        step()
        begin_rollups(clicks=0, links=1)
    assert_agree(api, there)
    fold_changes(1)
    assert not RollupChange.objects.exists()
    assert_agree(api, there)
    close_days(busy=4)
    assert LifeCount.objects.filter(link_id__lt=0).exists()
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
    assert not WorkspaceRollup.objects.exists()
    begin_rollups(clicks=3, links=1)
    fold_changes(1)
    rollup = WorkspaceRollup.objects.get()
    assert DayTotal.objects.get(link_id=-rollup.pk).clicks == 3
    assert list(differences()) == []
    DayTotal.objects.filter(link_id=-rollup.pk).update(clicks=4)
    *_, found = differences()
    assert found == f"roll-up {rollup.pk} {TODAY}: day of the workspace 4, its links 3"
    assert read(api, {})["totalClicks"] == 4
    with transaction.atomic():
        assert [text.endswith(": clicks of the workspace 4, now 3") for text in repair()] == [True]
    assert read(api, {})["totalClicks"] == 3
    begin_rollups(clicks=3, links=1)
    delete_clicks_of_deleted_links()
    [renewed] = WorkspaceRollup.objects.all()
    assert renewed.is_complete
    assert renewed.pk != rollup.pk
    assert list(differences()) == []
    assert not DayTotal.objects.filter(link_id=-rollup.pk).exists()
    WorkspaceRollup.objects.update(owner_id=0)
    begin_rollups(clicks=3, links=1)
    delete_clicks_of_deleted_links()
    assert [row.link_id for row in DayTotal.objects.all() if row.link_id < 0] == []


@pytest.mark.django_db(transaction=True)
def test_top_links_are_left_out_of_reports_with_too_many_clicks(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = make_link()
    journaled(pk(link), count=3)
    drain()
    begin_rollups(clicks=3, links=1)
    [top] = read(api, {})["topUrls"]
    assert (top["_id"], top["clicks"], top["uniqueClicks"]) == (link["_id"], 3, 1)
    monkeypatch.setattr(selected, "MAX_RANKED_CLICKS", 2)
    report = read(api, {})
    assert report["topUrls"] == []
    assert report["otherUrls"] == {"clicks": 3, "uniqueClicks": 1}
