"""Reading the journal's segments."""

from __future__ import annotations

import errno
import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from analytics.journal.records import (
    LENGTH_BYTES,
    MAX_FRAME_BYTES,
    Corrupt,
    Framed,
    begins_with_frame,
    begins_with_unfinished,
    decode,
    read_frames,
    recover,
)
from analytics.journal.writer import SUFFIX, sync_folder

DAMAGED_SUFFIX = ".damaged"
# Holds a batch of long records, and is small enough for many such buffers at once.
CHUNK_BYTES = 16 * 1024 * 1024
_ZEROS = bytes(1024 * 1024)


@dataclass(frozen=True, slots=True)
class Segment:
    id: uuid.UUID
    path: Path

    @contextmanager
    def open(self, *, to_wipe: bool = False) -> Iterator[OpenSegment | None]:
        """None if the file does not exist. ``to_wipe``: for writing, too, unless the file system is read-only."""
        try:
            descriptor, can_wipe = os.open(self.path, os.O_RDWR if to_wipe else os.O_RDONLY), to_wipe
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
            descriptor, can_wipe = os.open(self.path, os.O_RDONLY), False
        try:
            yield OpenSegment(descriptor, can_wipe)
        finally:
            os.close(descriptor)

    def delete(self) -> None:
        """Remove the file. The removal survives a crash once this returns."""
        self.path.unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def set_aside(self) -> Path:
        """Renames the file so that no reader opens it again."""
        return self.path.rename(self.path.with_suffix(DAMAGED_SUFFIX))


class Chunk(NamedTuple):
    """Part of a segment. The space from the requested offset to ``start`` is empty: its records were wiped.

    The next read starts at ``end``. ``reaches_end``: at the time of the read, ``end`` was the end of the file.
    """

    frames: list[Framed]
    start: int
    end: int
    reaches_end: bool


class FirstUncounted(NamedTuple):
    """The start of the first record that is not wiped, and its time if it can be read."""

    start: int
    time: float | None = None
    is_damaged: bool = False


@dataclass(frozen=True, slots=True)
class OpenSegment:
    descriptor: int
    can_wipe: bool = False

    @property
    def size(self) -> int:
        return os.fstat(self.descriptor).st_size

    @property
    def is_deleted(self) -> bool:
        return os.fstat(self.descriptor).st_nlink == 0

    @property
    def has_writer(self) -> bool:
        """Whether the segment may still grow. Check this before you read its size or content."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False

    def is_counted(self, offset: int) -> bool:
        """Whether ``offset`` is at the end of the file, or beyond it after the truncation of a failed sync."""
        return offset >= self.size

    def read(self, offset: int, limit: int, *, has_writer: bool) -> Chunk:
        """Read at most ``limit`` complete frames from ``offset`` on; their end offsets are relative to the file.

        Without a complete frame, the chunk is empty while the segment has a writer. Without a writer it extends to the
        end of the file: the record there stays incomplete, and its request got no response. Raises Corrupt for
        bytes that no writer can have left there, and ValueError for a limit below 1.
        """
        if limit < 1:
            raise ValueError(f"cannot read {limit} frames")
        size = self.size
        start, data = offset, os.pread(self.descriptor, CHUNK_BYTES, offset)
        if data and not any(data[:LENGTH_BYTES]):
            start = self._first_frame(offset)
            data = os.pread(self.descriptor, CHUNK_BYTES, start)
        frames = read_frames(data, limit, start)
        if frames:
            end = frames[-1].end
        elif not has_writer and recover(data.rstrip(b"\0")) is not None:
            # No record follows one that its writer left incomplete: its length is damaged.
            raise Corrupt(start)
        else:
            start, end = (offset, offset) if has_writer else (start, max(size, offset))
        return Chunk(frames, start, end, end >= size)

    def read_damaged(self, position: int, *, has_writer: bool) -> Chunk | None:
        """The record at ``position`` if only its length is damaged; otherwise an empty chunk that starts at the next
        intact record, or at the end of the file. None: the writer has appended no intact record yet.
        """
        size = self.size
        recovered = recover(os.pread(self.descriptor, max(0, size - position), position))
        if recovered is None:
            return None if has_writer else Chunk([], size, size, reaches_end=True)
        payload, length = recovered
        end = position + length
        if payload is None:
            return Chunk([], end, end, end >= size)
        return Chunk([Framed(payload, end)], position, end, end >= size)

    def first_uncounted(self, offset: int) -> FirstUncounted:
        try:
            start = self._first_frame(offset)
            for payload, _ in read_frames(os.pread(self.descriptor, MAX_FRAME_BYTES, start), 1):
                with suppress(ValueError):
                    return FirstUncounted(start, decode(payload).time / 1_000_000)
        except Corrupt as damage:
            return FirstUncounted(damage.position, is_damaged=True)
        return FirstUncounted(start)

    def _first_frame(self, offset: int) -> int:
        """The start of the first frame after zeros, or the end of the file. Raises Corrupt."""
        position = self._skip_zeros(offset)
        # The first byte of a frame's length can be zero, too.
        candidates = {
            candidate: os.pread(self.descriptor, MAX_FRAME_BYTES, candidate)
            for candidate in (position, position - 1)
            if candidate >= offset
        }
        for is_possible in (begins_with_frame, begins_with_unfinished):
            for candidate, data in candidates.items():
                if is_possible(data):
                    return candidate
        raise Corrupt(position)

    def _skip_zeros(self, offset: int) -> int:
        while chunk := os.pread(self.descriptor, len(_ZEROS), offset):
            if rest := len(chunk.lstrip(b"\0")):
                return offset + len(chunk) - rest
            offset += len(chunk)
        return offset

    def wipe(self, start: int, end: int) -> None:
        """Overwrite counted records with zeros, because they hold visitors' addresses."""
        wipe(self.descriptor, start, end)


def wipe(descriptor: int, start: int, end: int) -> None:
    while start < end:
        start += os.pwrite(descriptor, _ZEROS[: end - start], start)


def segments(folder: Path, suffix: str = SUFFIX) -> list[Segment]:
    """All segments ordered by id, which is their order of creation; those set aside have DAMAGED_SUFFIX."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(suffix))
    except FileNotFoundError:
        return []
    result = []
    for name in names:
        # A foreign file must not stop the pipeline.
        with suppress(ValueError):
            result.append(Segment(uuid.UUID(name.removesuffix(suffix)), folder / name))
    return result


def segment_path(folder: Path, segment_id: uuid.UUID) -> Path:
    return folder / f"{segment_id}{SUFFIX}"
