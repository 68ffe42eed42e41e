"""Stores events in the caller's transaction, and reads them in their order.

Services emit what no trigger does. Readers remember the position and the id of the last event that they have read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from common.database import execute
from common.http.short_urls import short_url
from common.rest.fields import iso_utc
from events.models import Event
from events.types import CLICK_DATA, EventType

_EMIT = "SELECT events_emit(%(workspace)s, %(type)s, %(link)s, %(data)s::jsonb)"
# Of all types, so that a page takes no longer if few are wanted.
_REACH = 10_000
_NEXT = """
SELECT id, position, workspace_id, type, link_id, time, data FROM events_event
WHERE workspace_id = %(workspace)s AND (position, id) > (%(position)s, %(id)s::uuid)
    AND position < (SELECT events_horizon())
ORDER BY position, id
"""
# A row without a type, if there are fewer than wanted, has the place up to which they were read. All in one statement:
# in a second one, events that are deleted meanwhile would no longer count, and the place would be behind unread ones.
_READ = f"""
WITH found AS MATERIALIZED (
    SELECT * FROM ({_NEXT} LIMIT {_REACH}) read WHERE type = ANY (%(types)s) ORDER BY position, id LIMIT %(limit)s
)
SELECT * FROM found
UNION ALL
SELECT coalesce(last.id, '{UUID(int=0)}'), coalesce(last.position, events_horizon()), NULL, NULL, NULL, NULL, NULL
FROM (SELECT) always LEFT JOIN ({_NEXT} OFFSET {_REACH - 1} LIMIT 1) last ON true
WHERE (SELECT count(*) FROM found) < %(limit)s
ORDER BY position, id
"""  # noqa: S608 # built from constants
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
    values = {"workspace": workspace_id, "types": list(types), "limit": limit, **after._asdict()}
    rows = list(Event.objects.raw(_READ, values))
    events = [row for row in rows if row.type is not None]
    ends = [row for row in rows if row.type is None] or events[-1:]
    return Page(events, max(after, Place(ends[0].position, ends[0].id)))


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
