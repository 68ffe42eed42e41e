"""The visitors of each link and day (UTC), as blocks of hashes: whether a click is its visitor's first that day.

The hashes of a link and day are divided by their values: a block has those from its ``first`` on, up to the first of
the next block. New hashes are added to their block; one with more than MAX_HASHES is divided. The block that begins
with the lowest number exists for each link with visitors, and says how many blocks the link has. A drainer takes an
advisory lock, which some links share, before it reads any of a link's blocks.

The hashes are keyed with the secret salt of the day. It is destroyed two days later; after that, they identify nobody.
"""

from __future__ import annotations

import secrets
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from struct import Struct, pack
from typing import Any

from django.db import connection

from common.database import bytea_array, copy_rows, integer_array, prepared_cursor

EPOCH = date(1970, 1, 1)
# PostgreSQL's binary dates count from 2000.
DATE_OFFSET = (date(2000, 1, 1) - EPOCH).days
KEPT_DAYS = 2
SALT_BYTES = 32


def salts_of(days: Iterable[int]) -> dict[int, bytes]:
    """Salts by day since 1970, created if missing, in the caller's transaction. Raises ValueError for bad days."""
    dates = {date_of(day): day for day in days}
    salts = _salts(dates)
    if len(salts) < len(dates):
        with connection.cursor() as cursor:
            cursor.execute(
                """
                INSERT INTO analytics_daysalt (day, salt)
                SELECT * FROM unnest(%s::date[], %s::bytea[]) ORDER BY 1 ON CONFLICT DO NOTHING
                """,
                [sorted(dates), [secrets.token_bytes(SALT_BYTES) for _ in dates]],
            )
        salts = _salts(dates)
    return salts


def _salts(dates: Mapping[date, int]) -> dict[int, bytes]:
    with prepared_cursor() as cursor:
        cursor.execute("SELECT day, salt FROM analytics_daysalt WHERE day = ANY(%s::date[])", [list(dates)])
        return {dates[day]: bytes(salt) for day, salt in cursor.fetchall()}


def delete_old_visitors() -> None:
    """Delete salts and visitor hashes older than KEPT_DAYS."""
    with connection.cursor() as cursor:
        for table in ("analytics_daysalt", "analytics_visitorblock"):
            cursor.execute(
                f"DELETE FROM {table} WHERE day < (now() AT TIME ZONE 'UTC')::date - %s",  # noqa: S608 # constants
                [KEPT_DAYS - 1],
            )


def date_of(day: int) -> date:
    """The date of a day number since 1970. Raises ValueError if it is out of range."""
    try:
        return EPOCH + timedelta(days=day)
    except OverflowError:
        raise ValueError("the time is out of range") from None


# A larger block costs fewer bytes for each visitor, and an update of it more.
MAX_HASHES = 64
LOWEST = -(2**63)
# The column has no larger number.
_MOST_BLOCKS = 2**15 - 1
# Blocks that are read although no hash belongs to them cost less than a look-up for each hash.
_READ_FOR_EACH = 2
_LOCK = 5_823_144
# Rows of links share locks: a lock of each row would cost as much as its change.
LOCKS = 16

