"""The pipeline from the journal to the tables. Each batch is one transaction that also stores the segments' offsets.

Every record is therefore counted exactly once, whichever process is killed and however many drainers run on any number
of hosts. A drainer locks a segment's row while it counts the segment's records. If a commit's outcome is unknown, the
row shows whether it happened.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from django.db import Error, connection, transaction

from analytics.counting.batch import (
    BATCH,
    Batch,
    Uncountable,
    count,
    count_or_store_dead_letter,
    next_limit,
)
from analytics.counting.click_events import forget_links
from analytics.counting.enrichment import Place
from analytics.counting.raw_clicks import ClickTexts
from analytics.counting.segments import (
    add_segments,
    advance_segments,
    finish_segments,
    lock_segments,
    note_finished,
    offset_of,
    record_losses,
    record_losses_of_deleted,
)
from analytics.journal.mirror import Mirror
from analytics.journal.pending import take_pending
from analytics.journal.reader import DAMAGED_SUFFIX, OpenSegment, Segment, segments
from analytics.journal.records import Corrupt, origins
from common.database import is_replicated

MAX_CACHED_PLACES = 200_000
# Workers that crash repeatedly can leave more segments than a process may open.
MAX_OPEN_SEGMENTS = 200

log = logging.getLogger(__name__)


class Drainer:
    """Counts the records in a folder's segments and in the table of pending records. Not thread-safe.

    With ``skips_damage``, it reads segments on behind damage, those that were set aside, too. ``mirror`` has a copy of
    each segment, and is read where that is damaged.
    """

    def __init__(self, folder: Path, *, skips_damage: bool = False, mirror: Mirror | None = None) -> None:
        self._folder = folder
        self._mirror = mirror
        self._skips_damage = skips_damage
        self._limit = BATCH
        self._has_caught_up = False
        # The last offsets that this drainer has seen; another drainer may have advanced them.
        self._offsets: dict[uuid.UUID, int] = {}
        self._wiped: dict[uuid.UUID, int] = {}
        # The positions of damage that keeps the rest of a segment from being read.
        self._damaged: dict[uuid.UUID, int] = {}
        self._skipped: list[tuple[Path, int, int]] = []
        self._has_checked_losses = False
        self._is_read_only = False
        # Of the last batch: django.db replaces it when another server takes over.
        self._connection: Any = None
        # Kept only during a backlog: addresses are personal data, and the city database may change later.
        self._places: dict[bytes, Place] = {}
        self._texts = ClickTexts()

    @property
    def has_damage(self) -> bool:
        """Whether damage prevented reading a segment to its end."""
        return bool(self._damaged)

    @property
    def has_caught_up(self) -> bool:
        """Whether the last batch left no record that the next one could count at once."""
        return self._has_caught_up

    def take_skipped(self) -> list[tuple[Path, int, int]]:
        """The damaged space that was skipped since the last call: file, start and end."""
        skipped, self._skipped = self._skipped, []
        return skipped

    def drain_batch(self) -> int:
        """Count one batch and return its number of records; 0 if no record is left that no other drainer has locked.

        A record that cannot be counted becomes a dead letter; shrinking batches isolate it. Raises database errors.
        """
        while True:
            count_batch = count if self._limit > 1 else count_or_store_dead_letter
            started = time.monotonic()
            try:
                batch = self._drain(partial(count_batch, places=self._places, texts=self._texts))
            except Uncountable:
                self._limit = max(1, self._limit // 10)
                continue
            except Error:
                self._reset_after_error()
                raise
            is_full = len(batch) == self._limit
            # If it found nothing to count, other drainers count what is left.
            self._has_caught_up = not batch or not (is_full or batch.leaves_records)
            self._limit = next_limit(self._limit, BATCH, len(batch), time.monotonic() - started)
            if not is_full or len(self._places) > MAX_CACHED_PLACES:
                self._places.clear()
            # Finished or damaged segments freed their slots among the open segments: try the next ones.
            if batch or not (batch.finished or batch.damaged or batch.lost or batch.skipped):
                return len(batch)

    def _reset_after_error(self) -> None:
        """Assume nothing about the next database: it may be one restored from a dump. A smaller batch is quicker."""
        self._offsets.clear()
        self._texts.clear()
        forget_links()
        self._has_checked_losses = False
        self._limit = max(1, self._limit // 10)

    def _drain(self, count_batch: Callable[[Batch], None]) -> Batch:
        if not self._has_checked_losses:
            record_losses_of_deleted(self._folder)
            self._has_checked_losses = True
        # Another server may have taken over, without what only the former one has counted.
        if self._connection is not connection.connection:
            self._offsets.clear()
        with ExitStack() as stack:
            open_segments = self._open_segments(stack)
            add_segments([identifier for identifier in open_segments if identifier not in self._offsets])
            with transaction.atomic():
                batch = self._take(open_segments)
                record_losses(batch.lost)
                record_losses(batch.skipped, are_damaged=True)
                count_batch(batch)
                advance_segments(batch.offsets)
                self._connection = connection.connection
            self._offsets |= batch.offsets
            self._skipped += [(open_segments[name][0].path, *space) for name, space in batch.skipped.items()]
            if open_segments and is_replicated(self._connection):
                self._tidy(batch, open_segments)
            else:
                batch.finished, batch.damaged = [], {}
            return batch

    def _tidy(self, batch: Batch, open_segments: Mapping[uuid.UUID, tuple[Segment, OpenSegment]]) -> None:
        """Delete, wipe and set aside what the committed batch has read.

        While the file system is read-only, clicks are counted all the same: the database knows how far.
        """
        if not all(file.can_wipe for _, file in open_segments.values()):
            if not self._is_read_only:
                log.error(
                    "The journal is read-only: counted clicks and their addresses stay in %s.", self._folder
                )
            self._is_read_only = True
            batch.finished, batch.damaged = [], {}
            return
        if open_segments:
            self._is_read_only = False
        # Before the wipe, which extends a file that was truncated below its offset: the log needs the size.
        batch.finished = self._delete_finished(batch.finished, open_segments)
        for identifier, offset in batch.offsets.items():
            if identifier in open_segments:
                wiped = self._wiped.get(identifier, 0)
                open_segments[identifier][1].wipe(wiped, offset)
                if self._mirror is not None:
                    self._mirror.wipe(identifier, wiped, offset)
                self._wiped[identifier] = offset
        for identifier, damage in batch.damaged.items():
            self._set_aside(*open_segments[identifier], damage)

    def _open_segments(self, stack: ExitStack) -> dict[uuid.UUID, tuple[Segment, OpenSegment]]:
        """The oldest segments that have work. ``stack`` closes their files."""
        open_segments: dict[uuid.UUID, tuple[Segment, OpenSegment]] = {}
        damaged = segments(self._folder, DAMAGED_SUFFIX) if self._skips_damage else []
        for segment in [*damaged, *segments(self._folder)]:
            if len(open_segments) == MAX_OPEN_SEGMENTS:
                break
            with ExitStack() as opening:
                file = opening.enter_context(segment.open(to_wipe=True))
                if file is not None and self._has_work(segment, file):
                    open_segments[segment.id] = segment, file
                    stack.enter_context(opening.pop_all())
        return open_segments

    def _has_work(self, segment: Segment, file: OpenSegment) -> bool:
        if segment.id in self._damaged:
            # Somebody may have counted what is behind the damage, see ``skips_damage``.
            return not file.has_writer or offset_of(segment.id) > self._damaged[segment.id]
        return file.size > self._offsets.get(segment.id, 0) or not file.has_writer

    def _take(self, open_segments: Mapping[uuid.UUID, tuple[Segment, OpenSegment]]) -> Batch:
        batch = Batch(
            pending=take_pending(self._limit), leaves_records=len(open_segments) == MAX_OPEN_SEGMENTS
        )
        remaining, group = sorted(open_segments), 1
        # Lock few segments at first and leave the others to other drainers.
        while remaining and len(batch) < self._limit:
            for identifier, offset in lock_segments(remaining[:group]).items():
                self._read(batch, open_segments, identifier, offset)
            remaining, group = remaining[group:], 2 * group
        return batch

    def _read(
        self,
        batch: Batch,
        open_segments: Mapping[uuid.UUID, tuple[Segment, OpenSegment]],
        identifier: uuid.UUID,
        offset: int,
    ) -> None:
        _, file = open_segments[identifier]
        # The previous holder of the row lock may have counted and deleted the segment.
        if len(batch) >= self._limit or file.is_deleted:
            return
        has_writer = file.has_writer
        passed = batch.lost
        try:
            chunk = file.read(offset, self._limit - len(batch), has_writer=has_writer)
        except Corrupt as damage:
            limit = self._limit - len(batch)
            mirror, rest = self._mirror, None
            if mirror is not None:
                rest = mirror.read(identifier, offset, limit, has_writer=has_writer)
            if rest is not None:
                rest = rest._replace(reaches_end=rest.end >= file.size)
            elif self._skips_damage:
                rest, passed = file.read_damaged(damage.position, has_writer=has_writer), batch.skipped
            if rest is None:
                batch.damaged[identifier] = damage
                return
            chunk = rest
        # A rewritten record counts only if it was not counted at its origin, so the origin's segment must be read to
        # its end first.
        if any(
            origin in open_segments and origin not in batch.read_to_end for origin in origins(chunk.frames)
        ):
            batch.leaves_records = True
            return
        batch.payloads += [payload for payload, _ in chunk.frames]
        batch.offsets[identifier] = max(chunk.end, offset)
        if chunk.reaches_end:
            batch.read_to_end.add(identifier)
        elif chunk.end > offset:
            batch.leaves_records = True
        if chunk.start > offset:
            passed[identifier] = offset, chunk.start
        # Use the stored offset: this batch's progress is not committed yet.
        if not has_writer and file.is_counted(offset):
            batch.finished.append(identifier)

    def _delete_finished(
        self,
        identifiers: Sequence[uuid.UUID],
        open_segments: Mapping[uuid.UUID, tuple[Segment, OpenSegment]],
    ) -> list[uuid.UUID]:
        """Delete segments of which committed transactions have counted every record. Leave out, of those returned, the
        ones whose copy in the mirror cannot be deleted.

        In a separate transaction, because deletions wait for the disk and the batch holds locks of counters.
        """
        if not identifiers:
            return []
        with transaction.atomic():
            # The server may have changed since the batch: trust only the offsets that it has now.
            finished = {
                identifier: open_segments[identifier]
                for identifier, offset in lock_segments(identifiers).items()
                if open_segments[identifier][1].is_counted(offset)
            }
            mirror = self._mirror
            kept = [name for name, parts in finished.items() if mirror and not mirror.delete(*parts)]
            finished = {name: parts for name, parts in finished.items() if name not in kept}
            note_finished(self._folder, {identifier: file.size for identifier, (_, file) in finished.items()})
            for segment, _ in finished.values():
                segment.delete()
            finish_segments(list(finished))
        return [name for name in identifiers if name not in kept]

    def _set_aside(self, segment: Segment, file: OpenSegment, damage: Corrupt) -> None:
        if self._damaged.get(segment.id) != damage.position:
            log.error("Segment %s is %s; the records after it are not counted.", segment.path, damage)
        self._damaged[segment.id] = damage.position
        if not file.has_writer:
            log.error("The damaged segment was renamed to %s.", segment.set_aside())
