"""The rows of a link's days: `Day` adds up the clicks of a batch, and `add_days` adds them to the tables.

A row of analytics_daytotal holds everything that most links have on a day, so that a click touches one row: the
totals, the quarters of an hour, and the values of the dimensions as one text. Each drainer adds to the rows of a slot
of its own, so that nobody else changes a row between its read and its write. Days with more values than fit into a
short text have a row for each value in analytics_busydaycount, because rewriting a long text for each batch would cost
more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from struct import Struct

from django.db import connection

from analytics.counting.tables.binary_copy import copy_rows
from analytics.counting.tables.month_counts import add_late_months
from analytics.counting.tables.salts import EPOCH, date_of
from analytics.dimensions import BEFORE_NUMBER, BETWEEN_COUNTS
from common.database import integer_array, prepared_cursor

# A longer text is replaced by rows in analytics_busydaycount.
MAX_COUNTS = 1_000
QUARTER_MICROSECONDS = 900_000_000
_QUARTERS = 96
# Binary dates count from 2000.
_DATE_OFFSET = (date(2000, 1, 1) - EPOCH).days

_READ = """
SELECT link_id, clicks, unique_clicks, quarter, quarters, counts FROM analytics_daytotal
WHERE link_id = ANY(%s::bigint[]) AND day = %s AND slot = %s
"""
_UPDATE = """
UPDATE analytics_daytotal t
SET clicks = new.clicks, unique_clicks = new.unique_clicks, quarters = new.quarters::integer[], counts = new.counts
FROM unnest(%s::bigint[], %s::integer[], %s::integer[], %s::text[], %s::text[])
    new (link_id, clicks, unique_clicks, quarters, counts)
