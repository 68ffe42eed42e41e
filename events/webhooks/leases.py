"""Decides who sends which delivery now.

Any number of processes may send. A lease moves a delivery's next attempt to the end of the lease, so nobody else takes it
until then; after a kill, somebody does.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from common.database import fetch
from events.webhooks.grouping import GROUPINGS
from events.webhooks.models import Format

# The time of an attempt, and several times as much for a process that gets no processor time.
LEASE_SECONDS = 60
# Endpoints that take longer, or have not answered yet, share the few threads for slow ones.
SLOW_SECONDS = 1.0
# Deliveries to one endpoint at the same time.
_AT_ONCE = 4

_INTERVALS = "\n".join(
    f"WHEN '{of_format.value}' THEN interval '{int(grouping.interval.total_seconds())} seconds'"
    for of_format, grouping in GROUPINGS.items()
)
# Those that have waited longest come first. The endpoint's row is locked, so that no two processes count its deliveries
# at once; the last condition looks at the newest version of a delivery.
_LEASE = f"""
WITH ready AS MATERIALIZED (
    SELECT w.id, w.claimed_at, coalesce(w.grouped_at + CASE w.format {_INTERVALS} END <= now(), true) AS may_group
    FROM events_webhook w
    WHERE w.disabled_reason IS NULL AND w.format = ANY (%(formats)s::text[]) AND coalesce(w.paused_until <= now(), true)
        AND (coalesce(w.seconds, 'infinity') > {SLOW_SECONDS}) = %(slow)s
        AND EXISTS (
            SELECT FROM events_delivery d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_at <= now()
                AND (NOT d.is_group OR coalesce(w.grouped_at + CASE w.format {_INTERVALS} END <= now(), true))
        )
        AND NOT EXISTS (SELECT FROM bans_ban b WHERE b.owner_id = w.workspace_id)
    ORDER BY w.claimed_at NULLS FIRST, w.id LIMIT %(slots)s FOR NO KEY UPDATE OF w SKIP LOCKED
), chosen AS MATERIALIZED (
    SELECT d.id, r.id AS webhook_id, d.is_group FROM ready r CROSS JOIN LATERAL (
        SELECT id, is_group, row_number() OVER (ORDER BY next_at, id) AS place FROM (
            SELECT id, is_group, next_at, row_number() OVER (PARTITION BY is_group ORDER BY next_at, id) AS place
            FROM events_delivery
            WHERE webhook_id = r.id AND status = 'pending' AND next_at <= now() AND (NOT is_group OR r.may_group)
        ) due WHERE NOT is_group OR place = 1
        ORDER BY next_at, id LIMIT greatest(0, %(at_once)s - (
            SELECT count(*) FROM events_delivery
            WHERE webhook_id = r.id AND status = 'pending' AND next_at > now() AND leased_until > now()
        ))
    ) d
    ORDER BY d.place, r.claimed_at NULLS FIRST, r.id LIMIT %(slots)s
), leased AS (
    UPDATE events_delivery d
    SET attempts = d.attempts + 1, leased_until = now() + %(lease)s * interval '1 second',
        next_at = now() + %(lease)s * interval '1 second'
    FROM chosen WHERE d.id = chosen.id AND d.status = 'pending' AND d.next_at <= now()
    RETURNING d.*
), noted AS (
    UPDATE events_webhook w
    SET claimed_at = now(), grouped_at = CASE WHEN groups THEN now() ELSE w.grouped_at END
    FROM (SELECT webhook_id, bool_or(is_group) AS groups FROM leased GROUP BY 1) used WHERE w.id = used.webhook_id
)
SELECT d.id, d.attempts, d.message_id, d.type, d.is_group, d.is_test, d.event_ids, d.positions, d.first_time, d.last_time,
    w.id, w.public_id, w.name, w.format, w.sealed_url, w.member_ids, w.sealed_secret,
    CASE WHEN w.former_secret_until > now() THEN w.former_secret END, w.workspace_id, s.public_id, now()
FROM leased d JOIN events_webhook w ON w.id = d.webhook_id JOIN accounts_workspace s ON s.id = w.workspace_id
ORDER BY d.next_at, d.id
"""  # noqa: S608 # composed of constants


class Leased(NamedTuple):
    """A delivery that this process may send until the lease ends, with what the message needs of its endpoint."""

    id: int
    attempts: int
    message_id: UUID
    type: str
    is_group: bool
    is_test: bool
    event_ids: list[UUID]
    positions: list[int]
    first_time: datetime
    last_time: datetime
    webhook: int
    endpoint: UUID
    name: str
    format: Format
    sealed_url: bytes | None
    member_ids: list[UUID]
    sealed_secret: bytes | None
    former_secret: bytes | None
    workspace: int
    workspace_id: UUID
    leased_at: datetime


def lease(slots: int, formats: Collection[Format], *, slow: bool) -> list[Leased]:
    """Lease at most ``slots`` due deliveries in these formats, to endpoints that are slow or to all others."""
    values: dict[str, Any] = {
        "formats": [of_format.value for of_format in formats],
        "slots": slots,
        "slow": slow,
        "at_once": 1 if slow else _AT_ONCE,
        "lease": LEASE_SECONDS,
    }
    return [Leased(*row)._replace(format=Format(row[13])) for row in fetch(_LEASE, values)]
