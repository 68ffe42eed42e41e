"""Journal space that is wiped although this database never counted it.

After a restore from an older dump, the clicks counted since the dump are lost: the journal no longer has them.
Damaged space that `manage.py drain_clicks --damaged` has skipped is lost, too. Only the size in bytes is known.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.db import connection, transaction
from django.db.models import BigIntegerField, Sum
from django.db.models.functions import Coalesce

from analytics.counting.segments.finished_segments import finished_segments
from analytics.counting.segments.segment_rows import (
    add_segments,
    advance_segments,
    finish_segments,
    lock_segments,
)
from analytics.journal.reader import segments
from analytics.pipeline_models import JournalLoss

log = logging.getLogger(__name__)


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
    """The total of all hosts."""
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