WHERE t.link_id = new.link_id AND t.day = %s AND t.slot = %s
"""
_NEW_ROWS = "analytics_daytotal (link_id, day, slot, quarter, clicks, unique_clicks, counts, quarters)"
_NEW_ROW = Struct(">hiqiiihihiiii")
_CREATE_COUNTS = """
CREATE TEMPORARY TABLE IF NOT EXISTS batch_counts (
    link_id bigint, dimension smallint, day date, clicks bigint, is_late boolean, value text COLLATE "C"
) ON COMMIT DELETE ROWS;
DELETE FROM batch_counts
"""
_COUNT = Struct(">hiqihiiiqi?i")
_ADD_BUSY_DAYS = """
INSERT INTO analytics_busydaycount AS t (link_id, dimension, slot, day, value, clicks)
SELECT link_id, dimension, %s, day, value, clicks FROM batch_counts WHERE NOT is_late
ORDER BY link_id, dimension, day, value
ON CONFLICT (link_id, dimension, day, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""
_ADD_MONTHS = add_late_months("(SELECT * FROM batch_counts WHERE is_late) counted", "%(slot)s")
_ADD_LIFE = """
INSERT INTO analytics_lifecount AS t (link_id, dimension, slot, value, clicks)
SELECT link_id, dimension, %(slot)s, value, sum(clicks) FROM batch_counts WHERE is_late
GROUP BY link_id, dimension, value ORDER BY link_id, dimension, value
ON CONFLICT (link_id, dimension, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""


class Day:
    """The clicks of a link on a day (UTC).

    ``quarters`` has the clicks and the unique clicks of each quarter of an hour of the day that has clicks. The keys
    of ``counts`` are the digit of a dimension and one of its values.
    """

    __slots__ = ("clicks", "counts", "quarters", "unique_clicks")

    def __init__(self) -> None:
        self.clicks = 0
        self.unique_clicks = 0
        self.quarters: dict[int, list[int]] = {}
        self.counts: dict[str, int] = {}

    def add_click(self, time: int, keys: Iterable[str]) -> None:
        """Count one click at ``time``, in microseconds since 1970."""
        self.clicks += 1
        quarter = time // QUARTER_MICROSECONDS % _QUARTERS
        numbers = self.quarters.get(quarter)
        if numbers is None:
            self.quarters[quarter] = [1, 0]
        else:
            numbers[0] += 1
        counts = self.counts
        for key in keys:
            counts[key] = counts.get(key, 0) + 1

    def add_unique(self, time: int) -> None:
        """Count a click that `add_click` has counted as unique, too."""
        self.unique_clicks += 1
        self.quarters[time // QUARTER_MICROSECONDS % _QUARTERS][1] += 1


# Days by link and day since 1970.
Days = Mapping[tuple[int, int], Day]
# Clicks by link, day since 1970, and key.
Counts = Mapping[tuple[int, int, str], int]


def add_days(days: Days, others: Counts, slot: int, closed: date | None) -> None:
    """Add to the days of links in the caller's transaction, which holds the slot.

    ``others`` are counted as rows in any case. ``closed``: see `analytics.counting.tables.lifetime_counts.closed_day`.
    """
    counts = [_count(*key, number) for key, number in others.items()]
    by_day: dict[int, list[int]] = {}
    for link_id, day in sorted(days):
        by_day.setdefault(day, []).append(link_id)
    for day, links in by_day.items():
        counts += _write(day, links, days, slot)
    if closed is not None:
        last = (closed - EPOCH).days
        counts += [
            _count(link_id, number, key, clicks, is_late=True)
            for (link_id, number), day in days.items() if number <= last
            for key, clicks in day.counts.items()
        ]  # fmt: skip
        counts += [_count(*key, clicks, is_late=True) for key, clicks in others.items() if key[1] <= last]
    if counts:
        with connection.cursor() as cursor:
            cursor.execute(_CREATE_COUNTS)
            copy_rows("batch_counts", counts)
            cursor.execute(_ADD_BUSY_DAYS, [slot])
            if closed is not None:
                parameters: dict[str, int | date] = {"slot": slot, "closed": closed}
                cursor.execute(_ADD_MONTHS, parameters)
                cursor.execute(_ADD_LIFE, parameters)


def _write(number: int, links: list[int], days: Days, slot: int) -> list[bytes]:
    """Write the rows of one day, and return the counts that belong into rows of their own."""
    counts: list[bytes] = []
    new: list[bytes] = []
    changed: list[tuple[int, int, int, str | None, str | None]] = []
    day = date_of(number)
    with prepared_cursor() as cursor:
        cursor.execute(_READ, [integer_array(links), day, slot])
        rows = {row[0]: row[1:] for row in cursor.fetchall()}
        for link_id in links:
            added = days[link_id, number]
            row = rows.get(link_id)
            if row is None:
                text = _short(added.counts)
                if text is None:
                    counts += _counts(link_id, number, added.counts)
                new.append(_new_row(link_id, number, slot, added, text))
                continue
            clicks, unique_clicks, quarter, quarters, stored = row
            merged = {} if stored is None else unpack_counts(stored)
            for key, value in added.counts.items():
                merged[key] = merged.get(key, 0) + value
            text = None if stored is None else _short(merged)
            if text is None:
                counts += _counts(link_id, number, merged)
            changed.append(
                (
                    link_id,
                    clicks + added.clicks,
                    unique_clicks + added.unique_clicks,
                    _merged_quarters(quarter, quarters or [quarter, clicks, unique_clicks], added.quarters),
                    text,
                )
            )
        if changed:
            *numbers, merged_quarters, texts = zip(*changed, strict=True)
            cursor.execute(
                _UPDATE, [*map(integer_array, numbers), list(merged_quarters), list(texts), day, slot]
            )
    if new:
        copy_rows(_NEW_ROWS, new)
    return counts


def _short(counts: Mapping[str, int]) -> str | None:
    """The packed counts; None if they need rows of their own."""
    text = pack_counts(counts)
    return text if len(text) <= MAX_COUNTS else None


def pack_counts(counts: Mapping[str, int]) -> str:
    """The text in ``counts`` of analytics_daytotal. A key without a number stands for 1."""
    return BETWEEN_COUNTS.join(
        [key if number == 1 else f"{key}{BEFORE_NUMBER}{number}" for key, number in counts.items()]
    )


def unpack_counts(text: str) -> dict[str, int]:
    counts = {}
    for entry in text.split(BETWEEN_COUNTS):
        key, _, number = entry.partition(BEFORE_NUMBER)
        counts[key] = int(number or 1)
    return counts


def pack_quarters(quarters: Mapping[int, list[int]]) -> list[int] | None:
    """The numbers in ``quarters`` of analytics_daytotal; None if its other columns suffice."""
    if len(quarters) == 1:
        return None
    return [number for quarter in sorted(quarters) for number in (quarter, *quarters[quarter])]


def _merged_quarters(first: int, stored: list[int], added: Mapping[int, list[int]]) -> str | None:
    if len(added) == 1 and len(stored) == 3 and first in added:
        return None
    quarters = {stored[place]: stored[place + 1 : place + 3] for place in range(0, len(stored), 3)}
    for quarter, (clicks, unique_clicks) in added.items():
        numbers = quarters.get(quarter)
        if numbers is None:
            quarters[quarter] = [clicks, unique_clicks]
        else:
            numbers[0] += clicks
            numbers[1] += unique_clicks
    return integer_array(pack_quarters(quarters) or ())


def _new_row(link_id: int, number: int, slot: int, day: Day, counts: str | None) -> bytes:
    content = None if counts is None else counts.encode()
    row = _NEW_ROW.pack(
        8, 8, link_id, 4, number - _DATE_OFFSET, 2, slot, 2, min(day.quarters), 4, day.clicks, 4, day.unique_clicks
    ) + (b"\xff\xff\xff\xff" if content is None else len(content).to_bytes(4, "big") + content)  # fmt: skip
    quarters = pack_quarters(day.quarters)
    if quarters is None:
        return row + b"\xff\xff\xff\xff"
    size = len(quarters)
    # One dimension without nulls, of type int4, counted from 1.
    array = Struct(f">iiiii{2 * size}i").pack(1, 0, 23, size, 1, *(part for n in quarters for part in (4, n)))
    return row + len(array).to_bytes(4, "big") + array


def _counts(link_id: int, day: int, counts: Mapping[str, int]) -> list[bytes]:
    return [_count(link_id, day, key, number) for key, number in counts.items()]


def _count(link_id: int, day: int, key: str, clicks: int, *, is_late: bool = False) -> bytes:
    value = key[1:].encode()
    return (
        _COUNT.pack(
            6, 8, link_id, 2, int(key[0]), 4, day - _DATE_OFFSET, 8, clicks, 1, is_late, len(value)
        ) + value
    )  # fmt: skip
