"""Stores events in the caller's transaction, and reads them in their order.

Services emit what no trigger does. Readers remember the position and the id of the last event that they have read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from common.database import execute, fetch
from common.http.short_urls import short_url
from common.rest.fields import iso_utc
from events.models import Event
from events.types import CLICK_DATA, EventType

_EMIT = "SELECT events_emit(%(workspace)s, %(type)s, %(link)s, %(data)s::jsonb)"
_HORIZON = "SELECT events_horizon()"
# Of all types, so that a page takes no longer if few are wanted.
_REACH = 10_000
_NEXT = """
SELECT id, position, workspace_id, type, link_id, time, data FROM events_event
WHERE workspace_id = %(workspace)s AND (position, id) > (%(position)s, %(id)s::uuid) AND position < %(horizon)s
ORDER BY position, id
"""
_READ = f"""
SELECT * FROM ({_NEXT} LIMIT {_REACH}) read WHERE type = ANY (%(types)s) ORDER BY position, id LIMIT %(limit)s
"""  # noqa: S608 # built from constants
_LAST_READ = f"SELECT position, id FROM ({_NEXT} OFFSET {_REACH - 1} LIMIT 1) read"  # noqa: S608 # built from constants
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Place(NamedTuple):
    """Of an event in the order of all. That of ``START`` is before the first one."""

    position: int
    id: UUID


START = Place(0, UUID(int=0))


def emit(workspace_id: int, kind: EventType, data: Mapping[str, Any], *, link_id: int | None = None) -> None:
    """Store an event in the caller's transaction, if the workspace listens."""
    values = {
        "workspace": workspace_id,
        "type": kind.value,
        "link": link_id,
        "data": orjson.dumps(data).decode(),
    }
    execute(_EMIT, values)


class Page(NamedTuple):
    """Events, and the place after which the next ones are."""

    events: list[Event]
    next: Place


def read_events(workspace_id: int, after: Place, types: Collection[str], limit: int) -> Page:
    """The next events of these types, at most ``limit``; fewer, or none, do not mean that there are no more.

    No transaction can add an event before the end of the page any more.
    """
    [(horizon,)] = fetch(_HORIZON)
    values = {
        "workspace": workspace_id,
        "types": list(types),
        "limit": limit,
        "horizon": horizon,
        **after._asdict(),
    }
    events = list(Event.objects.raw(_READ, values))
    if len(events) == limit:
        return Page(events, Place(events[-1].position, events[-1].id))
    last = fetch(_LAST_READ, values)
    return Page(events, Place(*last[0]) if last else max(after, Place(horizon, START.id)))


def shown_data(data: dict[str, Any] | list[Any]) -> dict[str, Any]:
    """The stored data of an event as clients get them: with names, and with the short URL of its link."""
    if isinstance(data, list):
        click = dict(zip(CLICK_DATA, data, strict=True))
        return click | {"time": iso_utc(_EPOCH + timedelta(microseconds=click["time"]))}
    link = data.get("link")
    if link and "shortCode" in link:
        code = link["customCode"] or link["shortCode"]
        rest = {name: value for name, value in link.items() if name != "domain"}
        data = {**data, "link": {**rest, "shortUrl": short_url(link["domain"], code)}}
    return data
