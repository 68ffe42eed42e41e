"""Events have a partition for each day, and are deleted by whole days."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from pytest_django.fixtures import Settings

from accounts.services import NewAccount
from common.database import execute, fetch
from common.postgresql.partitions import partitions_of
from events.retention import delete_old_events, ensure_event_partitions
from testing.connections import rows
from testing.events.stored import listen

pytestmark = pytest.mark.django_db


def store(account: NewAccount, days: int) -> None:
    execute(
        "INSERT INTO events_event (workspace_id, type, time, data)"
        " VALUES (%s, 'link.created', now() - %s * interval '1 day', '{}')",
        [account.workspace.pk, days],
    )


def test_days_are_made_ahead_and_dropped(alice: NewAccount, settings: Settings) -> None:
    settings.EVENT_RETENTION_DAYS = 2
    listen(alice.workspace)
    [(today,)] = fetch("SELECT (now() AT TIME ZONE 'UTC')::date")
    for days in (0, 1, 2, 3, 9):
        store(alice, days)
    ensure_event_partitions()
    ensure_event_partitions()
    named = {name_of(today + timedelta(days=days)) for days in (-9, -3, -2, -1, 0, 1, 2, 3)}
    assert set(partitions_of("events_event")) == {*named, "events_event_default"}
    assert rows("SELECT count(*) FROM ONLY events_event_default") == [(0,)]
    store(alice, 8)
    delete_old_events()
    kept = {name_of(today + timedelta(days=days)) for days in (-2, -1, 0, 1, 2, 3)}
    assert set(partitions_of("events_event")) == {*kept, "events_event_default"}
    assert rows("SELECT count(*) FROM events_event") == [(3,)]


def name_of(day: date) -> str:
    return f"events_event_{day:%Y_%m_%d}"
