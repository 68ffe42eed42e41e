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
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
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
class _Copy:
    """``folder`` is open until it is synced: without its directory entry, a synced file is lost after a crash."""

    descriptor: int
    folder: int | None = None

    def sync(self) -> None:
        if self.folder is not None:
            os.fsync(self.folder)
            self._close_folder()
        os.fdatasync(self.descriptor)

    def close(self) -> None:
        self._close_folder()
        os.close(self.descriptor)

    def _close_folder(self) -> None:
        if self.folder is not None:
            os.close(self.folder)
            self.folder = None


@dataclass(slots=True, eq=False)
class _Segment:
    """``copies``: the one in the mirror, if there is one, and the one that the drainer reads."""

    id: uuid.UUID
    copies: list[_Copy]
    size: int = 0
    synced: int = 0
    # The writes beyond ``synced`` with their end offsets: the data at risk if the next sync fails.
    unsynced: list[tuple[int, bytes]] = field(default_factory=list)

    def sync(self) -> None:
        """The first copy must be durable even if the mirror fails: the drainer counts from it."""
        _call_all([copy.sync for copy in self.copies])

    def truncate(self, size: int) -> None:
        """The mirror must not keep a record that the first copy refuses: it goes to the table, and counts there."""
        _call_all([partial(os.ftruncate, copy.descriptor, size) for copy in reversed(self.copies)])

    def close(self) -> None:
        for copy in self.copies:
            copy.close()


def _call_all(calls: Iterable[Callable[[], None]]) -> None:
    """Make all calls, whatever fails. Then raise the first OSError."""
    errors = []
    for call in calls:
        try:
            call()
        except OSError as error:
            errors.append(error)
    if errors:
        raise errors[0]


class Journal:
    """Shared by all threads of one process. ``sync`` says when an appended record survives a crash of the machine:

    ``strict``: before `append` returns; ``group``: within about GROUP_SECONDS; ``process``: when the operating system
    writes it. In every mode, a record survives a crash of the process. With ``mirror``, all of that holds for two
    folders, see `analytics.journal.mirror`. Only records that the mirror fails to sync may be in the first copy alone.
    """

    def __init__(self, folder: Path, sync: str, mirror: Path | None = None) -> None:
        self._folders = [folder] if mirror is None else [mirror, folder]
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
                segment.sync()
            except OSError as error:
                succeeded = False
                with self._writing:
                    self._rewrite_unsynced(segment, error)
            else:
                with self._writing:
                    segment.synced = size
                    segment.unsynced = [write for write in segment.unsynced if write[0] > size]
            if segment in full:
                segment.close()
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
            for copy in segment.copies:
                if os.write(copy.descriptor, framed) != len(framed):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            # Remove the partial record: a reader could not find the records after it. The mirror has no reader yet.
            try:
                segment.truncate(segment.size)
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
            segment.close()
        else:
            self._full.append(segment)
            self._dirty.set()

    def _open(self) -> _Segment:
        segment = _Segment(new_public_id(), [])
        drafts = [folder / f"{segment.id}.new" for folder in self._folders]
        try:
            for draft in drafts:
                self._open_copy(segment, draft)
            # A file in the mirror alone would look like one that was lost here.
            for draft in reversed(drafts):
                draft.rename(draft.with_suffix(SUFFIX))
        except OSError:
            segment.close()
            for draft in drafts:
                with suppress(OSError):
                    draft.unlink()
            raise
        self._segment = segment
        if self._sync == "group" and self._syncer is None:
            self._syncer = threading.Thread(target=self._sync_loop, name="journal", daemon=True)
            self._syncer.start()
        return segment

    def _open_copy(self, segment: _Segment, draft: Path) -> None:
        # Only the operator creates the mirror's folder: without its disk, it must be missing.
        if draft.parent == self._folders[-1]:
            draft.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy = _Copy(os.open(draft, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600))
        segment.copies.append(copy)
        fcntl.flock(copy.descriptor, fcntl.LOCK_EX)
        if self._sync != "process":
            copy.folder = os.open(draft.parent, os.O_RDONLY | os.O_DIRECTORY)

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
            segment.truncate(segment.synced)

    def _sync_loop(self) -> None:
        while True:
            self._dirty.wait()
            time.sleep(GROUP_SECONDS)
            self._dirty.clear()
            self.sync()


def journal_error() -> OSError | None:
    """Why this host's journal cannot be written, in either folder, or None."""
    mirror = settings.CLICK_MIRROR
    return writing_error(settings.CLICKS_DIR) or (writing_error(mirror, must_exist=True) if mirror else None)


def writing_error(folder: Path, *, must_exist: bool = False) -> OSError | None:
    """Why new segments cannot be written, or None. It writes a block, because nothing else finds a full disk."""
    try:
        if not must_exist:
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
    return Journal(settings.CLICKS_DIR, settings.CLICK_SYNC, settings.CLICK_MIRROR)


os.register_at_fork(after_in_child=journal.cache_clear)
