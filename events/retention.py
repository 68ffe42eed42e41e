"""The lifetime of events: a partition for each day (UTC) by the database's clock."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from django.conf import settings

from common.database import change_tables, execute, fetch
from common.postgresql.partitions import attach_partition, drop_partition, partitions_of

_TABLE = "events_event"
_NAME = re.compile(rf"{_TABLE}_(\d{{4}}_\d{{2}}_\d{{2}})")
# Housekeeping of one host may be down for longer than a day.
_DAYS_AHEAD = 3
_BATCH = 10_000
# The oldest have the lowest ids, so no index on the time is needed.
_DELETE_DELIVERIES = f"""
DELETE FROM events_delivery WHERE id IN (
    SELECT id FROM events_delivery ORDER BY id LIMIT {_BATCH} FOR UPDATE SKIP LOCKED
) AND created_at < %s
"""  # noqa: S608 # composed of constants


def ensure_event_partitions() -> None:
    """Create the partitions of today, of the next days, and of the days of the default partition's events."""
    today = _today()
    days = {today + timedelta(days=number) for number in range(_DAYS_AHEAD + 1)}
    stored = fetch("SELECT DISTINCT (time AT TIME ZONE 'UTC')::date FROM events_event_default")
    days.update(day for (day,) in stored if day <= max(days))
    for day in sorted(days):
        name = f"{_TABLE}_{day:%Y_%m_%d}"
        bounds = _midnight(day), _midnight(day + timedelta(days=1))
        change_tables(partial(attach_partition, _TABLE, "time", name, *bounds))


def delete_old_events() -> None:
    """Keep events for at least EVENT_RETENTION_DAYS, and drop them by whole days; then their deliveries."""
    first = _today() - timedelta(days=settings.EVENT_RETENTION_DAYS)
    for name in partitions_of(_TABLE):
        match = _NAME.fullmatch(name)
        if match and datetime.strptime(match[1], "%Y_%m_%d").replace(tzinfo=UTC).date() < first:
            change_tables(partial(drop_partition, name))
    execute("DELETE FROM events_event_default WHERE time < %s", [_midnight(first)])
    while execute(_DELETE_DELIVERIES, [_midnight(first)]) == _BATCH:
        pass


def _today() -> date:
    [(today,)] = fetch("SELECT (now() AT TIME ZONE 'UTC')::date")
    return today  # type: ignore[no-any-return] # a date


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
