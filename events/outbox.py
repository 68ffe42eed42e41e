"""Stores events in the caller's transaction, and reads them in their order.

Services emit what no trigger does. Readers remember the position and the id of the last event that they have read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from common.database import execute, fetch
from events.models import Event
from events.types import EventType

_EMIT = "SELECT events_emit(%(workspace)s, %(type)s, %(link)s, %(data)s::jsonb)"
_LISTENS = "SELECT events_listens(%(workspace)s, %(type)s)"
# Below the horizon, so that nobody can add an event before the last one that was read.
_READ = """
SELECT id, position, workspace_id, type, link_id, time, data FROM events_event
WHERE workspace_id = %(workspace)s AND (position, id) > (%(position)s, %(id)s::uuid)
    AND position < (SELECT events_horizon()) AND type = ANY(%(types)s)
ORDER BY position, id LIMIT %(limit)s
"""


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


def listens(workspace_id: int, kind: EventType) -> bool:
    """Whether an event would be stored. Only callers whose data take time need to ask."""
    [(answer,)] = fetch(_LISTENS, {"workspace": workspace_id, "type": kind.value})
    return bool(answer)


def read_events(workspace_id: int, after: Place, types: Collection[str], limit: int) -> list[Event]:
    """The next events of these types, at most ``limit``."""
    values = {"workspace": workspace_id, "types": list(types), "limit": limit, **after._asdict()}
    return list(Event.objects.raw(_READ, values))


def place_of(event: Event) -> Place:
    return Place(event.position, event.id)
