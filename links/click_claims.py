"""Takes one of the clicks that a capped link has left, for one visit or for many with one statement.

The claim of many trades clarity for speed: the statement also locks the counters and stores the records, and its form
keeps the server from planning it again. A claim takes 77 us of the web server and 45 of PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from django.db import Error, connection

from common.database import has_unknown_outcome, prepared_cursor, read_first
from links.destinations.lookup import IS_BANNED
from links.storage.many_rows import array_text

_CLAIM = """
WITH claimed AS (
    UPDATE links_clickcounter SET clicks = clicks + 1 FROM links_link l
    WHERE link_id = %(link)s AND l.id = link_id AND l.is_active AND (l.expires_at IS NULL OR l.expires_at > now())
      AND (l.starts_at IS NULL OR l.starts_at <= now()) AND (l.max_clicks IS NULL OR clicks < l.max_clicks)
      AND NOT links_is_banned(l.id, l.owner_id, l.destination, l.other_destinations)
    RETURNING link_id
)
"""
# As above, with a limit per visitor; `links_claim_click` is an SQL function of the migrations.
_CLAIM_PER_VISITOR = """
WITH outcome AS MATERIALIZED (SELECT links_claim_click(%(link)s, %(visitors)s) AS is_claimed),
claimed AS (SELECT FROM outcome WHERE is_claimed), recorded AS ({record})
SELECT is_claimed FROM outcome
"""


class Claim(Enum):
    TAKEN = "taken"
    LIMIT_REACHED = "limit reached"
    VISITOR_LIMIT_REACHED = "visitor limit reached"


def claim_click(*, link_id: int, record: str, values: dict[str, Any], visitors: list[bytes] | None) -> Claim:
    """Claim one of a capped link's remaining clicks; exact under any concurrency.

    ``record`` is an INSERT of one row FROM claimed. It is part of the same statement, so both happen or neither.
    ``visitors`` is required for a link with a limit per visitor: the hashes of the visitor's address under the
    installation's current key and then under its former keys.
    """
    with connection.cursor() as cursor:
        if visitors is None:
            cursor.execute(_CLAIM + record, {**values, "link": link_id})
            return Claim.TAKEN if cursor.rowcount else Claim.LIMIT_REACHED
        cursor.execute(
            _CLAIM_PER_VISITOR.format(record=record), {**values, "link": link_id, "visitors": visitors}
        )
        [(is_claimed,)] = cursor.fetchall()
    return {True: Claim.TAKEN, False: Claim.VISITOR_LIMIT_REACHED, None: Claim.LIMIT_REACHED}[is_claimed]


# A single claim may wait for longer. Others of the group would wait with it.
_SET_LOCK_TIMEOUT = "SET lock_timeout = '250ms'"
# Locks the counters in the order of their keys, like every statement that locks several. Each request of a link gets a
# number, in the order of ``links``: those up to the number of clicks left are claimed. LATERAL and the array make the
# server use the indexes, whatever its statistics say. It does not estimate an array in a subquery by its length:
# otherwise it would plan the statement again for each small group.
_CLAIM_MANY = f"""
WITH request AS MATERIALIZED (
    SELECT link_id, record, place, row_number() OVER (PARTITION BY link_id ORDER BY place) AS number
    FROM unnest((SELECT %(links)s::bigint[]), (SELECT %(records)s::bytea[]))
        WITH ORDINALITY request (link_id, record, place)
), granted AS MATERIALIZED (
    SELECT wanted.link_id, least(wanted.clicks, link.max_clicks - counter.clicks) AS clicks
    FROM (SELECT link_id, count(*) AS clicks FROM request GROUP BY link_id ORDER BY link_id) wanted
    CROSS JOIN LATERAL (
        SELECT clicks FROM links_clickcounter WHERE link_id = wanted.link_id FOR NO KEY UPDATE
    ) counter
    JOIN LATERAL (
        SELECT coalesce(l.max_clicks, 9223372036854775807) AS max_clicks FROM links_link l
        WHERE l.id = wanted.link_id AND l.is_active AND (l.expires_at IS NULL OR l.expires_at > now())
            AND (l.starts_at IS NULL OR l.starts_at <= now()) AND l.max_clicks_per_visitor IS NULL
            AND NOT {IS_BANNED}
        LIMIT 1
    ) link ON link.max_clicks > counter.clicks
), counted AS (
    UPDATE links_clickcounter c SET clicks = c.clicks + granted.clicks FROM granted
    WHERE c.link_id = granted.link_id AND c.link_id = ANY (ARRAY(SELECT link_id FROM granted))
), claimed AS MATERIALIZED (
    SELECT record, place FROM request JOIN granted USING (link_id) WHERE number <= granted.clicks
), recorded AS ({{record}} ORDER BY place)
SELECT place FROM claimed
"""  # noqa: S608 # built from constants


class NotClaimed(Exception):
    """The statement had no effect: its clicks can be claimed one by one."""


def claim_clicks(links: Sequence[int], records: Sequence[bytes], *, record: str) -> list[bool]:
    """Claim a click of each of these links (ids, which may repeat), if one is left; exact under any concurrency.

    Return for each whether it is claimed. ``record`` inserts the record of each claimed click FROM claimed, in the
    same statement. Call it outside a transaction. Raises NotClaimed, or a database error if the clicks may be claimed.
    """

    def prepare() -> None:
        with connection.cursor() as cursor:
            cursor.execute(_SET_LOCK_TIMEOUT)

    try:
        read_first(prepare)
    except Error as error:
        connection.close()
        raise NotClaimed from error
    try:
        with prepared_cursor() as cursor:
            values = {"links": array_text(map(str, links)), "records": array_text(map(_bytea, records))}
            cursor.execute(_CLAIM_MANY.format(record=record), values)
            claimed = {place for (place,) in cursor.fetchall()}
    except Error as error:
        was_rejected = _was_rejected(error)
        connection.close()
        if was_rejected:
            raise NotClaimed from error
        raise
    return [place in claimed for place in range(1, len(links) + 1)]


def _bytea(content: bytes) -> str:
    return f"\\x{content.hex()}"


def _was_rejected(error: Error) -> bool:
    """Whether the server has rolled the statement back, rather than the connection being lost meanwhile."""
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    # Classes of lost connections, and of a server that ends sessions.
    return sqlstate is not None and not sqlstate.startswith(("08", "57P")) and not has_unknown_outcome(error)
