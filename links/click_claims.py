"""Takes one of the clicks that a capped link has left, for one visit or for many with one statement.

The claim of many trades clarity for speed: the statement also locks the counters and stores the records, and its form
keeps the server from planning it again. A claim takes 77 us of the web server and 45 of PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import Error, connection

from common.array_text import bytea_array, integer_array
from common.database import has_unknown_outcome, prepared_cursor, read_first
from links.availability import BAN_REASON, Closed

# `links_claim` is an SQL function of the migrations. Its statements are planned once for each connection.
_CLAIM = """
WITH outcome AS MATERIALIZED (SELECT links_claim(%(link)s, %(visitors)s) AS reason),
claimed AS (SELECT FROM outcome WHERE reason IS NULL), recorded AS ({record})
SELECT reason FROM outcome
"""


def claim_click(
    *, link_id: int, record: str, values: dict[str, Any], visitors: list[bytes] | None
) -> Closed | None:
    """Claim one of a capped link's remaining clicks; exact under any concurrency. Return why not, or None if claimed.

    ``record`` is an INSERT of one row FROM claimed. It is part of the same statement, so both happen or neither.
    ``visitors`` is required for a link with a limit per visitor: the hashes of the visitor's address under the
    installation's current key and then under its former keys.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM.format(record=record), {**values, "link": link_id, "visitors": visitors})
        [(reason,)] = cursor.fetchall()
    return None if reason is None else Closed(reason)


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
    SELECT wanted.link_id, link.reason,
        CASE WHEN link.reason IS NULL THEN least(wanted.clicks, link.max_clicks - counter.clicks) ELSE 0 END AS clicks
    FROM (SELECT link_id, count(*) AS clicks FROM request GROUP BY link_id ORDER BY link_id) wanted
    CROSS JOIN LATERAL (
        SELECT clicks FROM links_clickcounter WHERE link_id = wanted.link_id FOR NO KEY UPDATE
    ) counter
    CROSS JOIN LATERAL (
        SELECT coalesce(l.max_clicks, 9223372036854775807) AS max_clicks,
            CASE WHEN l.max_clicks_per_visitor IS NOT NULL THEN '{Closed.VISITOR_LIMIT_REACHED}' ELSE links_closed_by(
                {BAN_REASON}, l.is_active, l.starts_at, l.expires_at, l.max_clicks, counter.clicks
            ) END AS reason
        FROM links_link l WHERE l.id = wanted.link_id LIMIT 1
    ) link
), counted AS (
    UPDATE links_clickcounter c SET clicks = c.clicks + granted.clicks FROM granted
    WHERE granted.clicks > 0 AND c.link_id = granted.link_id AND c.link_id = ANY (ARRAY(SELECT link_id FROM granted))
), claimed AS MATERIALIZED (
    SELECT record, place FROM request JOIN granted USING (link_id) WHERE number <= granted.clicks
), recorded AS ({{record}} ORDER BY place)
SELECT place, CASE WHEN granted.link_id IS NULL THEN '{Closed.DELETED}'
    ELSE coalesce(reason, '{Closed.LIMIT_REACHED}') END
FROM request LEFT JOIN granted USING (link_id) WHERE (number <= granted.clicks) IS NOT TRUE
"""  # noqa: S608 # built from constants


class NotClaimed(Exception):
    """The statement had no effect: its clicks can be claimed one by one."""


def claim_clicks(links: Sequence[int], records: Sequence[bytes], *, record: str) -> list[Closed | None]:
    """Claim a click of each of these links (ids, which may repeat), if one is left; exact under any concurrency.

    Return for each why it is not claimed, or None. A link with a limit per visitor grants no click. ``record`` inserts
    the record of each claimed click FROM claimed, in the same statement. Call it outside a transaction. Raises
    NotClaimed, or a database error if the clicks may be claimed.
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
            values = {"links": integer_array(links), "records": bytea_array(records)}
            cursor.execute(_CLAIM_MANY.format(record=record), values)
            refused = {place: Closed(reason) for place, reason in cursor.fetchall()}
    except Error as error:
        was_rejected = _was_rejected(error)
        connection.close()
        if was_rejected:
            raise NotClaimed from error
        raise
    return [refused.get(place) for place in range(1, len(links) + 1)]


def _was_rejected(error: Error) -> bool:
    """Whether the server has rolled the statement back, rather than the connection being lost meanwhile."""
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    # Classes of lost connections, and of a server that ends sessions.
    return sqlstate is not None and not sqlstate.startswith(("08", "57P")) and not has_unknown_outcome(error)
