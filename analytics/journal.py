"""Where a click is safe before it is answered: each worker process appends to a file of its own, its segment.

A segment is locked (flock) as long as its writer lives, so that everybody can tell, even after a kill, whether more
will come. It is made under another name and only then shown, so that nobody sees it unlocked.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from django.conf import settings

from analytics.records import Origin, frame, read_frames, rewritten
from common.ids import new_public_id

SUFFIX = ".segment"
SEGMENT_BYTES = 16 * 1024 * 1024
GROUP_SECONDS = 0.05

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Segment:
    id: uuid.UUID
    descriptor: int
    size: int = 0
    synced: int = 0
    # The folder, open until the disk knows the segment's name: without one, what is synced is lost all the same.
    folder: int | None = None
    # What a disk that fails to keep it would lose: what was written beyond ``synced``, and its ends.
    unsynced: list[tuple[int, bytes]] = field(default_factory=list)


class Journal:
    """For all threads of one process. ``sync`` says when what was appended survives the machine, not only the process:

    ``strict`` before `append` returns, ``group`` within about GROUP_SECONDS, ``process`` when the system writes it.
    """

    def __init__(self, folder: Path, sync: str) -> None:
        self._folder = folder
        self._sync = sync
        self._segment: _Segment | None = None
        self._full: list[_Segment] = []
        # Held while anything is appended; the other while the disk works, and never taken inside the first.
        self._writing = threading.Lock()
        self._syncing = threading.Lock()
        self._dirty = threading.Event()
        self._syncer: threading.Thread | None = None

    def append(self, *payloads: bytes) -> None:
        """With one write. Raises OSError when they cannot be kept; then none of them is in the journal."""
        framed = b"".join(map(frame, payloads))
        with self._writing:
            self._write(framed)
        if self._sync == "strict":
            self.sync()
        elif self._sync == "group" and not self._dirty.is_set():
            self._dirty.set()

    def sync(self) -> None:
        """Returns when everything appended before is on the disk, here or in another segment."""
        with self._syncing:
            attempts = 3
            while not self._sync_once() and attempts:
                attempts -= 1

    def _sync_once(self) -> bool:
        """False when something had to be written again, which is yet to be synced."""
        with self._writing:
            full, self._full = self._full, []
            segments = full if self._segment is None else [*full, self._segment]
            sizes = [segment.size for segment in segments]
        kept = True
        for segment, size in zip(segments, sizes, strict=True):
            try:
                if segment.folder is not None:
                    os.fsync(segment.folder)
                    _close_folder(segment)
                os.fdatasync(segment.descriptor)
            except OSError as error:
                kept = False
                with self._writing:
                    self._rescue(segment, error)
            else:
                with self._writing:
                    segment.synced = size
                    segment.unsynced = [each for each in segment.unsynced if each[0] > size]
            if segment in full:
                _close_folder(segment)
                os.close(segment.descriptor)
        return kept

    def _write(self, framed: bytes) -> None:
        segment = self._segment or self._open()
        try:
            self._write_to(segment, framed)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            log.error("Segment %s cannot be written: %s. Another is begun.", segment.id, error)
            self._leave(segment)
            segment = self._open()
            self._write_to(segment, framed)
        if segment.size >= SEGMENT_BYTES:
            self._leave(segment)

    def _write_to(self, segment: _Segment, framed: bytes) -> None:
        try:
            if os.write(segment.descriptor, framed) != len(framed):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            # What follows half a record could never be read.
            try:
                os.ftruncate(segment.descriptor, segment.size)
            except OSError:
                self._leave(segment)
            raise
        segment.size += len(framed)
        if self._sync != "process":
            segment.unsynced.append((segment.size, framed))

    def _leave(self, segment: _Segment) -> None:
        """Nothing more is appended to it."""
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
            self._syncer = threading.Thread(target=self._sync_for_ever, name="journal", daemon=True)
            self._syncer.start()
        return segment

    def _rescue(self, segment: _Segment, error: OSError) -> None:
        """The disk has refused what was appended since the last sync, and may have forgotten that it did: another
        sync of this file proves nothing (PostgreSQL learned it in 2018). So all that goes to another segment, which
        names where it stood, as it may have been counted from there.
        """
        log.error("Segment %s is not kept by the disk: %s. Its end is written to another.", segment.id, error)
        if self._segment is segment:
            self._segment = None
            self._full.append(segment)
        try:
            for end, written in segment.unsynced:
                for framed in read_frames(written, len(written)):
                    origin = Origin(segment.id, end - len(written) + framed.end)
                    self._write(rewritten(framed.payload, origin))
        except OSError as second:
            log.critical("It cannot be written to another either: %s.", second)
            return
        segment.unsynced = []
        with suppress(OSError):
            os.ftruncate(segment.descriptor, segment.synced)

    def _sync_for_ever(self) -> None:
        while True:
            self._dirty.wait()
            time.sleep(GROUP_SECONDS)
            self._dirty.clear()
            self.sync()


def _close_folder(segment: _Segment) -> None:
    if segment.folder is not None:
        os.close(segment.folder)
        segment.folder = None


def sync_folder(folder: Path) -> None:
    """Makes names that were given or taken in it last."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@cache
def journal() -> Journal:
    """That of this process."""
    return Journal(settings.CLICKS_DIR, settings.CLICK_SYNC)


os.register_at_fork(after_in_child=journal.cache_clear)
