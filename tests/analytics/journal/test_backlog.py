from __future__ import annotations

import os
from pathlib import Path

import pytest

from analytics.journal.backlog import backlog, backlog_without_database
from analytics.journal.reader import segments
from analytics.journal.records import Record, encode, frame
from analytics.journal.writer import journal
from analytics.models import Kind, Segment


def journaled(seconds: float, **fields: str) -> int:
    """Append a record of that time and return its length in the journal."""
    payload = encode(
        Record(int(seconds * 1_000_000), 1, Kind.CLICK, 0, "192.0.2.1", "", "", "")._replace(**fields)
    )
    journal().append(payload)
    return len(frame(payload))


def test_empty_journal_has_no_backlog(clicks_dir: Path, db: None) -> None:
    assert backlog(clicks_dir) == backlog_without_database(clicks_dir) == (0, 0, None)


def test_counted_records_leave_the_backlog(clicks_dir: Path, db: None) -> None:
    lengths = [journaled(1000), journaled(2000), journaled(3000)]
    (segment,) = segments(clicks_dir)
    assert backlog(clicks_dir) == (sum(lengths), 0, 1000)
    Segment.objects.create(id=segment.id, offset=lengths[0])
    assert backlog(clicks_dir) == (sum(lengths[1:]), 0, 2000)
    # Counted, but not wiped yet.
    assert backlog_without_database(clicks_dir) == (sum(lengths), 0, 1000)
    Segment.objects.update(offset=sum(lengths))
    assert backlog(clicks_dir) == (0, 0, None)
    # A writer truncates what it could not sync, which a drainer may have counted already.
    os.truncate(segment.path, lengths[0])
    assert backlog(clicks_dir) == (0, 0, None)


def test_oldest_record_of_all_segments_is_reported(clicks_dir: Path) -> None:
    lengths = []
    for moment in (3000, 1000, 2000):
        lengths.append(journaled(moment))
        journal.cache_clear()
    assert backlog_without_database(clicks_dir) == (sum(lengths), 0, 1000)


@pytest.mark.parametrize("agent", ["", *("x" * length for length in range(200, 240)), "x" * 60_000])
def test_wiped_space_of_any_length_is_not_backlog(agent: str, clicks_dir: Path) -> None:
    first = journaled(1000.5)
    second = journaled(2000.25, user_agent=agent)
    (segment,) = segments(clicks_dir)
    with segment.open(to_wipe=True) as file:
        assert file is not None
        file.wipe(0, first)
        assert backlog_without_database(clicks_dir) == (second, 0, 2000.25)
        file.wipe(first, first + second)
        assert backlog_without_database(clicks_dir) == (0, 0, None)


def test_incomplete_and_damaged_records_are_backlog_without_an_age(clicks_dir: Path) -> None:
    journaled(1000)
    (segment,) = segments(clicks_dir)
    for content, damaged in ((b"\x30\x00\xcf\xff", 0), (b"\x01" * 100, 1)):
        segment.path.write_bytes(content)
        assert backlog_without_database(clicks_dir) == (len(content), damaged, None)
    os.truncate(segment.path, 0)
