"""The rows of a link's days: `Day` adds up the clicks of a batch, and `add_days` adds them to the tables.

A row of analytics_daytotal holds everything that most links have on a day, so that a click touches one row: the
totals, the quarters of an hour, and the values of the dimensions as one text. Days with more values than fit into a
short text have a row for each value in analytics_busydaycount, because rewriting a long text for each batch would cost
more. A batch adds to the text and to the quarters without reading them: they can have several numbers of a value or of
a quarter, which readers add up, until they are long and `_add_up` does.

Each drainer adds to the rows of a slot of its own, so that none waits for another, and nobody else changes a row
between its read and its write. Readers add the slots up. A single drainer always writes slot 0, so a sum has more rows
only if several drainers counted at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from struct import Struct
from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper

from analytics.counting.closed_days import add_late_months
from analytics.counting.day_visitors import DATE_OFFSET, EPOCH, date_of
from analytics.counting.enrichment import Facts
from analytics.dimensions import BEFORE_NUMBER, BETWEEN_COUNTS
from common.database import PLAN_BY_KEY, PLAN_BY_LINK, copy_rows, integer_array, prepared_cursor, text_array
from links.clicks import COUNTING_LOCK

SLOTS = 8
# Marks the clicks that another service counted. No drainer uses it; see `analytics.counting.imported_days`.
IMPORTED = -1
_LOCK = 5_823_143
# A batch that waits to be counted has no slot yet, for which others may wait.
_CHOOSE = f"""
SELECT slot, {PLAN_BY_KEY} FROM generate_series(0, {SLOTS - 1}) slot
WHERE (SELECT pg_advisory_xact_lock_shared({COUNTING_LOCK})) IS NOT NULL
AND pg_try_advisory_xact_lock({_LOCK}, slot) LIMIT 1
"""  # noqa: S608 # built from constants
_TAKE_ALL = f"SELECT pg_advisory_xact_lock({_LOCK}, slot) FROM generate_series(0, {SLOTS - 1}) slot"  # noqa: S608 # built from constants
_WAIT = f"""
WITH slot AS MATERIALIZED (SELECT pg_backend_pid() % {SLOTS} AS number)
SELECT number, {PLAN_BY_KEY} FROM slot, pg_advisory_xact_lock({_LOCK}, number)
"""  # noqa: S608 # built from constants


def take_all_slots() -> None:
    """Wait until no batch of clicks is open, and let none begin until the caller's transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_ALL)


def choose_slot() -> int:
    """The first slot that no other transaction has chosen. The caller's transaction keeps it until its end, and from
    here on, the server looks rows up by their keys.

    If more transactions than SLOTS run at the same time, some wait for each other: a slot never has two.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_CHOOSE)
        slots = cursor.fetchall()
        if not slots:
            cursor.execute(_WAIT)
            slots = cursor.fetchall()
    return int(slots[0][0])


# If the values of a day are a longer text, rows in analytics_busydaycount replace it.
MAX_COUNTS = 1_000
# Longer ones may have several numbers of a value or of a quarter of an hour, which are then added up.
LONGEST_COUNTS = 1_500
LONGEST_QUARTERS = 3 * 100
QUARTER_MICROSECONDS = 900_000_000
_QUARTERS = 96

# Adds to the packed values and quarters, which reports add up anyway: nobody has to read the row first. Only clicks
# in the quarter of an hour that comes first are added to its numbers. New ones come first, because PostgreSQL's log
# leaves out what a row's old and new versions have in common at their ends.
_ADD = f"""
UPDATE analytics_daytotal t
SET clicks = t.clicks + added.clicks, unique_clicks = t.unique_clicks + added.unique_clicks,
    counts = added.counts || '{BETWEEN_COUNTS}' || t.counts,
    quarters = CASE
        WHEN added.quarters IS NULL AND t.quarters IS NULL AND t.quarter = added.quarter THEN NULL
        WHEN added.quarters IS NULL AND t.quarters[1] = added.quarter
        THEN ARRAY[added.quarter, t.quarters[2] + added.clicks, t.quarters[3] + added.unique_clicks] || t.quarters[4:]
        ELSE coalesce(added.quarters::integer[], ARRAY[added.quarter, added.clicks, added.unique_clicks])
            || coalesce(t.quarters, ARRAY[t.quarter, t.clicks, t.unique_clicks])
    END
