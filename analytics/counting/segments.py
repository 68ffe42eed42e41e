"""What the database knows of each journal segment: how much of it is counted, and which of its bytes are lost.

The pipeline counts exactly once because of the committed offset of each segment.

The host keeps a log of the segments that it counted and deleted: one line per segment, one file per day. A database
restored from an older dump lacks some of their clicks, and the log shows how many bytes it lacks. The database deletes
the rows of finished segments by its own clock. So the files are dated by that clock, too: with a wrong clock of this
host, a file could outlive the rows, and each deleted row would look like a loss.

A loss is journal space that is wiped although this database never counted it: after a restore from an older dump, the
journal no longer has the clicks counted since. Damaged space that `manage.py drain_clicks --damaged` has skipped is
lost, too. Only the size in bytes is known.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import cast

from django.db import connection, transaction
from django.db.models import BigIntegerField, Sum
from django.db.models.functions import Coalesce

from analytics.journal.reader import segments
from analytics.journal.records import Fields
from analytics.models import JournalLoss
from common.database import prepared_cursor

_LOCK = 'SELECT id, "offset" FROM analytics_segment WHERE id = ANY(%s::uuid[]) ORDER BY id FOR UPDATE'


def add_segments(identifiers: Sequence[uuid.UUID]) -> None:
    """Insert missing rows. Call it in a separate, short transaction, so that no other drainer waits for it."""
    if not identifiers:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO analytics_segment (id) SELECT unnest(%s::uuid[]) ORDER BY 1 ON CONFLICT DO NOTHING",
            [list(identifiers)],
        )


def lock_segments(identifiers: Sequence[uuid.UUID], *, wait: bool = False) -> dict[uuid.UUID, int]:
    """Lock rows until the transaction ends, and return their offsets by id.

    With ``wait`` it locks all of them, otherwise only those that no other drainer has locked.
    """
    if not identifiers:
        return {}
    with prepared_cursor() as cursor:
        cursor.execute(_LOCK if wait else f"{_LOCK} SKIP LOCKED", [list(identifiers)])
        return dict(cursor.fetchall())


def offset_of(identifier: uuid.UUID) -> int:
    """The committed offset, without a lock; 0 without a row."""
    with connection.cursor() as cursor:
        cursor.execute('SELECT "offset" FROM analytics_segment WHERE id = %s', [identifier])
        rows = cursor.fetchall()
    return rows[0][0] if rows else 0


def advance_segments(offsets: Mapping[uuid.UUID, int]) -> None:
    if not offsets:
        return
    with prepared_cursor() as cursor:
        cursor.execute(
            """
            UPDATE analytics_segment s SET "offset" = new.place
            FROM unnest(%s::uuid[], %s::bigint[]) new (id, place) WHERE s.id = new.id
            """,
            [list(offsets), list(offsets.values())],
        )


def finish_segments(identifiers: Sequence[uuid.UUID]) -> None:
    if not identifiers:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE analytics_segment SET finished_at = now() WHERE id = ANY(%s)", [list(identifiers)]
        )


PREFIX = "finished-"
# Fewer days than the database keeps the rows of finished segments: a deleted row must not look like a loss.
KEPT_DAYS = 5

log = logging.getLogger(__name__)


def database_date() -> date:
    """The database's date in UTC. Raises django.db.Error."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date")
        (today,) = cursor.fetchone()
    return cast(date, today)


def note_finished(folder: Path, segments: Mapping[uuid.UUID, int]) -> None:
    """Log the sizes of these segments. Call this before you delete them.

    Raises django.db.Error, but no error of the file system, because a full disk needs the deletion.
    """
    path = folder / f"{PREFIX}{database_date()}"
    lines = "".join(f"{segment_id} {size}\n" for segment_id, size in segments.items())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, lines.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        log.error(
            "%d segments were counted and deleted, but not logged in %s: %s", len(segments), path, error
        )


def finished_segments(folder: Path) -> dict[uuid.UUID, int]:
    """The sizes of the segments deleted in the last KEPT_DAYS days. Removes other files. Raises django.db.Error.

    A file with a future date is from a host with a wrong clock and an earlier release, or from before a correction of
    the database's clock. Nobody knows its age.
    """
    today = database_date()
    # Around midnight, the clock of a server that takes over may still show the previous day.
    kept = [today - timedelta(days=age) for age in range(-1, KEPT_DAYS + 1)]
    sizes = {}
    for path in folder.glob(f"{PREFIX}*"):
        with suppress(ValueError):
            if date.fromisoformat(path.name.removeprefix(PREFIX)) not in kept:
                path.unlink(missing_ok=True)
                continue
        for line in path.read_text().splitlines():
            # A kill or a full disk can truncate the last line.
            with suppress(ValueError):
                segment_id, size = line.split()
                sizes[uuid.UUID(segment_id)] = int(size)
    return sizes


