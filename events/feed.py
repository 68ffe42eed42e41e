"""The feed of a workspace: its events, for programs that ask. The workspace says which types are collected for it."""

from __future__ import annotations

from collections.abc import Collection
from struct import Struct
from typing import NamedTuple
from uuid import UUID

from accounts.models import Workspace
from common.cursors import opened_cursor, sealed_cursor
from common.database import execute
from common.errors import FieldError, InvalidFields
from events.models import Event, Listener
from events.outbox import START, Place, read_events

_SEALING = "event-cursor"
_PLACE = Struct(">q16s")
_LISTEN = """
INSERT INTO events_listener (workspace_id, feed_types) VALUES (%(workspace)s, %(types)s)
ON CONFLICT (workspace_id) DO UPDATE SET feed_types = EXCLUDED.feed_types
"""
BAD_CURSOR = FieldError("after", "invalid", "Must be the next of an answer for this workspace.")
NOT_COLLECTED = FieldError("types", "not_collected", "Not among the types of PUT /api/events/feed.")


class FeedPage(NamedTuple):
    events: list[Event]
    next_cursor: str


def collected_types(owner: Workspace) -> list[str]:
    """The types of its feed."""
    listener = Listener.objects.filter(workspace=owner).first()
    return [] if listener is None else list(listener.feed_types)


def collect(owner: Workspace, types: Collection[str]) -> None:
    """Store events of these types from now on, for the feed. None: nobody reads it."""
    execute(_LISTEN, {"workspace": owner.pk, "types": list(types)})


def read_feed(owner: Workspace, *, after: str | None, types: Collection[str] | None, limit: int) -> FeedPage:
    """Raises InvalidFields for a cursor of another workspace and for types that are not collected."""
    place = START if after is None else _place(after, owner)
    collected = collected_types(owner)
    if types is not None and not set(types) <= set(collected):
        raise InvalidFields([NOT_COLLECTED])
    page = read_events(owner.pk, place, collected if types is None else types, limit)
    return FeedPage(page.events, _cursor(page.next, owner))


def _cursor(place: Place, owner: Workspace) -> str:
    packed = _PLACE.pack(place.position, place.id.bytes)
    return sealed_cursor(packed, purpose=_SEALING, context=_context(owner))


def _place(cursor: str, owner: Workspace) -> Place:
    packed = opened_cursor(cursor, _PLACE.size, purpose=_SEALING, context=_context(owner))
    if packed is None:
        raise InvalidFields([BAD_CURSOR])
    position, identifier = _PLACE.unpack(packed)
    return Place(position, UUID(bytes=identifier))


def _context(owner: Workspace) -> bytes:
    return str(owner.pk).encode()
