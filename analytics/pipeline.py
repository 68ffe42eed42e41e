"""From journal to tables: each batch is one transaction, and how far it has come is part of it.

So every record is counted once, whatever is killed and however many drainers run, on one host or many: a segment's
row is locked while its records are counted, and a commit whose outcome is unknown shows in the row.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from django.db import DataError, connection, transaction

from analytics.facts import DAY_MICROSECONDS, Place, facts
from analytics.pending import opened, sealed, take_pending
from analytics.records import UNKNOWN_CODE, Corrupt, Record, decode, origins
from analytics.rollups import add_to_tables, add_unknown_codes
from analytics.salts import salts_of
from analytics.segments import OpenSegment, Segment, segments

BATCH = 50_000
MAX_PLACES = 200_000
# Segments that are read at once. Workers that die one after the other leave more than a process may have open.
MAX_OPEN = 200

log = logging.getLogger(__name__)

_LOCK_WAITING = 'SELECT id, "offset" FROM analytics_segment WHERE id = ANY(%s) ORDER BY id FOR UPDATE'
_LOCK_FREE = _LOCK_WAITING + " SKIP LOCKED"
_POISON = (DataError, ValueError, OverflowError)


@dataclass
class _Batch:
    """``pending`` is sealed, ``payloads`` are not; ``offsets`` are the new ones, by segment."""

    pending: list[bytes] = field(default_factory=list)
    payloads: list[bytes] = field(default_factory=list)
    offsets: dict[uuid.UUID, int] = field(default_factory=dict)
    finished: list[Segment] = field(default_factory=list)
    damaged: dict[uuid.UUID, Corrupt] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.pending) + len(self.payloads)


class Drainer:
    """Counts what is in a folder's segments and in the table of pending records. For one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._limit = BATCH
        # As far as this drainer knows: another may have come further.
        self._offsets: dict[uuid.UUID, int] = {}
        self._wiped: dict[uuid.UUID, int] = {}
        self._damaged: set[uuid.UUID] = set()
        # Looked up once while there is a backlog, and again after it: the file of cities may have changed.
        self._places: dict[str, Place] = {}

    @property
    def found_damage(self) -> bool:
        """Whether a segment could not be read to its end."""
        return bool(self._damaged)

    def drain_batch(self) -> int:
        """How many records were taken; 0 when there is nothing left. Raises what the database raises in an outage.

        A record that cannot be counted goes to the dead letters; it is found by taking ever fewer at once.
        """
        while True:
            try:
                taken = self._drain(partial(_count, places=self._places))
                break
            except _POISON as error:
                poison = error
            if self._limit == 1:
                log.error("A record cannot be counted and is kept aside as a dead letter: %s", poison)
                taken = self._drain(partial(_bury, reason=str(poison)))
                break
            self._limit = max(1, self._limit // 10)
        self._limit = min(BATCH, self._limit * 2)
        if not taken or len(self._places) > MAX_PLACES:
            self._places.clear()
        return taken

    def _drain(self, handle: Callable[[_Batch], None]) -> int:
        with ExitStack() as stack:
            waiting = self._open_waiting(stack)
            with transaction.atomic():
                batch = self._take(waiting)
                handle(batch)
                _advance(batch)
            for identifier, offset in batch.offsets.items():
                self._offsets[identifier] = offset
                if identifier in waiting:
                    waiting[identifier][1].wipe(self._wiped.get(identifier, 0), offset)
                    self._wiped[identifier] = offset
            for identifier, damage in batch.damaged.items():
                self._set_aside(*waiting[identifier], damage)
            return len(batch)

    def _open_waiting(self, stack: ExitStack) -> dict[uuid.UUID, tuple[Segment, OpenSegment]]:
        """The oldest ones; open as long as ``stack`` is."""
        waiting: dict[uuid.UUID, tuple[Segment, OpenSegment]] = {}
        for segment in segments(self._folder):
            if len(waiting) == MAX_OPEN:
                break
            with ExitStack() as one:
                file = one.enter_context(segment.open())
                if file is not None and self._is_waiting(segment, file):
                    waiting[segment.id] = segment, file
                    stack.enter_context(one.pop_all())
        return waiting

    def _is_waiting(self, segment: Segment, file: OpenSegment) -> bool:
        if segment.id in self._damaged:
            return not file.has_writer
        return file.size > self._offsets.get(segment.id, 0) or not file.has_writer

    def _take(self, waiting: Mapping[uuid.UUID, tuple[Segment, OpenSegment]]) -> _Batch:
        batch = _Batch(pending=take_pending(self._limit))
        for identifier, offset in _lock(list(waiting)).items():
            segment, file = waiting[identifier]
            # Whoever held the lock before may have deleted it, with all of it counted.
            if len(batch) == self._limit or file.is_deleted:
                continue
            has_writer = file.has_writer
            try:
                frames = file.read(offset, self._limit - len(batch))
            except Corrupt as damage:
                batch.damaged[identifier] = damage
                continue
            # What was written again counts as far as its first place has not been: first that is read to its end,
            # by whoever holds it now.
            if any(origin in waiting and origin not in batch.offsets for origin in origins(frames)):
                continue
            batch.payloads += [payload for payload, _ in frames]
            batch.offsets[identifier] = frames[-1].end if frames else offset
            if not frames and not has_writer:
                batch.finished.append(segment)
        return batch

    def _set_aside(self, segment: Segment, file: OpenSegment, damage: Corrupt) -> None:
        if segment.id not in self._damaged:
            log.error("Segment %s is %s; what follows is not counted.", segment.path, damage)
            self._damaged.add(segment.id)
        if not file.has_writer:
            log.error("It is kept as %s.", segment.set_aside())


def _count(batch: _Batch, places: dict[str, Place]) -> None:
    records = [decode(opened(content)) for content in batch.pending]
    records += [decode(payload) for payload in batch.payloads]
    records = _without_counted(records, batch.offsets)
    salts = salts_of({record.time // DAY_MICROSECONDS for record in records}) if records else {}
    unknown_codes = [each for each in records if each.kind == UNKNOWN_CODE]
    if len(unknown_codes) < len(records):
        add_to_tables([facts(each, salts, places) for each in records if each.kind != UNKNOWN_CODE])
    add_unknown_codes((each.subject, each.time // DAY_MICROSECONDS) for each in unknown_codes)


def _without_counted(records: list[Record], offsets: dict[uuid.UUID, int]) -> list[Record]:
    """Leaves out what was counted from where it stood before, and sees to it that the rest will not be."""
    origins = {record.origin.segment for record in records if record.origin is not None}
    if not origins:
        return records
    known = _lock(sorted(origins), wait=True) | offsets
    kept = []
    for record in records:
        if record.origin is not None:
            segment, end = record.origin
            if end <= known[segment]:
                continue
            known[segment] = offsets[segment] = end
        kept.append(record)
    return kept


def _bury(batch: _Batch, reason: str) -> None:
    contents = [*batch.pending, *map(sealed, batch.payloads)]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO analytics_deadletter (record, reason) SELECT unnest(%s::bytea[]), %s",
            [contents, reason],
        )


def _lock(identifiers: list[uuid.UUID], *, wait: bool = False) -> dict[uuid.UUID, int]:
    """The offsets of those segments that no other drainer holds, or of all, held until the end of the transaction."""
    if not identifiers:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO analytics_segment (id) SELECT unnest(%s::uuid[]) ORDER BY 1 ON CONFLICT DO NOTHING",
            [identifiers],
        )
        cursor.execute(
            _LOCK_WAITING if wait else _LOCK_FREE,
            [identifiers],
        )
        return dict(cursor.fetchall())


def _advance(batch: _Batch) -> None:
    if not batch.offsets:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE analytics_segment s SET "offset" = new.place
            FROM unnest(%s::uuid[], %s::bigint[]) new (id, place) WHERE s.id = new.id
            """,
            [list(batch.offsets), list(batch.offsets.values())],
        )
        for segment in batch.finished:
            # Everything in it was counted by an earlier transaction, so it may go before this one commits.
            segment.delete()
            cursor.execute("UPDATE analytics_segment SET finished_at = now() WHERE id = %s", [segment.id])