_WAIT = f"SELECT pg_advisory_xact_lock({_LOCK}, number) FROM unnest(%s::integer[]) number"  # noqa: S608 # constants
_FIRST_BLOCKS = f"""
SELECT link_id, blocks, hashes FROM analytics_visitorblock
WHERE link_id = ANY(%s::bigint[]) AND day = %s AND first = {LOWEST}
"""  # noqa: S608 # built from constants
_ALL_BLOCKS = """
SELECT link_id, first, hashes FROM analytics_visitorblock WHERE link_id = ANY(%s::bigint[]) AND day = %s
"""
_BLOCKS = """
SELECT b.link_id, b.first, b.hashes FROM (
    SELECT DISTINCT link_id, (
        SELECT first FROM analytics_visitorblock b
        WHERE b.link_id = sent.link_id AND day = %s AND first <= hash ORDER BY first DESC LIMIT 1
    ) FROM unnest(%s::bigint[], %s::bigint[]) sent (link_id, hash)
) needed (link_id, first) JOIN analytics_visitorblock b
ON b.link_id = needed.link_id AND b.day = %s AND b.first = needed.first
"""
# In front, because PostgreSQL's log leaves out what a row's old and new versions have in common at their ends.
_ADD = """
UPDATE analytics_visitorblock b SET hashes = added.hashes || b.hashes
FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) added (link_id, first, hashes)
WHERE b.link_id = added.link_id AND b.day = %s AND b.first = added.first
"""
_REPLACE = """
UPDATE analytics_visitorblock b SET hashes = new.hashes
FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) new (link_id, first, hashes)
WHERE b.link_id = new.link_id AND b.day = %s AND b.first = new.first
"""
_SET_BLOCKS = f"""
UPDATE analytics_visitorblock b SET blocks = new.blocks
FROM unnest(%s::bigint[], %s::smallint[]) new (link_id, blocks)
WHERE b.link_id = new.link_id AND b.day = %s AND b.first = {LOWEST}
"""  # noqa: S608 # built from constants
_ROWS = "analytics_visitorblock (link_id, first, day, blocks, hashes)"
_ROW = Struct(">hiqiqiiihi")
_pack, _unpack_all = Struct("<q").pack, Struct("<q").iter_unpack


def add_visitors(day: int, visitors: Mapping[int, Collection[int]]) -> list[tuple[int, int]]:
    """Add the hashes of each link to a day since 1970, and return the link and the hash of those that are new.

    From here on, other transactions wait for the caller's if they count visitors of the same links and day.
    """
    if not visitors:
        return []
    blocks = _Blocks(day)
    with prepared_cursor() as cursor:
        cursor.execute(
            _WAIT, [integer_array(sorted({day * LOCKS + link_id % LOCKS for link_id in visitors}))]
        )
        cursor.execute(_FIRST_BLOCKS, [integer_array(sorted(visitors)), date_of(day)])
        known, several = set(), {}
        for link_id, number, hashes in cursor.fetchall():
            known.add(link_id)
            if number == 1:
                blocks.add(link_id, LOWEST, hashes, visitors[link_id])
            else:
                several[link_id] = number
        for link_id, hashes in visitors.items():
            if link_id not in known:
                blocks.add_link(link_id, hashes)
        if several:
            for block in _of_several(cursor, day, several, visitors):
                blocks.add(*block)
        blocks.write(cursor, several)
    return blocks.new


class _Blocks:
    """The changes of one day's blocks."""

    def __init__(self, day: int) -> None:
        self._day = day
        # The links and hashes that are new.
        self.new: list[tuple[int, int]] = []
        self._added: list[tuple[int, int, bytes]] = []
        self._replaced: list[tuple[int, int, bytes]] = []
        self._inserted: list[tuple[int, int, bytes]] = []
        # By link: the number of blocks that are added to it.
        self._divided: Counter[int] = Counter()

    def add_link(self, link_id: int, hashes: Collection[int]) -> None:
        """Add hashes to a link without blocks."""
        if len(hashes) == 1:
            [value] = hashes
            self.new.append((link_id, value))
            self._inserted.append((link_id, LOWEST, _pack(value)))
            return
        self.new += [(link_id, value) for value in hashes]
        parts = divided(hashes, LOWEST)
        self._inserted += [(link_id, *part) for part in parts]
        if len(parts) > 1:
            self._divided[link_id] += len(parts) - 1

    def add(self, link_id: int, first: int, stored: bytes, hashes: Collection[int]) -> None:
        """Add hashes to a stored block."""
        added = _missing(stored, hashes)
        if not added:
            return
        if len(added) == 1 and len(stored) < 8 * MAX_HASHES:
            [value] = added
            self.new.append((link_id, value))
            self._added.append((link_id, first, _pack(value)))
            return
        self.new += [(link_id, value) for value in added]
        if len(stored) // 8 + len(added) <= MAX_HASHES:
            self._added.append((link_id, first, _packed(added)))
            return
        [(_, kept), *others] = divided([*(value for (value,) in _unpack_all(stored)), *added], first)
        self._replaced.append((link_id, first, kept))
        self._inserted += [(link_id, *part) for part in others]
        self._divided[link_id] += len(others)

    def write(self, cursor: Any, several: Mapping[int, int]) -> None:
        """``several``: the number of blocks of those links that have several."""
        day = date_of(self._day)
        if self._added:
            cursor.execute(_ADD, [*_columns(self._added), day])
        if self._replaced:
            cursor.execute(_REPLACE, [*_columns(self._replaced), day])
        if self._inserted:
            number = self._day - DATE_OFFSET
            copy_rows(
                _ROWS,
                [
                    _ROW.pack(5, 8, link_id, 8, first, 4, number, 2, 1, len(hashes)) + hashes
                    for link_id, first, hashes in self._inserted
                ],
            )
        if self._divided:
            numbers = [
                min(several.get(link_id, 1) + added, _MOST_BLOCKS) for link_id, added in self._divided.items()
            ]
            cursor.execute(_SET_BLOCKS, [integer_array(self._divided), integer_array(numbers), day])


