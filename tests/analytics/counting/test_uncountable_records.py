"""Records that cannot be counted, and addresses that no table contains."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client

from analytics.journal.pending import open_record
from analytics.journal.records import decode
from analytics.models import DayTotal, DeadLetter, PendingRecord
from testing.analytics.clicks import drain
from testing.analytics.journaled import AMERICAN, MakeLink, journaled, pk
from tests.analytics.counting.counted import totals


def test_no_table_contains_an_address(visitor: Client, make_link: MakeLink) -> None:
    plain, capped = make_link(), make_link(restrictions={"maxClicks": 5})
    for link in (plain, capped):
        visitor.get(f"/{link['shortCode']}", REMOTE_ADDR=AMERICAN)
    stored = [dump()]
    drain()
    stored.append(dump())

    assert ["Firefox" in text for text in stored] == [False, True]
    assert [AMERICAN in text for text in stored] == [False, False]


def dump() -> str:
    """Every row of every table, with bytes decoded as text."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
        rows = []
        for (name,) in cursor.fetchall():
            cursor.execute(f'SELECT * FROM "{name}"')
            rows += [
                str(bytes(value) if isinstance(value, memoryview) else value)
                for row in cursor
                for value in row
            ]
    return "\n".join(rows)


def test_uncountable_records_become_dead_letters(make_link: MakeLink) -> None:
    link = pk(make_link())
    for _ in range(3):
        journaled(link, count=400)
        journaled(link, reason="\0")
    assert drain() == 1203

    assert totals() == [(1200, 1)]
    letters = DeadLetter.objects.order_by("id")
    assert [decode(open_record(letter.record)).reason for letter in letters] == ["\0"] * 3
    assert not any(AMERICAN.encode() in bytes(letter.record) for letter in letters)


@pytest.mark.parametrize("time", [-(2**62), 0, 2**62])
def test_impossible_time_counts_today(make_link: MakeLink, time: int) -> None:
    journaled(pk(make_link()), moment=None, time=time)
    assert drain() == 1

    assert totals() == [(1, 1)]
    assert list(DayTotal.objects.values_list("day", flat=True)) == [datetime.now(UTC).date()]
    assert DeadLetter.objects.count() == 0


def test_undecryptable_pending_record_becomes_a_dead_letter(
    make_link: MakeLink, caplog: pytest.LogCaptureFixture
) -> None:
    PendingRecord.objects.create(record=b"x" * 60)
    journaled(pk(make_link()))
    assert drain() == 2
    assert totals() == [(1, 1)]
    assert [bytes(letter.record) for letter in DeadLetter.objects.all()] == [b"x" * 60]
    assert caplog.text.count("A record could not be counted; stored as a dead letter: ") == 1
