"""The pipeline's statements lose nothing under any query plan that PostgreSQL chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from analytics.counting import pipeline
from analytics.journal.pending import add_pending, take_pending
from analytics.journal.records import Record, encode
from analytics.journal.writer import journal
from analytics.models import Click, DeadLetter, Kind, PendingRecord
from links.models import Link
from testing.analytics.clicks import close_journal, drain
from testing.analytics.journaled import MakeLink, pk
from testing.connections import force_nested_loops

LIMIT = 40


@pytest.fixture(autouse=True)
def nested_loops(db: None) -> None:
    force_nested_loops()


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "BATCH", LIMIT)


def click(link: int, number: int) -> bytes:
    return encode(Record(1_770_000_000_000_000 + number, link, Kind.CLICK, 0, "8.8.8.8", "", "", ""))


def test_no_more_pending_records_are_taken_than_the_limit(make_link: MakeLink) -> None:
    link = pk(make_link())
    for number in range(3 * LIMIT):
        add_pending(click(link, number))
    taken = [len(take_pending(LIMIT)) for _ in range(4)]
    assert taken == [LIMIT, LIMIT, LIMIT, 0]


def test_more_pending_records_than_the_limit_lose_no_click_of_a_finished_segment(
    make_link: MakeLink, clicks_dir: Path, small_batches: None
) -> None:
    link = pk(make_link())
    for number in range(50):
        add_pending(click(link, number))
    for number in range(130):
        journal().append(click(link, number))
    close_journal()
    assert drain() == 180
    assert Link.objects.get(pk=link).counter.clicks == 180
    assert Click.objects.count() == 180
    assert PendingRecord.objects.count() == 0
    assert list(clicks_dir.glob("*.segment")) == []


def test_uncountable_record_does_not_affect_later_records(
    make_link: MakeLink, clicks_dir: Path, small_batches: None
) -> None:
    link = pk(make_link())
    PendingRecord.objects.create(record=b"x" * 60)
    for number in range(50):
        add_pending(click(link, number))
    for number in range(130):
        journal().append(click(link, number))
    close_journal()
    assert drain() == 181
    assert (Click.objects.count(), DeadLetter.objects.count()) == (180, 1)
