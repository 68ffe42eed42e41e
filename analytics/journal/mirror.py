"""The journal's second copy, on another disk or NFS, for hosts whose disk can be lost. The locks of SMB are mandatory.

A mirrored segment has the name of its first copy, and the same records at the same offsets. The database knows how far
each segment is counted, so each record counts once from whichever copy. Writers append to the mirror first. The
drainer reads the first copies, and the mirror only where a first copy ends too early or is damaged. Files appear in
the mirror last and leave it first, so a mirrored segment without a first copy and without a writer is one whose first
disk was lost.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shutil
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path

from analytics.journal.reader import (
    CHUNK_BYTES,
    DAMAGED_SUFFIX,
    Chunk,
    OpenSegment,
    Segment,
    segment_path,
    segments,
    wipe,
)
from analytics.journal.records import Corrupt
from analytics.journal.writer import sync_folder
from common.repeated_lines import REPEATED

# Fewer days than the database remembers which segments are counted. Files can stay here longer if the host did not use
# its mirror for a while.
MAX_AGE_DAYS = 6
_DRAFT = "recovered-"

log = logging.getLogger(__name__)


class Mirror:
    """``folder`` has the copies of this host, and is of no other one. None of the methods raises OSError.

    ``left``: how many segments the last `recover` could not bring back. Their clicks are not counted.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.left = 0

    def recover(self, first: Path) -> int:
        """Bring back the segments that the folder ``first`` has lost, and the lost ends of others. Return how many."""
        recovered = self.left = 0
        try:
            _remove_drafts(first)
            # It must exist: without its disk, it is missing or empty.
            self._folder.stat()
            copies = segments(self._folder)
        except OSError as error:
            log.error("Segments in the mirror %s cannot be counted: %s", self._folder, error, extra=REPEATED)
            self.left = 1
            return 0
        for segment in copies:
            try:
                recovered += self._recover(segment, first)
            except OSError as error:
                log.error("Segment %s cannot be counted: %s", segment.path, error, extra=REPEATED)
                self.left += 1
        return recovered

    def _recover(self, segment: Segment, first: Path) -> bool:
        path = segment_path(first, segment.id)
        # NFS locks only files that are open for writing.
        with segment.open(to_wipe=True) as file:
            if file is None or file.has_writer or path.with_suffix(DAMAGED_SUFFIX).exists():
                return False
            with Segment(segment.id, path).open(to_wipe=True) as beginning:
                if beginning is not None:
                    return not beginning.has_writer and _append_end(file, beginning, path)
            # Another drainer may have counted and deleted both copies meanwhile.
            if file.is_deleted:
                return False
            if time.time() - os.fstat(file.descriptor).st_mtime > MAX_AGE_DAYS * 86_400:
                log.error(
                    "Segment %s is too old to be counted: its clicks may have been.",
                    segment.path,
                    extra=REPEATED,
                )
                self.left += 1
                return False
            _copy(file, path)
        log.warning("Segment %s was lost. It is back from the mirror %s.", segment.id, self._folder)
        return True

    def read(self, identifier: uuid.UUID, offset: int, limit: int, *, has_writer: bool) -> Chunk | None:
        """The intact records at ``offset``, where the first copy is damaged. None if there are none."""
        try:
            with Segment(identifier, segment_path(self._folder, identifier)).open() as file:
                chunk = file and file.read(offset, limit, has_writer=has_writer)
        except (OSError, Corrupt):
            return None
        return chunk if chunk and chunk.frames else None

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

    def delete(self, segment: Segment, first: OpenSegment) -> bool:
        """Whether there is no copy of the first one any more. While there is one, the first copy must stay.

        If the copy is longer, the first one gets its end, which is not counted yet.
        """
        copy = Segment(segment.id, segment_path(self._folder, segment.id))
        try:
            with copy.open(to_wipe=True) as file:
                if file is not None and (file.has_writer or _append_end(file, first, segment.path)):
                    return False
            copy.delete()
        except OSError as error:
            self._log(error)
            return False
        return True

    def _log(self, error: OSError) -> None:
        # A segment from before the mirror has no copy there.
        if error.errno != errno.ENOENT:
            log.error("Counted clicks stay in the mirror %s: %s", self._folder, error, extra=REPEATED)


def _append_end(source: OpenSegment, target: OpenSegment, path: Path) -> bool:
    """Append what the target lacks: a power cut or a backup has shortened it. Return whether it lacked anything.

    Neither may have a writer. Drainers that do this at once write the same bytes to the same place.
    """
    if source.size <= target.size or not target.can_wipe:
        return False
    position = target.size
    while content := os.pread(source.descriptor, CHUNK_BYTES, position):
        position += os.pwrite(target.descriptor, content, position)
    os.fsync(target.descriptor)
    log.warning("The end of segment %s was lost. It is back from the mirror.", path)
    return True


def _copy(source: OpenSegment, target: Path) -> None:
    """Create the file with all its content, or not at all."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=_DRAFT, suffix=".new", delete=False) as draft:
        try:
            fcntl.flock(draft, fcntl.LOCK_EX)
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


def _remove_drafts(folder: Path) -> None:
    """A process that was killed while it copied has left visitors' addresses in them."""
    for path in folder.glob(f"{_DRAFT}*.new"):
        # Its process may be about to finish it, or another one to remove it.
        with suppress(BlockingIOError, FileNotFoundError), path.open("rb") as draft:
            fcntl.flock(draft, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
