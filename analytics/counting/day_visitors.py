"""The visitors of each link and day (UTC), as blocks of hashes: whether a click is its visitor's first that day.

The hashes of a link and day are divided by their values: a block has those from its ``first`` on, up to the first of
the next block. New hashes are appended to their block; one with more than MAX_HASHES is divided. The block that begins
with the lowest number exists for each link with visitors. A drainer locks it before it reads any of the link's blocks.

The hashes are keyed with the secret salt of the day. It is destroyed two days later; after that, they identify nobody.
"""

from __future__ import annotations

import secrets
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from datetime import date, timedelta
from struct import iter_unpack, pack
from typing import Any

from django.db import connection

from common.database import bytea_array, integer_array, prepared_cursor

EPOCH = date(1970, 1, 1)
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

# Inserts the blocks of links without visitors. Those of the others are locked: they are neither changed nor returned.
_INSERT_OR_LOCK = f"""
INSERT INTO analytics_visitorblock AS b (link_id, first, day, is_divided, hashes)
SELECT link_id, {LOWEST}, %s, false, hashes FROM unnest(%s::bigint[], %s::bytea[]) sent (link_id, hashes)
ORDER BY link_id
ON CONFLICT (link_id, day, first) DO UPDATE SET hashes = EXCLUDED.hashes WHERE false RETURNING link_id
"""  # noqa: S608 # built from constants
_FIRST_BLOCKS = f"""
SELECT link_id, is_divided, hashes FROM analytics_visitorblock
WHERE link_id = ANY(%s::bigint[]) AND day = %s AND first = {LOWEST}
"""  # noqa: S608 # built from constants
_BLOCKS = """
SELECT b.link_id, b.first, b.hashes FROM (
    SELECT DISTINCT link_id, (
        SELECT first FROM analytics_visitorblock b
        WHERE b.link_id = sent.link_id AND day = %s AND first <= hash ORDER BY first DESC LIMIT 1
    ) FROM unnest(%s::bigint[], %s::bigint[]) sent (link_id, hash)
) needed (link_id, first) JOIN analytics_visitorblock b
ON b.link_id = needed.link_id AND b.day = %s AND b.first = needed.first
"""
_APPEND = """
UPDATE analytics_visitorblock b SET hashes = b.hashes || added.hashes
FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) added (link_id, first, hashes)
WHERE b.link_id = added.link_id AND b.day = %s AND b.first = added.first
"""
_DIVIDE = """
WITH part AS (
    SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) part (link_id, first, hashes)
), changed AS (
    UPDATE analytics_visitorblock b SET hashes = part.hashes, is_divided = true FROM part
    WHERE b.link_id = part.link_id AND b.day = %s AND b.first = part.first RETURNING b.link_id, b.first
)
INSERT INTO analytics_visitorblock (link_id, first, day, is_divided, hashes)
SELECT link_id, first, %s, true, hashes FROM part
WHERE NOT EXISTS (SELECT FROM changed WHERE (changed.link_id, changed.first) = (part.link_id, part.first))
"""


def add_visitors(day: int, visitors: Mapping[int, Collection[int]]) -> list[tuple[int, int]]:
    """Add the hashes of each link to a day since 1970, and return the link and the hash of those that are new.

    From here on, other transactions wait for the caller's if they count visitors of the same links and day.
    """
    date = date_of(day)
    links = sorted(visitors)
    parts = {link_id: divided(visitors[link_id], LOWEST) for link_id in links}
    with prepared_cursor() as cursor:
        first_parts = [parts[link_id][0][1] for link_id in links]
        cursor.execute(_INSERT_OR_LOCK, [date, integer_array(links), bytea_array(first_parts)])
        inserted = {link_id for (link_id,) in cursor.fetchall()}
        new = [(link_id, visitor) for link_id in inserted for visitor in visitors[link_id]]
        changes = [
            (link_id, *part) for link_id in inserted if len(parts[link_id]) > 1 for part in parts[link_id]
        ]
        known = [link_id for link_id in links if link_id not in inserted]
        appended: list[tuple[int, int, bytes]] = []
        for link_id, first, hashes, sent in _blocks(cursor, date, known, visitors):
            stored = {value for (value,) in iter_unpack("<q", hashes)}
            added = [value for value in sent if value not in stored]
            if not added:
                continue
            new += [(link_id, value) for value in added]
            if len(stored) + len(added) <= MAX_HASHES:
                appended.append((link_id, first, _packed(added)))
            else:
                changes += [(link_id, *part) for part in divided([*stored, *added], first)]
        if appended:
            cursor.execute(_APPEND, [*_columns(appended), date])
        if changes:
            cursor.execute(_DIVIDE, [*_columns(changes), date, date])
    return new


def _blocks(
    cursor: Any, day: Any, links: Collection[int], visitors: Mapping[int, Collection[int]]
) -> Iterable[tuple[int, int, bytes, Collection[int]]]:
    """The stored blocks to which the hashes of these links belong, and these hashes."""
    if not links:
        return
    cursor.execute(_FIRST_BLOCKS, [integer_array(links), day])
    several = []
    for link_id, is_divided, hashes in cursor.fetchall():
        if is_divided:
            several.append(link_id)
        else:
            yield link_id, LOWEST, hashes, visitors[link_id]
    if not several:
        return
    sent = [(link_id, value) for link_id in several for value in visitors[link_id]]
    cursor.execute(
        _BLOCKS,
        [day, integer_array(link for link, _ in sent), integer_array(value for _, value in sent), day],
    )
    found: dict[int, list[tuple[int, bytes]]] = {}
    for link_id, first, hashes in cursor.fetchall():
        found.setdefault(link_id, []).append((first, hashes))
    for link_id, blocks in found.items():
        blocks.sort()
        values = sorted(visitors[link_id])
        start = 0
        for number, (first, hashes) in enumerate(blocks):
            end = len(values)
            if number + 1 < len(blocks):
                end = bisect_left(values, blocks[number + 1][0], start)
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
    return pack(f"<{len(hashes)}q", *hashes)


def _columns(rows: Collection[tuple[int, int, bytes]]) -> tuple[str, str, str]:
    links, firsts, hashes = zip(*rows, strict=True)
    return integer_array(links), integer_array(firsts), bytea_array(hashes)
