"""The uncounted clicks in this host's journal."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from django.db import connection

from analytics.journal.reader import DAMAGED_SUFFIX, Segment, segments


class Backlog(NamedTuple):
    """``waiting``: uncounted bytes of the journal. ``damaged``: segments whose rest waits for the operator.

    ``oldest``: the time of the oldest uncounted record, in seconds since 1970.
    """

    waiting: int
    damaged: int
    oldest: float | None


def backlog(folder: Path) -> Backlog:
    """Raises database errors."""
    present = segments(folder)
    with connection.cursor() as cursor:
        cursor.execute(
            'SELECT id, "offset" FROM analytics_segment WHERE id = ANY(%s)',
            [[segment.id for segment in present]],
        )
        return _backlog(folder, present, dict(cursor.fetchall()))


def backlog_without_database(folder: Path) -> Backlog:
    """An estimate from the journal alone: the drainer wipes records shortly after it counts them."""
    return _backlog(folder, segments(folder), {})


def _backlog(folder: Path, present: list[Segment], offsets: Mapping[uuid.UUID, int]) -> Backlog:
    waiting, times, damaged = 0, [], len(list(folder.glob(f"*{DAMAGED_SUFFIX}")))
    for segment in present:
        with segment.open() as file:
            if file is None:
                continue
            first = file.first_uncounted(offsets.get(segment.id, 0))
            waiting += file.size - first.start
            damaged += first.is_damaged
            if first.time is not None:
                times.append(first.time)
    return Backlog(waiting, damaged, min(times, default=None))
