"""The uncounted clicks in this host's journal, and those that the database took."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import connection

from analytics.journal.pending import open_record
from analytics.journal.reader import DAMAGED_SUFFIX, Segment, segment_path, segments
from analytics.journal.records import decode

_OFFSETS_AND_OLDEST_PENDING = """
SELECT id, "offset", NULL FROM analytics_segment WHERE id = ANY(%s)
UNION ALL (SELECT NULL, NULL, record FROM analytics_pendingrecord ORDER BY analytics_pendingrecord.id LIMIT 1)
"""


class Backlog(NamedTuple):
    """``waiting``: uncounted bytes of the journal. ``damaged``: segments whose rest waits for the operator.

    ``oldest``: the time of the oldest uncounted record, also of those in the database, in seconds since 1970.
    """

    waiting: int
    damaged: int
    oldest: float | None


def backlog(folder: Path) -> Backlog:
    """Measure which part of the journal is not counted yet. Raises database errors."""
    present = segments(folder)
    with connection.cursor() as cursor:
        cursor.execute(_OFFSETS_AND_OLDEST_PENDING, [[segment.id for segment in present]])
        rows = cursor.fetchall()
    offsets = {identifier: offset for identifier, offset, _ in rows}
    return _backlog(folder, present, offsets, [record for *_, record in rows if record is not None])


def backlog_without_database(folder: Path) -> Backlog:
    """An estimate from the journal alone: the drainer wipes records shortly after it counts them."""
    return _backlog(folder, segments(folder), {})


def _backlog(
    folder: Path, present: list[Segment], offsets: Mapping[uuid.UUID, int], pending: Iterable[bytes] = ()
) -> Backlog:
    waiting, times, damaged = 0, [], len(list(folder.glob(f"*{DAMAGED_SUFFIX}")))
    for content in pending:
        # The drainer turns a record that nobody can read into a dead letter.
        with suppress(ValueError):
            times.append(decode(open_record(content)).time / 1_000_000)
    for segment in present:
        with segment.open() as file:
            if file is None:
                continue
            first = file.first_uncounted(offsets.get(segment.id, 0))
            # After the truncation of a failed sync, the file can end before the part that is counted.
            waiting += max(0, file.size - first.start)
            damaged += first.is_damaged
            if first.time is not None:
                times.append(first.time)
    waiting += _only_mirrored(folder)
    return Backlog(waiting, damaged, min(times, default=None))


def _only_mirrored(folder: Path) -> int:
    """The bytes of segments that this host has lost, and not brought back yet."""
    waiting = 0
    # The mirror's files appear last and leave first.
    with suppress(OSError):
        for copy in segments(settings.CLICK_MIRROR) if settings.CLICK_MIRROR else []:
            path = segment_path(folder, copy.id)
            if not path.exists() and not path.with_suffix(DAMAGED_SUFFIX).exists():
                with suppress(FileNotFoundError):
                    waiting += copy.path.stat().st_size
    return waiting
