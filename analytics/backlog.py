"""What this host has answered and not counted yet."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from django.db import connection

from analytics.segments import DAMAGED_SUFFIX, Segment, segments


class Backlog(NamedTuple):
    """``waiting`` in bytes of the journal; ``damaged`` segments were set aside and wait for somebody to look.

    ``oldest`` is when the record was written that has waited longest, in seconds since 1970.
    """

    waiting: int
    damaged: int
    oldest: float | None


def backlog(folder: Path) -> Backlog:
    """Raises what the database raises."""
    found = segments(folder)
    with connection.cursor() as cursor:
        cursor.execute(
            'SELECT id, "offset" FROM analytics_segment WHERE id = ANY(%s)',
            [[segment.id for segment in found]],
        )
        return _backlog(folder, found, dict(cursor.fetchall()))


def backlog_without_database(folder: Path) -> Backlog:
    """The same as far as the journal knows: what has been counted is overwritten a moment later."""
    return _backlog(folder, segments(folder), {})


def _backlog(folder: Path, found: list[Segment], counted: Mapping[uuid.UUID, int]) -> Backlog:
    waiting, moments = 0, []
    for segment in found:
        with segment.open() as file:
            if file is None:
                continue
            start, moment = file.first_waiting(counted.get(segment.id, 0))
            waiting += file.size - start
            if moment is not None:
                moments.append(moment)
    return Backlog(waiting, len(list(folder.glob(f"*{DAMAGED_SUFFIX}"))), min(moments, default=None))