def _missing(stored: bytes, hashes: Collection[int]) -> Collection[int]:
    """Those of these hashes that a block lacks."""
    # A search for the bytes takes less time than to convert all. It may find them in two adjacent hashes.
    for value in hashes:
        if _pack(value) in stored:
            known = {number for (number,) in _unpack_all(stored)}
            return [each for each in hashes if each not in known]
    return hashes


def _of_several(
    cursor: Any, day: int, several: Mapping[int, int], visitors: Mapping[int, Collection[int]]
) -> Iterator[tuple[int, int, bytes, Collection[int]]]:
    """The stored blocks to which hashes of these links belong, and these hashes.

    ``several``: the number of blocks of each link.
    """
    date = date_of(day)
    read = [
        link_id for link_id, number in several.items() if number <= _READ_FOR_EACH * len(visitors[link_id])
    ]
    found: dict[int, list[tuple[int, bytes]]] = {link_id: [] for link_id in several}
    if read:
        cursor.execute(_ALL_BLOCKS, [integer_array(sorted(read)), date])
        for link_id, first, hashes in cursor.fetchall():
            found[link_id].append((first, hashes))
    sent = [(link_id, value) for link_id in sorted(several.keys() - set(read)) for value in visitors[link_id]]
    if sent:
        links, sent_hashes = zip(*sent, strict=True)
        cursor.execute(_BLOCKS, [date, integer_array(links), integer_array(sent_hashes), date])
        for link_id, first, hashes in cursor.fetchall():
            found[link_id].append((first, hashes))
    for link_id, blocks in found.items():
        blocks.sort()
        values = sorted(visitors[link_id])
        start = 0
        for number, (first, hashes) in enumerate(blocks):
            end = len(values)
            if number + 1 < len(blocks):
                end = bisect_left(values, blocks[number + 1][0], start)
            if start < end:
                yield link_id, first, hashes, values[start:end]
            start = end


def divided(hashes: Collection[int], first: int) -> list[tuple[int, bytes]]:
    """Blocks of these hashes: the first number and the content of each. One block begins with ``first``."""
    if len(hashes) <= MAX_HASHES:
        return [(first, _packed(hashes))]
    values = sorted(hashes)
    size = MAX_HASHES // 2
    starts = range(0, len(values), size)
    return [(values[start] if start else first, _packed(values[start : start + size])) for start in starts]


def _packed(hashes: Collection[int]) -> bytes:
    # Most links have few visitors in a batch.
    return _pack(*hashes) if len(hashes) == 1 else pack(f"<{len(hashes)}q", *hashes)


def _columns(rows: Collection[tuple[int, int, bytes]]) -> tuple[str, str, str]:
    links, firsts, hashes = zip(*rows, strict=True)
    return integer_array(links), integer_array(firsts), bytea_array(hashes)
