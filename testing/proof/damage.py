"""F19 and F21: truncated segments and segments with flipped bits, read as the pipeline reads them, and repaired."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analytics.journal.reader import OpenSegment
from analytics.journal.records import Corrupt, Record, decode, encode, read_frames
from analytics.journal.writer import SUFFIX, Journal
from testing.proof import children
from testing.proof.drainers import POINTS, drain
from testing.proof.journal_faults import CLICKS as RECORDED
from testing.proof.journal_faults import Stage, expect
from testing.proof.verdict import ADDRESS, Log, Verdict, counted_clicks, judge
from testing.proof.writers import write

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


def flipped_bits(stage: Stage, repeats: int) -> Verdict:
    """F21. The drainer sets the segments aside, and `drain_clicks --damaged` is killed while it reads on."""
    log, damaged = Log(), set()
    problems = []
    for _ in range(repeats):
        path = stage.log()
        writer = children.start(write, stage.site, stage.links, path, RECORDED, die=True)
        expect(children.end_of(writer), -signal.SIGKILL)
        log.read(path)
        (segment,) = stage.site.clicks_dir.glob(f"*{SUFFIX}")
        hit = _flip_bits(segment, stage.random)
        damaged |= hit
        # It stops at the damage. The last record looks incomplete if its length is damaged.
        children.end_of(children.start(drain, stage.site))
        if stage.random.random() < 0.5:
            # It may have nothing to do and never reach the point.
            children.end_of(
                children.start(drain, stage.site, point=stage.random.choice(POINTS), damaged=True)
            )
        before = counted_clicks(stage.site, log)
        expect(children.end_of(children.start(drain, stage.site, damaged=True)), 0)
        if repeated := before - counted_clicks(stage.site, log):
            problems.append(f"{len(repeated)} counted clicks disappeared")
    stage.drain_all()
    dropped = len((damaged & log.redirected) - counted_clicks(stage.site, log))
    verdict = judge("F21 bits flipped, then --damaged killed", repeats, stage.site, log, dropped=dropped)
    verdict.problems += problems
    return verdict


def _flip_bits(segment: Path, choices: random.Random) -> set[str]:
    """Flip up to four bits. Returns the clicks in whose records they are."""
    content = bytearray(segment.read_bytes())
    frames = read_frames(bytes(content), RECORDED)
    hit = set()
    for _ in range(choices.randint(1, 4)):
        place = choices.randrange(len(content))
        content[place] ^= 1 << choices.randrange(8)
        payload = next(payload for payload, end in frames if place < end)
        hit.add(decode(payload).referrer.removeprefix(ADDRESS))
    segment.write_bytes(content)
    return hit
