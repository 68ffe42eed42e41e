"""Makes deliveries of the events that endpoints want.

Each endpoint has cursors into the events of its workspace. A transaction that locks a cursor inserts the deliveries of
the next events and moves the cursor past them, so each event becomes a delivery once, whoever is killed when.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import NamedTuple
from uuid import UUID

from common.database import fetch, in_one_transaction
from common.host import vitals
from common.ids import new_public_id
from events.types import CLICK_DATA, EventType
from events.webhooks.grouping import Grouping, grouping_of
from events.webhooks.models import Cursor, CursorKind, Delivery, Webhook

# Events that are read at once, and how often for one group: most events may be clicks that the endpoint does not want.
_READ = 1_000
_READS_FOR_GROUP = 10
# While so many deliveries of an endpoint are due, no more are made: their events wait in their own table.
_MOST_DUE = 500
_MOST_DUE_GROUPS = 10
_PAUSE = timedelta(seconds=1)
_COMPARE_SECONDS = 60.0
_FIRST_ID = UUID(int=0)

# Cursors of these workspaces, whatever they are waiting for: next_at, the end of a ban, or room.
_OF_WORKSPACES = """
SELECT c.id FROM events_cursor c JOIN events_webhook w ON w.id = c.webhook_id
WHERE c.kind <> 'replay' AND w.workspace_id IN (
    SELECT workspace_id FROM events_event WHERE position >= %(since)s AND position < %(until)s
)
"""
_BEHIND = """
SELECT c.id FROM events_cursor c JOIN events_webhook w ON w.id = c.webhook_id
WHERE c.kind <> 'replay' AND EXISTS (
    SELECT FROM events_event e WHERE e.workspace_id = w.workspace_id
        AND (e.position, e.id) > (c.position, c.event_id) AND e.position < %(until)s
)
"""
_DUE_CURSORS = """
SELECT c.id FROM events_cursor c JOIN events_webhook w ON w.id = c.webhook_id
WHERE (c.kind = 'replay' OR c.id = ANY (%(behind)s)) AND c.next_at <= now() AND w.disabled_reason IS NULL
    AND NOT EXISTS (SELECT FROM bans_ban b WHERE b.owner_id = w.workspace_id)
