"""The journal's second copy, on another disk or a network file system, for hosts whose disk can be lost.

A mirrored segment has the name of its first copy, and the same records at the same offsets. The database knows how far
each segment is counted, so each record counts once from whichever copy. Writers append to the mirror first, and the
drainer reads only the first copies: what it has counted is in both. Files appear in the mirror last and leave it
first, so a mirrored segment without a first copy and without a writer is one whose first disk was lost.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path

from analytics.journal.reader import DAMAGED_SUFFIX, OpenSegment, Segment, segment_path, segments, wipe
from analytics.journal.writer import sync_folder
from common.repeated_lines import REPEATED

# Fewer days than the database remembers which segments are counted. Files can stay here longer if the host did not use
# its mirror for a while.
MAX_AGE_DAYS = 6

log = logging.getLogger(__name__)


class Mirror:
    """``folder`` has the copies of this host, and is of no other one. None of the methods raises OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def recover(self, first: Path) -> int:
        """Bring back the segments that the folder ``first`` has lost. Return how many."""
        try:
            return sum(self._recover(segment, first) for segment in segments(self._folder))
        except OSError as error:
            log.error("Segments in the mirror %s cannot be counted: %s", self._folder, error)
            return 0

    def _recover(self, segment: Segment, first: Path) -> bool:
        path = segment_path(first, segment.id)
        with segment.open() as file:
            if file is None or file.has_writer or path.exists() or path.with_suffix(DAMAGED_SUFFIX).exists():
                return False
            # Another drainer may have counted and deleted both copies meanwhile.
            if file.is_deleted:
                return False
            if time.time() - os.fstat(file.descriptor).st_mtime > MAX_AGE_DAYS * 86_400:
                log.error("Segment %s is too old to be counted: its clicks may have been.", segment.path)
                return False
            _copy(file, path)
        log.warning("Segment %s was lost. It is back from the mirror %s.", segment.id, self._folder)
        return True

    def wipe(self, identifier: uuid.UUID, start: int, end: int) -> None:
        """If it fails, counted records stay until the segment is deleted."""
        try:
            descriptor = os.open(segment_path(self._folder, identifier), os.O_WRONLY)
            try:
                wipe(descriptor, start, end)
            finally:
                os.close(descriptor)
        except OSError as error:
            self._log(error)

    def delete(self, identifier: uuid.UUID) -> bool:
        """Whether there is no such copy any more. While there is one, the first copy must stay."""
        try:
            Segment(identifier, segment_path(self._folder, identifier)).delete()
        except OSError as error:
            self._log(error)
            return False
        return True

    def _log(self, error: OSError) -> None:
        # A segment from before the mirror has no copy there.
        if error.errno != errno.ENOENT:
            log.error("Counted clicks stay in the mirror %s: %s", self._folder, error, extra=REPEATED)


def _copy(source: OpenSegment, target: Path) -> None:
    """Create the file with all its content, or not at all."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=".new", delete=False) as draft:
        try:
            with os.fdopen(os.dup(source.descriptor), "rb") as content:
                shutil.copyfileobj(content, draft)
            draft.flush()
            os.fsync(draft.fileno())
            Path(draft.name).rename(target)
        except OSError:
            with suppress(FileNotFoundError):
                Path(draft.name).unlink()
            raise
    sync_folder(target.parent)
