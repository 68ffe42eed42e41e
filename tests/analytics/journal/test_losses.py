"""Losses: after a restore, journal space that was wiped but not counted is reported to the byte."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from analytics.counting.audit import differences, losses
from analytics.counting.segments import (
    KEPT_DAYS,
    PREFIX,
    database_date,
    finished_segments,
    lost_bytes,
    note_finished,
    record_losses_of_deleted,
)
from analytics.journal.reader import segments
from analytics.journal.records import Record, encode, frame
from analytics.journal.writer import journal
from analytics.models import DeadLetter, JournalLoss, Kind, Segment
from links.models import Link
from testing.analytics.clicks import close_journal, drain

MakeLink = Callable[..., dict[str, Any]]


@pytest.fixture
def link(make_link: MakeLink) -> Link:
    return Link.objects.get(public_id=make_link()["_id"])


def append(link: Link, count: int, *, reason: str = "") -> int:
    """The size of these clicks in the journal, in bytes."""
    size = 0
    for _ in range(count):
        payload = encode(
            Record(time.time_ns() // 1000, link.pk, Kind.CLICK, 0, "8.8.8.8", reason, "Firefox", "")
        )
        journal().append(payload)
        size += len(frame(payload))
    return size


def clicks(link: Link) -> int:
    link.counter.refresh_from_db()
    return link.counter.clicks


def test_wiped_clicks_are_reported_and_later_ones_counted(link: Link, clicks_dir: Path) -> None:
    append(link, 2)
    drain()
    dump = transaction.savepoint()
    lost = append(link, 3)
    drain()
    transaction.savepoint_rollback(dump)
    append(link, 4)
    assert (drain(), clicks(link), lost_bytes()) == (4, 6, lost)
    [segment] = segments(clicks_dir)
    [loss] = JournalLoss.objects.all()
    assert list(losses()) == [
        f"segment {segment.id}: {lost} bytes of clicks are lost, between byte {loss.start} and {loss.end}"
    ]
    assert (loss.end - loss.start, list(differences())) == (lost, [])


def test_batch_that_is_rolled_back_and_repeated_logs_a_loss_once(
    link: Link,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[list[Any]]],
) -> None:
    dump = transaction.savepoint()
    lost = append(link, 3)
    drain()
    transaction.savepoint_rollback(dump)
    append(link, 1)
    append(link, 1, reason="\0")

    with django_capture_on_commit_callbacks(execute=True):
        assert drain() == 2

    messages = [record.getMessage() for record in caplog.records if record.name.endswith(".segments")]
    assert [message.split(" of ")[0] for message in messages] == [f"{lost} bytes"]
    assert (clicks(link), lost_bytes(), DeadLetter.objects.count()) == (1, lost, 1)


def test_clicks_of_a_deleted_segment_are_reported(link: Link, clicks_dir: Path) -> None:
    kept = append(link, 2)
    drain()
    dump = transaction.savepoint()
    lost = append(link, 3)
    close_journal()
    drain()
    assert segments(clicks_dir) == []
    transaction.savepoint_rollback(dump)
    # Repeated drains report the loss only once.
    assert [drain(), drain(), clicks(link), lost_bytes()] == [0, 0, 2, lost]
    [row] = Segment.objects.all()
    assert (row.offset, row.finished_at is not None) == (kept + lost, True)


def test_deleted_segment_without_a_row_is_lost_completely(link: Link) -> None:
    dump = transaction.savepoint()
    lost = append(link, 3)
    close_journal()
    drain()
    transaction.savepoint_rollback(dump)
    assert [drain(), clicks(link), lost_bytes()] == [0, 0, lost]


def test_garbage_after_wiped_space_is_damage(link: Link, clicks_dir: Path) -> None:
    append(link, 2)
    [segment] = segments(clicks_dir)
    content = segment.path.read_bytes()
    close_journal()
    segment.path.write_bytes(bytes(100) + b"garbage" + content)
    assert (drain(), lost_bytes()) == (0, 0)
    assert [path.suffix for path in clicks_dir.iterdir()] == [".damaged"]


def test_log_of_deleted_segments_expires_and_ignores_truncated_lines(db: None, clicks_dir: Path) -> None:
    assert KEPT_DAYS == 5
    clicks_dir.mkdir()
    today = database_date()
    old = clicks_dir / f"{PREFIX}{today - timedelta(days=KEPT_DAYS + 1)}"
    old.write_text("01890000-0000-7000-8000-000000000000 9\n")
    (clicks_dir / f"{PREFIX}{today - timedelta(days=KEPT_DAYS)}").write_text(
        "01890000-0000-7000-8000-000000000001 7\n01890000-00"
    )
    assert {str(name): size for name, size in finished_segments(clicks_dir).items()} == {
        "01890000-0000-7000-8000-000000000001": 7
    }
    assert not old.exists()


def test_log_with_a_future_date_is_no_loss(db: None, clicks_dir: Path) -> None:
    clicks_dir.mkdir()
    future = clicks_dir / f"{PREFIX}9999-01-01"
    future.write_text("01890000-0000-7000-8000-000000000000 9\n")

    record_losses_of_deleted(clicks_dir)

    assert lost_bytes() == 0
    assert not future.exists()


def test_log_of_deleted_segments_has_the_date_of_the_database(db: None, clicks_dir: Path) -> None:
    clicks_dir.mkdir()
    segment = uuid.UUID("01890000-0000-7000-8000-000000000000")

    note_finished(clicks_dir, {segment: 9})

    assert [path.name for path in clicks_dir.iterdir()] == [f"{PREFIX}{database_date()}"]
    assert finished_segments(clicks_dir) == {segment: 9}