ORDER BY c.next_at, c.id
"""
_LOCK = """
SELECT c.id FROM events_cursor c JOIN events_webhook w ON w.id = c.webhook_id
WHERE c.id = %s AND c.next_at <= now() AND w.disabled_reason IS NULL
FOR UPDATE OF c SKIP LOCKED FOR KEY SHARE OF w SKIP LOCKED
"""
_DUE = """
SELECT count(*) FROM (
    SELECT FROM events_delivery
    WHERE webhook_id = %(webhook)s AND status = 'pending' AND next_at <= now() AND is_group = %(grouped)s
        AND (%(clicks)s::boolean IS NULL OR (type = 'link.clicked') = %(clicks)s)
    LIMIT %(most)s
) due
"""
# All events are read, not only those that are wanted, so that the cursor also passes the others.
_EVENTS = """
SELECT e.position, e.id, e.type, e.time, e.type = ANY (%(types)s::text[]){subject}
FROM (
    SELECT * FROM events_event
    WHERE workspace_id = %(workspace)s AND (position, id) > (%(position)s, %(event)s::uuid)
        AND position < %(until)s{times}
    ORDER BY position, id LIMIT %(limit)s
) e{joins}
ORDER BY e.position, e.id
"""
_TIMES = " AND time >= %(begins)s AND time < %(ends)s"
# Most events say what their link was then. Clicks have only its id, and a deleted link the row that restores it.
_SUBJECT = """,
    coalesce(e.data #>> '{link,id}', e.data ->> %(click_link)s::int, l.public_id::text, x.public_id::text),
    ARRAY(SELECT jsonb_array_elements_text(
        coalesce((e.data #> '{link,tags}')::jsonb, to_jsonb(l.tag_keys), x.link -> 'tag_keys', '[]')
    )),
    coalesce(
        e.data #>> '{link,domainId}', e.data #>> '{domain,id}', d.public_id::text,
        CASE WHEN coalesce(l.id, x.link_id) IS NOT NULL THEN 'base' END
    )"""
_JOINS = """
LEFT JOIN links_link l ON l.id = e.link_id AND l.owner_id = e.workspace_id
LEFT JOIN links_deletedlink x ON x.link_id = e.link_id AND x.owner_id = e.workspace_id
LEFT JOIN domains_domain d ON d.id = coalesce(l.domain_id, (x.link ->> 'domain_id')::bigint)"""


class _Read(NamedTuple):
    position: int
    id: UUID
    type: str
    time: datetime
    has_type: bool
    link: str | None = None
    tags: Sequence[str] = ()
    domain: str | None = None


class _Moved(NamedTuple):
    """``read``: how many events. ``has_more``: there may be more below the horizon."""

    read: int
    has_more: bool


class FanOut:
    """Moves cursors, and remembers which of them have events to read: an idle endpoint costs nothing.

    Events become readable in the order of their positions, so each look finds the workspaces of all events since the
    last one. That misses a cursor whose first events were looked at before its transaction committed, and one that
    another process was moving when it was killed. So all cursors are compared with their events at the start and
    every minute.
    """

    def __init__(self) -> None:
        # Up to which position events were looked at.
        self._until = 0
        self._compares_at = 0.0
        self._behind: set[int] = set()

    def step(self) -> int:
        """Move every cursor that can move once. Returns the number of events that were read."""
        self._look()
        count = 0
        for (number,) in fetch(_DUE_CURSORS, {"behind": list(self._behind)}):
            count += self._advance(number)
            vitals.beat()
        return count

    def _look(self) -> None:
        [(until,)] = fetch("SELECT events_horizon()")
        if monotonic() >= self._compares_at:
            self._behind = {number for (number,) in fetch(_BEHIND, {"until": until})}
            self._compares_at = monotonic() + _COMPARE_SECONDS
        elif until > self._until:
            values = {"since": self._until, "until": until}
            self._behind.update(number for (number,) in fetch(_OF_WORKSPACES, values))
        self._until = until

    def _advance(self, number: int) -> int:
        def work() -> _Moved | None:
            if not fetch(_LOCK, [number]):
                return None
            return _move(Cursor.objects.select_related("webhook").get(pk=number))

        moved = in_one_transaction(work)
        if moved is None:
            return 0
        if not moved.has_more:
            self._behind.discard(number)
        return moved.read


def _move(cursor: Cursor) -> _Moved:
    webhook = cursor.webhook
    grouping = grouping_of(webhook.format, cursor.kind)
    [[now, horizon]] = fetch("SELECT now(), events_horizon()")
    room = _room(cursor, grouping)
    if not room:
        Cursor.objects.filter(pk=cursor.pk).update(next_at=now + _PAUSE)
        return _Moved(0, has_more=True)
    # Events below the horizon are final, so those that this reads are all there will ever be.
    until = horizon if cursor.until is None else min(cursor.until, horizon)
    wanted: list[_Read] = []
    count = 0
    for _ in range(1 if grouping is None else _READS_FOR_GROUP):
        events = _read(cursor, until, _READ)
        found = [event for event in events if event.has_type and _matches(webhook, event)]
        taken = found[: room - len(wanted)]
        wanted += taken
        count += len(events)
        has_more = len(events) == _READ or len(taken) < len(found)
        if has_more:
            last = taken[-1] if len(taken) < len(found) else events[-1]
            cursor.position, cursor.event_id = last.position, last.id
        # There is room for a whole group.
        if not has_more or (grouping is not None and len(wanted) >= grouping.size):
            break
    Delivery.objects.bulk_create(_deliveries(cursor, wanted, grouping))
    if not has_more:
        if cursor.kind == CursorKind.REPLAY:
            cursor.delete()
            return _Moved(count, has_more=False)
        cursor.position, cursor.event_id = max((until, _FIRST_ID), (cursor.position, cursor.event_id))
    is_waiting = bool(wanted) or not has_more
    cursor.next_at = now + grouping.interval if grouping is not None and is_waiting else now
    cursor.save(update_fields=["position", "event_id", "next_at"])
    return _Moved(count, has_more)


def _room(cursor: Cursor, grouping: Grouping | None) -> int:
    """How many more events may become deliveries of the endpoint now."""
    is_replay = cursor.kind == CursorKind.REPLAY
    rooms = []
    if grouping is None or (is_replay and grouping.only_clicks):
        rooms.append(_MOST_DUE - _due(cursor, _MOST_DUE))
    if grouping is not None:
        clicks = None if is_replay else cursor.kind == CursorKind.CLICKS
        due = _due(cursor, _MOST_DUE_GROUPS, grouped=True, clicks=clicks)
        rooms.append((_MOST_DUE_GROUPS - due) * grouping.size)
    return min(rooms)


def _due(cursor: Cursor, most: int, *, grouped: bool = False, clicks: bool | None = None) -> int:
    """How many deliveries of this kind are due, at most ``most``. ``clicks`` None: with clicks and without."""
    values = {"webhook": cursor.webhook_id, "most": most, "grouped": grouped, "clicks": clicks}
    [[due]] = fetch(_DUE, values)
    return int(due)


def _read(cursor: Cursor, until: int, limit: int) -> list[_Read]:
    webhook = cursor.webhook
    has_filters = bool(webhook.url_ids or webhook.tags or webhook.domain_ids)
    query = _EVENTS.format(
        subject=_SUBJECT if has_filters else "",
        joins=_JOINS if has_filters else "",
        times="" if cursor.begins_at is None else _TIMES,
    )
    values = {
        "workspace": webhook.workspace_id,
        "types": _types(cursor),
        "position": cursor.position,
        "event": cursor.event_id,
        "until": until,
        "limit": limit,
        "begins": cursor.begins_at,
        "ends": cursor.ends_at,
        "click_link": CLICK_DATA.index("linkId"),
    }
    return [_Read(*row) for row in fetch(query, values)]


def _matches(webhook: Webhook, event: _Read) -> bool:
    """Whether the event has what each filter of the endpoint asks for."""
    tags = {tag.strip().casefold() for tag in webhook.tags}
    return (
        (not webhook.url_ids or event.link in [str(link) for link in webhook.url_ids])
        and (not tags or not tags.isdisjoint(tag.strip().casefold() for tag in event.tags))
        and (not webhook.domain_ids or event.domain in webhook.domain_ids)
    )


def _types(cursor: Cursor) -> list[str]:
    wanted = cursor.webhook.types
    if cursor.kind == CursorKind.REPLAY:
        return [kind for kind in cursor.types if kind in wanted]
    is_of_clicks = cursor.kind == CursorKind.CLICKS
    return [kind for kind in wanted if (kind == EventType.LINK_CLICKED) == is_of_clicks]


def _deliveries(cursor: Cursor, events: Sequence[_Read], grouping: Grouping | None) -> list[Delivery]:
    single = [event for event in events if grouping is None or not grouping.groups(event.type)]
    grouped = [event for event in events if grouping is not None and grouping.groups(event.type)]
    groups = [[event] for event in single]
    if grouping is not None:
        groups += [grouped[at : at + grouping.size] for at in range(0, len(grouped), grouping.size)]
    return [
        Delivery(
            webhook=cursor.webhook,
            is_replay=cursor.kind == CursorKind.REPLAY,
            message_id=group[0].id if at < len(single) else new_public_id(),
            type=group[0].type,
            is_group=at >= len(single),
            event_ids=[event.id for event in group],
            positions=[event.position for event in group],
            first_time=min(event.time for event in group),
            last_time=max(event.time for event in group),
        )
        for at, group in enumerate(groups)
    ]
