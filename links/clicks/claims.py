"""Takes one of the clicks that a capped link has left."""

from __future__ import annotations

from enum import Enum
from typing import Any

from django.db import connection

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
