"""The rows of days and the blocks of visitors have the figures of a plain count, whatever the batches are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from unittest import mock

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from analytics.counting import day_visitors, days
from analytics.counting.day_visitors import date_of
from analytics.counting.enrichment import DAY_MICROSECONDS, Facts
from analytics.counting.raw_clicks import ClickTexts
from analytics.counting.rollups import add_to_tables
from analytics.models import Dimension, Kind, VisitorBlock
from testing.analytics.journaled import MakeLink, pk

FIRST_DAY = 20_000
QUARTER = 900_000_000
SLOTS = (0, 1)
# Values that resemble the format in which they are stored, and long ones.
VALUES = ["DE", "D", "1", "", "2 DE", "a\tb", "é\\", '"{},', "x" * 40]
HASHES = st.one_of(
    st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1]), st.integers(-(2**63), 2**63 - 1)
)

clicks = st.builds(
    lambda link, day, quarter, offset, visitor, kind, values: (link, day, quarter, offset, visitor, kind, values),
    st.integers(0, 1), st.integers(0, 1), st.sampled_from([0, 1, 95]), st.integers(0, QUARTER - 1),
    st.none() | HASHES, st.sampled_from([Kind.CLICK] * 4 + [Kind.HEAD]),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=4, unique=True),
)  # fmt: skip
batches = st.lists(st.tuples(st.sampled_from(SLOTS), st.lists(clicks, min_size=1, max_size=12)), max_size=6)


@pytest.fixture
def links(make_link: MakeLink) -> list[int]:
    return [pk(make_link()), pk(make_link())]


def facts(links: list[int], drawn: tuple[Any, ...]) -> Facts:
    link, day, quarter, offset, visitor, kind, values = drawn
    return Facts(
        time=(FIRST_DAY + day) * DAY_MICROSECONDS + quarter * QUARTER + offset, link_id=links[link], kind=kind,
        counted=False, reason="", client=values[0], place="DE unknown", referrer="", visitor=visitor,
        scanned=False, branch_number=0,
        keys=tuple(f"{1 + place}{value}" for place, value in enumerate(values)),
    )  # fmt: skip


def stored(sql: str) -> dict[tuple[Any, ...], tuple[int, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return {tuple(row[:-2]): tuple(map(int, row[-2:])) for row in cursor.fetchall() if any(row[-2:])}


class Oracle:
    """Counts one click after the other."""

    def __init__(self) -> None:
        self.visitors: set[tuple[int, int, int]] = set()
        self.days: Counter[tuple[Any, ...]] = Counter()
        self.unique_days: Counter[tuple[Any, ...]] = Counter()
        self.quarters: Counter[tuple[Any, ...]] = Counter()
        self.unique_quarters: Counter[tuple[Any, ...]] = Counter()
        self.values: Counter[tuple[Any, ...]] = Counter()

    def count(self, batch: Iterable[Facts]) -> None:
        # The quarter of an hour of a unique click is that of the visitor's earliest one in the batch.
        for one in sorted(batch, key=lambda one: one.time):
            day = date_of(one.time // DAY_MICROSECONDS)
            if one.kind != Kind.CLICK:
                self.values[one.link_id, day, int(Dimension.OUTCOME), "head"] += 1
                continue
            quarter = one.time // QUARTER
            self.days[one.link_id, day] += 1
            self.quarters[one.link_id, quarter] += 1
            for key in one.keys:
                self.values[one.link_id, day, int(key[0]), key[1:]] += 1
            visitor = (one.link_id, one.time // DAY_MICROSECONDS, one.visitor)
            if one.visitor is not None and visitor not in self.visitors:
                self.visitors.add(visitor)
                self.unique_days[one.link_id, day] += 1
                self.unique_quarters[one.link_id, quarter] += 1


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=batches,
    most_hashes=st.integers(2, 5),
    longest=st.sampled_from([0, 20, 60, 1_000]),
    appended=st.sampled_from([0, 20, 1_000]),
)
@example(
    batches=[(0, [(0, 0, 0, 0, n, Kind.CLICK, ["DE"]) for n in range(40, 0, -1)])] * 2,
    most_hashes=2,
    longest=0,
    appended=0,
)
def test_rows_and_blocks_have_the_figures_of_a_plain_count(
    links: list[int],
    batches: list[tuple[int, list[Any]]],
    most_hashes: int,
    longest: int,
    appended: int,
) -> None:
    oracle, texts = Oracle(), ClickTexts()
    with (
        mock.patch.object(day_visitors, "MAX_HASHES", most_hashes),
        mock.patch.object(days, "MAX_COUNTS", longest),
        mock.patch.object(days, "LONGEST_COUNTS", longest + appended),
        mock.patch.object(days, "LONGEST_QUARTERS", appended),
        transaction.atomic(),
    ):
        for slot, drawn in batches:
            batch = [facts(links, one) for one in drawn]
            add_to_tables(batch, slot, texts)
            oracle.count(batch)
        assert stored(
            "SELECT link_id, day, sum(clicks), sum(unique_clicks) FROM analytics_daytotal GROUP BY 1, 2"
        ) == {key: (number, oracle.unique_days[key]) for key, number in oracle.days.items()}
        assert stored(
            "SELECT link_id, extract(epoch FROM start)::bigint / 900, sum(clicks), sum(unique_clicks)"
            " FROM analytics_quartertotal GROUP BY 1, 2"
        ) == {key: (number, oracle.unique_quarters[key]) for key, number in oracle.quarters.items()}
        assert stored(
            "SELECT link_id, day, dimension, value, sum(clicks), 0 FROM analytics_daycount GROUP BY 1, 2, 3, 4"
        ) == {key: (number, 0) for key, number in oracle.values.items()}
        assert_blocks(oracle.visitors, most_hashes)
        transaction.set_rollback(True)


def assert_blocks(visitors: set[tuple[int, int, int]], most: int) -> None:
    """Every hash is in the block of its range, and no block is too large."""
    found = []
    blocks = list(VisitorBlock.objects.order_by("link_id", "day", "first"))
    numbers = Counter((block.link_id, block.day) for block in blocks)
    for place, block in enumerate(blocks):
        following = blocks[place + 1] if place + 1 < len(blocks) else None
        day = (block.day - date_of(0)).days
        content = bytes(block.hashes)
        hashes = [
            int.from_bytes(content[at : at + 8], "little", signed=True) for at in range(0, len(content), 8)
        ]
        found += [(block.link_id, day, value) for value in hashes]
        is_last = following is None or (following.link_id, following.day) != (block.link_id, block.day)
        assert len(hashes) <= most
        assert all(value >= block.first for value in hashes)
        assert is_last or all(value < following.first for value in hashes)
        if block.first == day_visitors.LOWEST:
            assert block.blocks == numbers[block.link_id, block.day]
    assert sorted(found) == sorted(visitors)
