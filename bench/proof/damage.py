"""F19: segments that were cut off or whose bits have flipped, as the pipeline reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLICKS = 3


def segment_of(folder: Path) -> bytes:
    """The content of a segment with some records."""
    from analytics.journal import SUFFIX, Journal  # noqa: PLC0415 # see Site.enter
    from analytics.records import Record, encode  # noqa: PLC0415

    journal = Journal(folder / "journal", "process")
    for number in range(CLICKS):
        journal.append(encode(Record(number, number, 0, 0, "198.51.100.7", "", "Firefox/145.0" * 5, "")))
    (path,) = (folder / "journal").glob(f"*{SUFFIX}")
    return path.read_bytes()


def truncations(whole: bytes, folder: Path) -> list[str]:
    """What is wrong with how a segment is read whose end is missing, for each length that it can have."""
    payloads, ends = _frames(whole)
    wrong = []
    with _file(whole, folder) as descriptor:
        for length in range(ends[-1] - 1, ends[-2] - 1, -1):
            os.ftruncate(descriptor, length)
            read, damage = _read(descriptor)
            if read != payloads[:-1] or damage is not None:
                wrong.append(f"cut at {length}: {len(read)} records, damage at {damage}")
    return wrong


def flips(whole: bytes, folder: Path) -> list[str]:
    """What is wrong with how a segment is read in which one bit is not what was written, for each bit."""
    payloads, ends = _frames(whole)
    wrong = []
    with _file(whole, folder) as descriptor:
        for place, byte in enumerate(whole):
            intact = next(number for number, end in enumerate(ends[1:]) if place < end)
            for bit in range(8):
                os.pwrite(descriptor, bytes([byte ^ 1 << bit]), place)
                read, damage = _read(descriptor)
                if read != payloads[:intact] or damage != ends[intact]:
                    wrong.append(f"bit {bit} of byte {place}: {len(read)} records, damage at {damage}")
            os.pwrite(descriptor, bytes([byte]), place)
    return wrong


def _frames(whole: bytes) -> tuple[list[bytes], list[int]]:
    """The payloads, and where their frames end, from 0 on."""
    from analytics.records import read_frames  # noqa: PLC0415

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
    """All records that can be read, as the pipeline reads them, and where it found damage."""
    from analytics.records import Corrupt  # noqa: PLC0415
    from analytics.segments import OpenSegment  # noqa: PLC0415

    read: list[bytes] = []
    offset = 0
    try:
        while frames := OpenSegment(descriptor).read(offset, 2):
            read += [payload for payload, _ in frames]
            offset = frames[-1].end
    except Corrupt as damage:
        return read, damage.position
    return read, None
