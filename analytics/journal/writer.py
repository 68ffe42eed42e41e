"""The click journal: each worker process appends clicks to a file of its own, its segment, before it responds.

The writer holds a lock (flock) on its segment until the process ends. Readers can therefore tell, even after a kill,
whether a segment may still grow. A segment is created under a temporary name, locked and then renamed, so that no
reader ever sees it unlocked.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import tempfile
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from django.conf import settings

from analytics.journal.records import Origin, frame, frame_with_origin, read_frames
from common.ids import new_public_id
from common.repeated_lines import REPEATED

SUFFIX = ".segment"
SEGMENT_BYTES = 16 * 1024 * 1024
GROUP_SECONDS = 0.05
_BLOCK = bytes(4096)

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Segment:
    id: uuid.UUID
    descriptor: int
    size: int = 0
    synced: int = 0
    # The open folder, until it is synced: without its directory entry, a synced file is lost after a crash.
    folder: int | None = None
    # The writes beyond ``synced`` with their end offsets: the data at risk if the next sync fails.
    unsynced: list[tuple[int, bytes]] = field(default_factory=list)


class Journal:
    """Shared by all threads of one process. ``sync`` says when an appended record survives a crash of the machine:

    ``strict``: before `append` returns; ``group``: within about GROUP_SECONDS; ``process``: when the operating system
    writes it. In every mode, a record survives a crash of the process.
    """

    def __init__(self, folder: Path, sync: str) -> None:
        self._folder = folder
        self._sync = sync
        self._segment: _Segment | None = None
        self._full: list[_Segment] = []
        # ``_writing`` guards appends, ``_syncing`` guards syncs. Lock order: ``_syncing`` first.
        self._writing = threading.Lock()
        self._syncing = threading.Lock()
        self._dirty = threading.Event()
        self._syncer: threading.Thread | None = None

    def append(self, *payloads: bytes) -> None:
        """Append all payloads with one write. Raises OSError if that fails; then the journal has none of them."""
        if payloads:
            self.append_frames(b"".join(map(frame, payloads)))

    def append_frames(self, frames: bytes) -> None:
        """`append` of records that are framed already."""
        with self._writing:
            self._write(frames)
        if self._sync == "strict":
            self.sync()
        elif self._sync == "group" and not self._dirty.is_set():
            self._dirty.set()

    def sync(self) -> None:
        """Return once all earlier appends are on disk, in their segment or rewritten to another."""
        with self._syncing:
            attempts = 3
            while not self._sync_once() and attempts:
                attempts -= 1

    def _sync_once(self) -> bool:
        """False if records were rewritten to another segment, which is not synced yet."""
        with self._writing:
            full, self._full = self._full, []
            segments = full if self._segment is None else [*full, self._segment]
            sizes = [segment.size for segment in segments]
        succeeded = True
        for segment, size in zip(segments, sizes, strict=True):
            try:
                if segment.folder is not None:
                    os.fsync(segment.folder)
                    _close_folder(segment)
                os.fdatasync(segment.descriptor)
            except OSError as error:
                succeeded = False
                with self._writing:
                    self._rewrite_unsynced(segment, error)
            else:
                with self._writing:
                    segment.synced = size
                    segment.unsynced = [write for write in segment.unsynced if write[0] > size]
            if segment in full:
                _close_folder(segment)
                os.close(segment.descriptor)
        return succeeded

    def _write(self, framed: bytes) -> None:
        segment = self._segment or self._open()
        try:
            self._write_to(segment, framed)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            log.error(
                "Write to segment %s failed: %s. Starting another segment.", segment.id, error, extra=REPEATED
            )
            self._retire(segment)
            segment = self._open()
            self._write_to(segment, framed)
        if segment.size >= SEGMENT_BYTES:
            self._retire(segment)

    def _write_to(self, segment: _Segment, framed: bytes) -> None:
        try:
            if os.write(segment.descriptor, framed) != len(framed):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            # Remove the partial record: a reader could not find the records after it.
            try:
                os.ftruncate(segment.descriptor, segment.size)
            except OSError:
                self._retire(segment)
            raise
        segment.size += len(framed)
        if self._sync != "process":
            segment.unsynced.append((segment.size, framed))

    def _retire(self, segment: _Segment) -> None:
        """Stop appending to the segment."""
        if self._segment is not segment:
            return
        self._segment = None
        if self._sync == "process":
            os.close(segment.descriptor)
        else:
            self._full.append(segment)
            self._dirty.set()

    def _open(self) -> _Segment:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        identifier = new_public_id()
        path = self._folder / f"{identifier}{SUFFIX}"
        draft = path.with_suffix(".new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        segment = _Segment(identifier, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if self._sync != "process":
                segment.folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            draft.rename(path)
        except OSError:
            _close_folder(segment)
            os.close(descriptor)
            with suppress(OSError):
                draft.unlink()
            raise
        self._segment = segment
        if self._sync == "group" and self._syncer is None:
            self._syncer = threading.Thread(target=self._sync_loop, name="journal", daemon=True)
            self._syncer.start()
        return segment

    def _rewrite_unsynced(self, segment: _Segment, error: OSError) -> None:
        """Rewrite the records since the last successful sync to another segment.

        After a failed fsync the kernel may mark the pages clean, so a second sync of this file proves nothing
        (PostgreSQL's fsync bug of 2018). Each rewritten record names its origin, because the drainer may have counted
        it there already.
        """
        log.error("Sync of segment %s failed: %s. Rewriting its unsynced records.", segment.id, error)
        if self._segment is segment:
            self._segment = None
            self._full.append(segment)
        try:
            for end, data in segment.unsynced:
                for framed in read_frames(data, len(data)):
                    origin = Origin(segment.id, end - len(data) + framed.end)
                    self._write(frame_with_origin(framed.payload, origin))
        except OSError as second_error:
            log.critical("Rewriting the records of segment %s failed: %s.", segment.id, second_error)
            return
        segment.unsynced = []
        with suppress(OSError):
            os.ftruncate(segment.descriptor, segment.synced)

    def _sync_loop(self) -> None:
        while True:
            self._dirty.wait()
            time.sleep(GROUP_SECONDS)
            self._dirty.clear()
            self.sync()


def _close_folder(segment: _Segment) -> None:
    if segment.folder is not None:
        os.close(segment.folder)
        segment.folder = None


def writing_error(folder: Path) -> OSError | None:
    """Why new segments cannot be written, or None. It writes a block, because nothing else finds a full disk."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            if file.write(_BLOCK) != len(_BLOCK):
                return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        return error
    return None


def sync_folder(folder: Path) -> None:
    """Make file creations, renames and deletions in the folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@cache
def journal() -> Journal:
    """The journal of this process."""
    return Journal(settings.CLICKS_DIR, settings.CLICK_SYNC)


os.register_at_fork(after_in_child=journal.cache_clear)
