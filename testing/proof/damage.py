"""F19: truncated segments and segments with flipped bits, read as the pipeline reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analytics.journal.reader import OpenSegment
from analytics.journal.records import Corrupt, Record, encode, read_frames
from analytics.journal.writer import SUFFIX, Journal

CLICKS = 3


def segment_of(folder: Path) -> bytes:
    """The content of a segment with CLICKS records."""
    journal = Journal(folder / "journal", "process")
    for number in range(CLICKS):
        journal.append(encode(Record(number, number, 0, 0, "198.51.100.7", "", "Firefox/145.0" * 5, "")))
    (path,) = (folder / "journal").glob(f"*{SUFFIX}")
    return path.read_bytes()


def truncations(whole: bytes, folder: Path) -> list[str]:
    """The errors when reading the segment truncated within its last record, for each possible length."""
    payloads, ends = _frames(whole)
    errors = []
    with _file(whole, folder) as descriptor:
        for length in range(ends[-1] - 1, ends[-2] - 1, -1):
            os.ftruncate(descriptor, length)
            read, damage = _read(descriptor)
            if read != payloads[:-1] or damage is not None:
                errors.append(f"cut at {length}: {len(read)} records, damage at {damage}")
    return errors


def flips(whole: bytes, folder: Path) -> list[str]:
    """The errors when reading the segment with one flipped bit, for each bit."""
    payloads, ends = _frames(whole)
    errors = []
    with _file(whole, folder) as descriptor:
        for place, byte in enumerate(whole):
            intact = next(number for number, end in enumerate(ends[1:]) if place < end)
            for bit in range(8):
                os.pwrite(descriptor, bytes([byte ^ 1 << bit]), place)
                read, damage = _read(descriptor)
                if read != payloads[:intact] or damage != ends[intact]:
                    errors.append(f"bit {bit} of byte {place}: {len(read)} records, damage at {damage}")
            os.pwrite(descriptor, bytes([byte]), place)
    return errors


def _frames(whole: bytes) -> tuple[list[bytes], list[int]]:
    """The payloads, and the end offsets of their frames, preceded by 0."""
    frames = read_frames(whole, CLICKS)
    return [payload for payload, _ in frames], [0, *(end for _, end in frames)]


@contextmanager
def _file(content: bytes, folder: Path) -> Iterator[int]:
    path = folder / "damaged"
    path.write_bytes(content)
    descriptor = os.open(path, os.O_RDWR)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> tuple[list[bytes], int | None]:
    """All readable records, read as the pipeline reads them, and the position of damage."""
    segment = OpenSegment(descriptor)
    read: list[bytes] = []
    offset = 0
    try:
        while not segment.is_counted(offset):
            chunk = segment.read(offset, 2, has_writer=False)
            read += [payload for payload, _ in chunk.frames]
            offset = chunk.end
    except Corrupt as damage:
        return read, damage.position
    return read, None