@dataclass(slots=True)
class Loss:
    """The empty space of a segment between two offsets; ``size`` bytes of it have no counted copy."""

    start: int
    end: int
    size: int


def record_losses(losses: Mapping[uuid.UUID, tuple[int, int]], *, are_damaged: bool = False) -> None:
    """Store the empty or damaged (start, end) of each segment. The caller's transaction holds their row locks."""
    if not losses:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO analytics_journalloss AS l (segment_id, start, "end", size)
            SELECT id, start, stop, stop - start
            FROM unnest(%s::uuid[], %s::bigint[], %s::bigint[]) lost (id, start, stop)
            ON CONFLICT (segment_id) DO UPDATE
            SET start = EXCLUDED.start, "end" = EXCLUDED."end", size = l.size + EXCLUDED.size, found_at = now()
            """,
            [list(losses), [start for start, _ in losses.values()], [end for _, end in losses.values()]],
        )
    # A batch that is rolled back and repeated logs its losses once.
    transaction.on_commit(partial(_log, _DAMAGED if are_damaged else _EMPTY, dict(losses)))


_EMPTY = (
    "%d bytes of segment %s are empty, and this database has not counted the clicks that were there: "
    "they were counted before the database was restored, or a power cut took them."
)
_DAMAGED = "%d bytes of segment %s are damaged, and the clicks that were there are lost."


def _log(message: str, losses: Mapping[uuid.UUID, tuple[int, int]]) -> None:
    for segment, (start, end) in losses.items():
        log.error(message, end - start, segment)


def lost_bytes() -> int:
    """Return how many bytes the journals of all hosts have lost."""
    total: int = JournalLoss.objects.aggregate(
        total=Coalesce(Sum("size"), 0, output_field=BigIntegerField())
    )["total"]
    return total


def losses_of(segments: Collection[uuid.UUID]) -> dict[uuid.UUID, Loss]:
    """The caller's transaction holds the row locks of these segments."""
    return {
        row.segment_id: Loss(row.start, row.end, row.size)
        for row in JournalLoss.objects.filter(segment_id__in=segments)
    }


def save_loss(segment: uuid.UUID, loss: Loss) -> None:
    JournalLoss.objects.filter(segment_id=segment).update(start=loss.start, size=loss.size)


def record_losses_of_deleted(folder: Path) -> None:
    """Record a loss for each segment that this host deleted and the database has not counted to its end.

    A segment that exists again comes from a backup, and is about to be counted.
    """
    present = {segment.id for segment in segments(folder)}
    sizes = {segment: size for segment, size in finished_segments(folder).items() if segment not in present}
    if not sizes:
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                """
                SELECT f.id FROM unnest(%s::uuid[], %s::bigint[]) f (id, size)
                LEFT JOIN analytics_segment s USING (id) WHERE coalesce(s."offset", 0) < f.size
                """,
                [list(sizes), list(sizes.values())],
            )
            behind = [segment for (segment,) in cursor.fetchall()]
        add_segments(behind)
        offsets = lock_segments(behind, wait=True)
        # Compare again under the lock: several drainers of a host do this concurrently.
        lost = {
            segment: (start, sizes[segment]) for segment, start in offsets.items() if start < sizes[segment]
        }
        record_losses(lost)
        advance_segments({segment: end for segment, (_, end) in lost.items()})
        finish_segments(list(lost))


def skip_counted_copies(records: list[Fields], offsets: dict[uuid.UUID, int]) -> list[Fields]:
    """Skip rewritten records that were counted at their origin, and mark the others as counted there.

    ``offsets`` holds this batch's new offsets by segment; the offsets of origins are added to it. If the space at a
    record's origin is a loss (see `analytics.counting.segments`), this database did not count it there.
    """
    segments = {record.origin.segment for record in records if record.origin is not None}
    if not segments:
        return records
    add_segments(sorted(segments))
    counted_up_to = lock_segments(sorted(segments), wait=True) | offsets
    losses = losses_of(segments)
    kept = []
    for record in records:
        if record.origin is not None:
            segment, end = record.origin
            loss = losses.get(segment)
            if end > counted_up_to[segment]:
                counted_up_to[segment] = offsets[segment] = end
            elif loss is not None and loss.start < end <= loss.end:
                # Copies keep the order of their origins, so the remaining loss starts here.
                loss.start = end
                loss.size -= record.frame_bytes
            else:
                continue
        kept.append(record)
    for segment, loss in losses.items():
        save_loss(segment, loss)
    return kept