FROM unnest(%s::bigint[], %s::integer[], %s::integer[], %s::integer[], %s::text[], %s::text[])
    added (link_id, quarter, clicks, unique_clicks, quarters, counts)
WHERE t.link_id = added.link_id AND t.link_id = ANY(%s::bigint[]) AND t.day = %s AND t.slot = %s
RETURNING t.link_id, t.counts IS NULL,
    length(t.counts) > %s OR cardinality(t.quarters) > %s
"""  # noqa: S608 # built from constants
_READ = """
SELECT link_id, counts, quarters FROM analytics_daytotal WHERE link_id = ANY(%s::bigint[]) AND day = %s AND slot = %s
"""
_REPLACE = """
UPDATE analytics_daytotal t SET counts = new.counts, quarters = new.quarters::integer[]
FROM unnest(%s::bigint[], %s::text[], %s::text[]) new (link_id, counts, quarters)
WHERE t.link_id = new.link_id AND t.link_id = ANY(%s::bigint[]) AND t.day = %s AND t.slot = %s
"""
_NEW_ROWS = "analytics_daytotal (link_id, day, slot, quarter, clicks, unique_clicks, quarters, counts)"
_NEW_ROW = Struct(">hiqiiihihiiii")
_COUNTS = """
(
    SELECT link_id, dimension, date '1970-01-01' + day AS day, value COLLATE "C" AS value, clicks
    FROM unnest(
        %(links)s::bigint[], %(dimensions)s::smallint[], %(days)s::integer[], %(values)s::text[], %(clicks)s::bigint[]
    ) sent (link_id, dimension, day, value, clicks)
) counted
"""
# An UPDATE takes a tenth less time, but its plan depends on how many rows there were when it was made.
_ADD_BUSY_DAYS = f"""
INSERT INTO analytics_busydaycount AS t (link_id, dimension, slot, day, value, clicks)
SELECT link_id, dimension, %(slot)s, day, value, clicks FROM {_COUNTS}
ON CONFLICT (link_id, dimension, day, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""  # noqa: S608 # built from constants
_ADD_MONTHS = add_late_months(_COUNTS, "%(slot)s")
_ADD_LIFE = f"""
INSERT INTO analytics_lifecount AS t (link_id, dimension, slot, value, clicks)
SELECT link_id, dimension, %(slot)s, value, sum(clicks) FROM {_COUNTS}
GROUP BY link_id, dimension, value ORDER BY link_id, dimension, value
ON CONFLICT (link_id, dimension, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""  # noqa: S608 # built from constants


class Day:
    """The clicks of a link on a day (UTC) in a batch.

    ``quarters`` has the clicks and the unique clicks of each quarter of an hour of the day that has clicks. The keys
    of ``counts`` are the digit of a dimension and one of its values. ``visitors`` has the time of each visitor's first
    click, and its place in the batch.
    """

    __slots__ = ("clicks", "counts", "quarters", "unique_clicks", "visitors")

    def __init__(self, batch: Sequence[Facts] = (), places: Sequence[int] = ()) -> None:
        """Count the clicks at these places of the batch."""
        self.clicks = len(places)
        self.unique_clicks = 0
        self.quarters: dict[int, list[int]] = {}
        counts: dict[str, int] = {}
        visitors: dict[int, tuple[int, int]] = {}
        # Hot path: most clicks of a link are in the same quarter of an hour.
        quarter, numbers = -1, [0, 0]
        for place in places:
            time, _, _, _, _, _, _, _, visitor, _, _, keys = batch[place]
            if time // QUARTER_MICROSECONDS != quarter:
                quarter = time // QUARTER_MICROSECONDS
                numbers = self.quarters.setdefault(quarter % _QUARTERS, [0, 0])
            numbers[0] += 1
            for key in keys:
                counts[key] = counts.get(key, 0) + 1
            # Of equal times, the one that comes first in the journal.
            if visitor is not None and (visitor not in visitors or time < visitors[visitor][0]):
                visitors[visitor] = time, place
        self.counts, self.visitors = counts, visitors

    def add_unique(self, visitor: int) -> int:
        """Count the visitor's first click as unique, and return its place."""
        time, place = self.visitors[visitor]
        self.unique_clicks += 1
        self.quarters[time // QUARTER_MICROSECONDS % _QUARTERS][1] += 1
        return place

    def add_key(self, key: str) -> None:
        self.counts[key] = self.counts.get(key, 0) + 1

    @property
    def quarter(self) -> int:
        """The first quarter of an hour that has clicks."""
        return min(self.quarters)

    @property
    def packed_quarters(self) -> list[int] | None:
        return pack_quarters(self.quarters)

    @property
    def packed_counts(self) -> str | None:
        """None if the counts need rows of their own."""
        return _short(self.counts)


class OneClick:
    """A `Day` with one click, as most links have in a batch: it takes a third of the time."""

    __slots__ = ("_keys", "_place", "quarter", "unique_clicks", "visitors")
    clicks = 1
    packed_quarters = None

    def __init__(self, batch: Sequence[Facts], place: int) -> None:
        time, _, _, _, _, _, _, _, visitor, _, _, keys = batch[place]
        self.unique_clicks = 0
        self.quarter = time // QUARTER_MICROSECONDS % _QUARTERS
        self.visitors: tuple[int, ...] = () if visitor is None else (visitor,)
        self._place = place
        self._keys = keys

    def add_unique(self, visitor: int) -> int:
        self.unique_clicks = 1
        return self._place

    def add_key(self, key: str) -> None:
        self._keys += (key,)

    @property
    def counts(self) -> dict[str, int]:
        return dict.fromkeys(self._keys, 1)

    @property
    def quarters(self) -> dict[int, list[int]]:
        return {self.quarter: [1, self.unique_clicks]}

    @property
    def packed_counts(self) -> str:
        # The values of one click are never long.
        return BETWEEN_COUNTS.join(self._keys)


# By day since 1970, and link.
Days = Mapping[int, Mapping[int, Day | OneClick]]
# Clicks by link, day since 1970, and key.
Counts = Mapping[tuple[int, int, str], int]
_Count = tuple[int, int, str, int]


def add_days(days: Days, others: Counts, slot: int, closed: date | None) -> None:
    """Add to the days of links in the caller's transaction, which has chosen the slot.

    ``others`` are counted as rows in any case. ``closed``: see `analytics.counting.closed_days.closed_day`.
    """
    counts = [(*key, number) for key, number in others.items()]
    with prepared_cursor() as cursor:
        cursor.execute(f"SELECT {PLAN_BY_LINK}")
        for number in sorted(days):
            if days[number]:
                counts += _write(cursor, number, days[number], slot)
        if counts:
            # In the order of the index, which takes less time than any other.
            cursor.execute(_ADD_BUSY_DAYS, _parameters(sorted(counts), slot))
    if closed is None:
        return
    last = (closed - EPOCH).days
    late = [(*key, clicks) for key, clicks in others.items() if key[1] <= last]
    for number, links in days.items():
        if number <= last:
            for link_id, day in links.items():
                late += _rows(link_id, number, day.counts)
    if late:
        parameters = _parameters(late, slot) | {"closed": closed}
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {PLAN_BY_KEY}")
            cursor.execute(_ADD_MONTHS, parameters)
            cursor.execute(_ADD_LIFE, parameters)


def _write(cursor: CursorWrapper, number: int, days: Mapping[int, Day | OneClick], slot: int) -> list[_Count]:
    """Add to the rows of one day, and return the counts that belong into rows of their own."""
    day = date_of(number)
    links = sorted(days)
    added = [days[link_id] for link_id in links]
    texts = [one.packed_counts for one in added]
    quarters = [one.packed_quarters for one in added]
    counts: list[_Count] = []
    # The values that are replaced by rows.
    moved: dict[int, dict[str, int]] = {}
    if None in texts:
        has_many = [link_id for link_id, text in zip(links, texts, strict=True) if text is None]
        cursor.execute(_READ, [integer_array(has_many), day, slot])
        moved = {link_id: unpack_counts(text or "") for link_id, text, _ in cursor.fetchall()}
    ids = integer_array(links)
    cursor.execute(
        _ADD,
        [
            ids,
            integer_array([one.quarter for one in added]),
            integer_array([one.clicks for one in added]),
            integer_array([one.unique_clicks for one in added]),
            text_array([None if one is None else integer_array(one) for one in quarters]),
            text_array(texts),
            ids,
            day,
            slot,
            LONGEST_COUNTS,
            LONGEST_QUARTERS,
        ],
    )
    rows = {link_id: (has_rows, is_long) for link_id, has_rows, is_long in cursor.fetchall()}
    long = [link_id for link_id, (_, is_long) in rows.items() if is_long]
    if long:
        counts += _add_up(cursor, number, long, slot)
    new = []
    for link_id, one, text in zip(links, added, texts, strict=True):
        row = rows.get(link_id)
        if row is None:
            new.append(_new_row(link_id, number, slot, one, text))
        if text is None or (row is not None and row[0]):
            values = moved.get(link_id, {})
            for key, clicks in one.counts.items():
                values[key] = values.get(key, 0) + clicks
            counts += _rows(link_id, number, values)
    if new:
        copy_rows(_NEW_ROWS, new)
    return counts


def _add_up(cursor: CursorWrapper, number: int, links: list[int], slot: int) -> list[_Count]:
    """Shorten the rows of these links, and return the counts that belong into rows of their own."""
    counts: list[_Count] = []
    new: list[tuple[int, str | None, str | None]] = []
    day = date_of(number)
    cursor.execute(_READ, [integer_array(links), day, slot])
    for link_id, text, numbers in cursor.fetchall():
        values = unpack_counts(text or "")
        short = None if text is None else _short(values)
        if short is None:
            counts += _rows(link_id, number, values)
        packed = None if numbers is None else pack_quarters(unpack_quarters(numbers))
        new.append((link_id, short, None if packed is None else integer_array(packed)))
    texts, quarters = [text for _, text, _ in new], [numbers for _, _, numbers in new]
    ids = integer_array(link_id for link_id, _, _ in new)
    cursor.execute(_REPLACE, [ids, texts, quarters, ids, day, slot])
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
    counts: dict[str, int] = {}
    if text:
        for entry in text.split(BETWEEN_COUNTS):
            key, _, number = entry.partition(BEFORE_NUMBER)
            counts[key] = counts.get(key, 0) + int(number or 1)
    return counts


def pack_quarters(quarters: Mapping[int, list[int]]) -> list[int] | None:
    """The numbers in ``quarters`` of analytics_daytotal; None if its other columns suffice."""
    if len(quarters) == 1:
        return None
    return [number for quarter in sorted(quarters, reverse=True) for number in (quarter, *quarters[quarter])]


def unpack_quarters(numbers: Sequence[int]) -> dict[int, list[int]]:
    quarters: dict[int, list[int]] = {}
    for place in range(0, len(numbers), 3):
        quarter, clicks, unique_clicks = numbers[place : place + 3]
        counted = quarters.setdefault(quarter, [0, 0])
        counted[0] += clicks
        counted[1] += unique_clicks
    return quarters


def _new_row(link_id: int, number: int, slot: int, day: Day | OneClick, counts: str | None) -> bytes:
    content = None if counts is None else counts.encode()
    row = _NEW_ROW.pack(
        8, 8, link_id, 4, number - DATE_OFFSET, 2, slot, 2, day.quarter, 4, day.clicks, 4, day.unique_clicks
    )  # fmt: skip
    quarters = day.packed_quarters
    array = None
    if quarters is not None:
        size = len(quarters)
        # One dimension without nulls, of type int4, counted from 1.
        array = Struct(f">iiiii{2 * size}i").pack(
            1, 0, 23, size, 1, *(part for n in quarters for part in (4, n))
        )
    return row + _field(array) + _field(content)


def _field(content: bytes | None) -> bytes:
    """A column of a row, in PostgreSQL's binary format."""
    return b"\xff\xff\xff\xff" if content is None else len(content).to_bytes(4, "big") + content


def _rows(link_id: int, day: int, counts: Mapping[str, int]) -> list[_Count]:
    return [(link_id, day, key, number) for key, number in counts.items()]


def _parameters(counts: list[_Count], slot: int) -> dict[str, Any]:
    links, days, keys, clicks = zip(*counts, strict=True)
    return {
        "links": integer_array(links),
        "dimensions": integer_array([key[0] for key in keys]),
        "days": integer_array(days),
        "values": text_array([key[1:] for key in keys]),
        "clicks": integer_array(clicks),
        "slot": slot,
    }
