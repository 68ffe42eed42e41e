"""The journal's segments as their reader sees them."""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from analytics.journal import SUFFIX, sync_folder
from analytics.records import MAX_FRAME_BYTES, Corrupt, Framed, decode, read_frames

DAMAGED_SUFFIX = ".damaged"
# Enough for a batch of long records, and little enough to be held many times.
CHUNK_BYTES = 16 * 1024 * 1024
_ZEROS = bytes(1024 * 1024)


@dataclass(frozen=True, slots=True)
class Segment:
    id: uuid.UUID
    path: Path

    @contextmanager
    def open(self) -> Iterator[OpenSegment | None]:
        """None if it is gone."""
        try:
            descriptor = os.open(self.path, os.O_RDWR)
        except FileNotFoundError:
            yield None
            return
        try:
            yield OpenSegment(descriptor)
        finally:
            os.close(descriptor)

    def delete(self) -> None:
        """For good, even if the machine fails now."""
        self.path.unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def set_aside(self) -> Path:
        """No reader sees it again."""
        return self.path.rename(self.path.with_suffix(DAMAGED_SUFFIX))


@dataclass(frozen=True, slots=True)
class OpenSegment:
    descriptor: int

    @property
    def size(self) -> int:
        return os.fstat(self.descriptor).st_size

    @property
    def is_deleted(self) -> bool:
        return os.fstat(self.descriptor).st_nlink == 0

    @property
    def has_writer(self) -> bool:
        """Whether it may still grow. To be asked before reading: then what was read is all there is."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False

    def read(self, offset: int, limit: int) -> list[Framed]:
        """Whole frames from ``offset`` on, with their ends counted from the beginning. Raises Corrupt."""
        try:
            frames = read_frames(os.pread(self.descriptor, CHUNK_BYTES, offset), limit)
        except Corrupt as damage:
            raise Corrupt(offset + damage.position) from None
        return [Framed(payload, offset + end) for payload, end in frames]

    def first_waiting(self, offset: int) -> tuple[int, float | None]:
        """Where what has not been overwritten begins, from ``offset`` on, and when the record there was written."""
        start = self._skip_zeros(offset)
        # The first byte of a length may be zero, too.
        for place in (start, max(offset, start - 1)):
            with suppress(Corrupt, ValueError):
                for payload, _ in read_frames(os.pread(self.descriptor, MAX_FRAME_BYTES, place), 1):
                    return place, decode(payload).time / 1_000_000
        return start, None

    def _skip_zeros(self, offset: int) -> int:
        while chunk := os.pread(self.descriptor, len(_ZEROS), offset):
            if rest := len(chunk.lstrip(b"\0")):
                return offset + len(chunk) - rest
            offset += len(chunk)
        return offset

    def wipe(self, start: int, end: int) -> None:
        """What has been counted is overwritten, as it holds the addresses of visitors."""
        while start < end:
            start += os.pwrite(self.descriptor, _ZEROS[: end - start], start)


def segments(folder: Path) -> list[Segment]:
    """All there are, in the order of their ids, which is that of their beginnings."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(SUFFIX))
    except FileNotFoundError:
        return []
    return [Segment(uuid.UUID(name.removesuffix(SUFFIX)), folder / name) for name in names]


def segment_path(folder: Path, segment_id: uuid.UUID) -> Path:
    return folder / f"{segment_id}{SUFFIX}"
