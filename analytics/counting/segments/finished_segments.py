"""The host's log of the segments that it counted and deleted: one line per segment, one file per day.

A database restored from an older dump lacks some of their clicks. The log shows how many bytes it lacks.

The database deletes the rows of finished segments by its own clock. So the files are dated by that clock, too: with a
wrong clock of this host, a file could outlive the rows, and each deleted row would look like a loss.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import cast

from django.db import connection

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
