"""Damaged segments: `drain_clicks --damaged` counts every intact record once, and prints what it skips."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from analytics.counting.audit import damaged_segments, differences, losses
from analytics.counting.pipeline import Drainer
from analytics.journal.backlog import backlog
from analytics.journal.reader import OpenSegment, segments
from analytics.journal.records import Corrupt, Record, encode, frame
from analytics.journal.writer import SUFFIX
from analytics.models import Click
from common.ids import new_public_id
from testing.analytics.clicks import close_journal, drain
from testing.analytics.journaled import MakeLink, journaled, pk

LENGTHS, HEADER = 4, 8
TIME = 1_700_000_000_000_000
_NAMES = re.compile(r"https://example\.com/\d+")
# All examples share the fixture's link; each example's writes are rolled back.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def record(number: int, link: int = 1, agent: str = "Firefox") -> bytes:
    referrer = f"https://example.com/{number}"
    return frame(encode(Record(TIME + number, link, 0, 0, "198.51.100.7", "", agent, referrer)))


class Damaged:
    """A segment with these frames, and what was done to it."""

    def __init__(self, frames: list[bytes]) -> None:
        self.frames = frames
        self.content = bytearray(b"".join(frames))
        self.starts = [sum(map(len, frames[:number])) for number in range(len(frames))]

    def flip(self, bit: int) -> None:
        self.content[bit // 8 % len(self.content)] ^= 1 << bit % 8

    def empty(self, start: int, size: int) -> None:
        start %= len(self.content)
        end = min(start + size, len(self.content))
        self.content[start:end] = bytes(end - start)

    def _content_of(self, number: int) -> bytes:
        start = self.starts[number]
        return bytes(self.content[start : start + len(self.frames[number])])

    def intact(self) -> list[int]:
        return [number for number, frame in enumerate(self.frames) if self._content_of(number) == frame]

    def recoverable(self) -> set[int]:
        """Include frames of which only the length, or only its complement, is damaged."""
        return {
            number
            for number, frame in enumerate(self.frames)
            if (found := self._content_of(number))[LENGTHS:] == frame[LENGTHS:]
            and frame[:LENGTHS] in (found[:2] + frame[2:LENGTHS], frame[:2] + found[2:LENGTHS])
        }


def read_all(content: bytes) -> list[bytes]:
    """The frames of a segment without a writer, read as the drainer does, three at a time."""
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(content)
        segment, offset, payloads = OpenSegment(file.fileno()), 0, []
        while not segment.is_counted(offset):
            try:
                chunk = segment.read(offset, 3, has_writer=False)
            except Corrupt as damage:
                found = segment.read_damaged(damage.position, has_writer=False)
                assert found is not None
                chunk = found
            assert chunk.end > offset
            payloads += [frame(payload) for payload, _ in chunk.frames]
            offset = chunk.end
    return payloads


agents = st.text(max_size=40)
flips = st.lists(st.integers(0, 1 << 16), max_size=12)
holes = st.lists(st.tuples(st.integers(0, 1 << 13), st.integers(1, 300)), max_size=2)


@settings(untimed, max_examples=150)
@given(texts=st.lists(agents, min_size=1, max_size=12), flips=flips, holes=holes)
def test_every_intact_record_is_read_once_whatever_is_damaged(
    texts: list[str], flips: list[int], holes: list[tuple[int, int]]
) -> None:
    damaged = Damaged([record(number, agent=agent) for number, agent in enumerate(texts)])
    for bit in flips:
        damaged.flip(bit)
    for start, size in holes:
        damaged.empty(start, size)
    read = [damaged.frames.index(frame) for frame in read_all(bytes(damaged.content))]
    assert read == sorted(set(read))
    assert {*damaged.intact()} <= {*read} <= damaged.recoverable()


def test_one_flipped_bit_loses_at_most_the_record_that_it_hits() -> None:
    frames = [record(number) for number in range(3)]
    for bit in range(8 * sum(map(len, frames))):
        damaged = Damaged(frames)
        damaged.flip(bit)
        expected = [frames[number] for number in sorted(damaged.recoverable())]
        assert read_all(bytes(damaged.content)) == expected
        assert len(expected) == 3 - (bit // 8 - damaged.starts[_hit(damaged, bit)] >= LENGTHS)


def _hit(damaged: Damaged, bit: int) -> int:
    return max(number for number, start in enumerate(damaged.starts) if start <= bit // 8)


def test_no_flipped_bit_counts_a_record_that_a_visitor_wrote_into_another() -> None:
    forged = record(7, link=666)
    # No header of a request has these bytes, but a record could.
    host = Record(TIME, 1, 0, 0, "198.51.100.7", "", "", "")
    payload = encode(host) + forged
    frames = [record(0), frame(payload), record(1)]
    start = len(frames[0])
    for bit in range(8 * start, 8 * (start + len(frames[1]))):
        damaged = Damaged(frames)
        damaged.flip(bit)
        assert forged not in read_all(bytes(damaged.content))


# With the database


@pytest.fixture
def link(make_link: MakeLink) -> int:
    return pk(make_link())


def write_segment(folder: Path, content: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{new_public_id()}{SUFFIX}"
    path.write_bytes(content)
    return path


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.suffix in (SUFFIX, ".damaged")]


def drain_damaged() -> str:
    output = StringIO()
    call_command("drain_clicks", damaged=True, stdout=output)
    return output.getvalue()


def counted() -> Counter[str]:
    return Counter(Click.objects.values_list("referrer", flat=True))


@settings(untimed, max_examples=15)
@given(positions=st.lists(st.integers(0, 1 << 16), min_size=1, max_size=8), number=st.integers(1, 12))
@example(positions=[8 * 200], number=6)
def test_every_intact_click_is_counted_once(link: int, positions: list[int], number: int) -> None:
    damaged = Damaged([record(click, link) for click in range(number)])
    for bit in positions:
        damaged.flip(bit)
    with tempfile.TemporaryDirectory() as name, transaction.atomic():
        folder = Path(name)
        write_segment(folder, bytes(damaged.content))
        drainer = Drainer(folder)
        while drainer.drain_batch():
            pass
        repairing = Drainer(folder, skips_damage=True)
        while repairing.drain_batch():
            pass
        clicks = counted()
        assert {f"https://example.com/{click}" for click in damaged.intact()} <= {*clicks}
        assert {*clicks} <= {f"https://example.com/{click}" for click in damaged.recoverable()}
        assert {*clicks.values()} <= {1}
        skipped = sum(end - start for _, start, end in repairing.take_skipped())
        assert skipped == sum(map(len, damaged.frames)) - sum(
            len(damaged.frames[int(address.rpartition("/")[2])]) for address in clicks
        )
        assert left_in(folder) == []
        assert list(differences()) == []
        transaction.set_rollback(True)


@pytest.mark.django_db(transaction=True)
def test_the_command_prints_what_it_skips_and_the_audit_names_it(
    link: int, clicks_dir: Path, settings: Settings
) -> None:
    damaged = Damaged([record(number, link) for number in range(5)])
    size = len(damaged.frames[0])
    damaged.flip(8 * (size + 20))
    segment = write_segment(clicks_dir, bytes(damaged.content))
    with pytest.raises(CommandError):
        call_command("drain_clicks", once=True)
    assert (len(counted()), backlog(clicks_dir).damaged) == (1, 1)
    aside = segment.with_suffix(".damaged")
    assert list(damaged_segments(clicks_dir)) == [
        f"segment {segment.stem}: damaged; {4 * size} bytes from byte {size} on are not counted."
        f" `manage.py drain_clicks --damaged` counts what is intact of {aside}"
    ]
    output = StringIO()
    call_command("audit_counters", stdout=output)
    assert output.getvalue().splitlines() == [*damaged_segments(clicks_dir), "0 differences."]

    assert drain_damaged().splitlines() == [
        f"{aside}: skipped {size} damaged bytes, from byte {size} to {2 * size}",
        "3 records counted.",
    ]
    assert len(counted()) == 4
    assert backlog(clicks_dir).damaged == 0
    assert list(damaged_segments(clicks_dir)) == []
    assert list(losses()) == [
        f"segment {segment.stem}: {size} bytes of clicks are lost, between byte {size} and {2 * size}"
    ]
    assert drain_damaged() == "0 records counted.\n"


def test_damage_in_the_segment_of_a_running_writer_is_skipped_and_later_clicks_are_counted(
    link: int, clicks_dir: Path
) -> None:
    drainer = Drainer(clicks_dir)
    journaled(link, count=5)
    (segment,) = segments(clicks_dir)
    size = segment.path.stat().st_size // 5
    _flip(segment.path, size + 20)
    assert (drainer.drain_batch(), drainer.drain_batch()) == (1, 0)
    assert backlog(clicks_dir).damaged == 1
    journaled(link, count=2)
    assert drainer.drain_batch() == 0
    assert drain_damaged().splitlines() == [
        f"{segment.path}: skipped {size} damaged bytes, from byte {size} to {2 * size}",
        "5 records counted.",
    ]
    assert backlog(clicks_dir).damaged == 0
    journaled(link, count=3)
    assert (drainer.drain_batch(), drainer.drain_batch()) == (3, 0)
    close_journal()
    assert drain() == 0
    assert left_in(clicks_dir) == []
    assert Click.objects.count() == 9


def test_damage_at_the_end_of_a_running_writer_waits_for_its_next_record(link: int, clicks_dir: Path) -> None:
    journaled(link, count=2)
    (segment,) = segments(clicks_dir)
    size = segment.path.stat().st_size // 2
    # Both lengths of the last record.
    for place in (size, size + 3):
        _flip(segment.path, place)
    with pytest.raises(CommandError):
        drain_damaged()
    assert Click.objects.count() == 1
    journaled(link, count=1)
    assert drain_damaged().splitlines()[-1] == "1 records counted."


def test_damage_that_is_read_well_again_loses_nothing(link: int, clicks_dir: Path) -> None:
    """The memory had an error, not the disk."""
    journaled(link, count=3)
    (segment,) = segments(clicks_dir)
    size = segment.path.stat().st_size // 3
    _flip(segment.path, size + 20)
    close_journal()
    with pytest.raises(CommandError):
        call_command("drain_clicks", once=True)
    _flip(segment.path.with_suffix(".damaged"), size + 20)
    assert drain_damaged() == "2 records counted.\n"
    assert (Click.objects.count(), list(losses())) == (3, [])


def _flip(path: Path, place: int) -> None:
    descriptor = os.open(path, os.O_RDWR)
    (byte,) = os.pread(descriptor, 1, place)
    os.pwrite(descriptor, bytes([byte ^ 1]), place)
    os.close(descriptor)
