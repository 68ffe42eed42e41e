"""What this host has answered and not counted yet."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from django.db import connection

from analytics.segments import DAMAGED_SUFFIX, segments


class Backlog(NamedTuple):
    """``waiting`` in bytes of the journal; ``damaged`` segments were set aside and wait for somebody to look."""

    waiting: int
    damaged: int


def backlog(folder: Path) -> Backlog:
    """Raises what the database raises."""
    sizes = {}
    for segment in segments(folder):
        try:
            sizes[segment.id] = segment.path.stat().st_size
        except FileNotFoundError:
            continue
    with connection.cursor() as cursor:
        cursor.execute('SELECT id, "offset" FROM analytics_segment WHERE id = ANY(%s)', [list(sizes)])
        counted = dict(cursor.fetchall())
    waiting = sum(max(0, size - counted.get(identifier, 0)) for identifier, size in sizes.items())
    return Backlog(waiting, len(list(folder.glob(f"*{DAMAGED_SUFFIX}"))))
