"""Decides who sends which delivery now.

Any number of processes may send. A lease moves a delivery's next attempt to the end of the lease, so nobody else takes
it until then; after a kill, somebody does.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings

from common.database import fetch
from events.webhooks.grouping import GROUPINGS
from events.webhooks.models import Format

# The time of an attempt, and several times as much for a process that gets no processor time.
LEASE_SECONDS = 60
# For each mail, beyond the wait for the server.
_MAIL_MARGIN = 5
# Endpoints that take longer, or have not answered yet, share the few threads for slow ones.
SLOW_SECONDS = 1.0
# Deliveries to one endpoint at the same time.
_AT_ONCE = 4
# The part of the threads that one workspace may use.
_SHARE = 4

_LEASE_OF_WEBHOOK = "(%(lease)s + cardinality(w.member_ids) * %(mail)s) * interval '1 second'"
_INTERVALS = "\n".join(
    f"WHEN '{of_format.value}' THEN interval '{int(grouping.interval.total_seconds())} seconds'"
    for of_format, grouping in GROUPINGS.items()
)
# Those that have waited longest come first. The endpoint's row is locked, so that no two processes count its
# deliveries at once; the last condition looks at the newest version of a delivery. Groups with and without clicks
# take turns. Mails are sent one after the other, so their lease is longer.
_LEASE = f"""
WITH busy AS MATERIALIZED (
    SELECT o.id, o.workspace_id, (coalesce(o.seconds, 'infinity') > {SLOW_SECONDS}) = %(slow)s AS is_here, d.sending
    FROM (SELECT webhook_id, count(*) AS sending FROM events_delivery WHERE leased_until > now() GROUP BY 1) d
    JOIN events_webhook o ON o.id = d.webhook_id
), ready AS MATERIALIZED (
    SELECT w.id, w.workspace_id, w.claimed_at, w.grouped_clicks,
        coalesce(w.grouped_at + CASE w.format {_INTERVALS} END <= now(), true) AS may_group
    FROM events_webhook w
    WHERE w.disabled_reason IS NULL AND w.format = ANY (%(formats)s::text[])
        AND coalesce(w.paused_until <= now(), true)
        AND (coalesce(w.seconds, 'infinity') > {SLOW_SECONDS}) = %(slow)s
        AND EXISTS (
            SELECT FROM events_delivery d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_at <= now()
                AND (NOT d.is_group OR coalesce(w.grouped_at + CASE w.format {_INTERVALS} END <= now(), true))
        )
        AND NOT EXISTS (SELECT FROM bans_ban b WHERE b.owner_id = w.workspace_id)
        AND coalesce((SELECT sending FROM busy b WHERE b.id = w.id), 0) < %(at_once)s
        AND coalesce((SELECT sum(sending) FROM busy b WHERE b.workspace_id = w.workspace_id AND b.is_here), 0)
            < %(share)s
    ORDER BY w.claimed_at NULLS FIRST, w.id LIMIT %(slots)s FOR NO KEY UPDATE OF w SKIP LOCKED
), candidates AS MATERIALIZED (
    SELECT d.id, r.workspace_id, row_number() OVER (ORDER BY d.place, r.claimed_at NULLS FIRST, r.id) AS turn,
        row_number() OVER (
            PARTITION BY r.workspace_id ORDER BY d.place, r.claimed_at NULLS FIRST, r.id
        ) AS of_workspace
    FROM ready r CROSS JOIN LATERAL (
        SELECT id, row_number() OVER (ORDER BY next_at, id) AS place FROM (
            SELECT id, is_group, next_at, row_number() OVER (
                PARTITION BY is_group
                ORDER BY is_group AND (type = 'link.clicked') IS NOT DISTINCT FROM r.grouped_clicks, next_at, id
            ) AS place
            FROM events_delivery
            WHERE webhook_id = r.id AND status = 'pending' AND next_at <= now() AND (NOT is_group OR r.may_group)
        ) due WHERE NOT is_group OR place = 1
        ORDER BY next_at, id
        LIMIT greatest(0, %(at_once)s - coalesce((SELECT sending FROM busy b WHERE b.id = r.id), 0))
    ) d
), chosen AS MATERIALIZED (
    SELECT c.id FROM candidates c
    WHERE c.of_workspace + coalesce((
        SELECT sum(sending) FROM busy b WHERE b.workspace_id = c.workspace_id AND b.is_here
    ), 0) <= %(share)s
    ORDER BY c.turn LIMIT %(slots)s
), leased AS (
    UPDATE events_delivery d
    SET attempts = least(d.attempts + 1, 32767), leased_until = now() + {_LEASE_OF_WEBHOOK},
        next_at = now() + {_LEASE_OF_WEBHOOK}
    FROM chosen, events_webhook w
    WHERE d.id = chosen.id AND w.id = d.webhook_id AND d.status = 'pending' AND d.next_at <= now()
    RETURNING d.*
), noted AS (
    UPDATE events_webhook w
    SET claimed_at = now(), grouped_at = CASE WHEN groups THEN now() ELSE w.grouped_at END,
        grouped_clicks = CASE WHEN groups THEN clicks ELSE w.grouped_clicks END
    FROM (
        SELECT webhook_id, bool_or(is_group) AS groups, bool_or(is_group AND type = 'link.clicked') AS clicks
        FROM leased GROUP BY 1
    ) used
    WHERE w.id = used.webhook_id
)
SELECT d.id, d.attempts, d.message_id, d.type, d.is_test, d.event_ids, d.positions, d.first_time, d.last_time,
    w.id, w.public_id, w.name, w.format, w.sealed_url, w.member_ids, w.sealed_secret,
    CASE WHEN w.former_secret_until > now() THEN w.former_secret END, w.workspace_id, s.public_id
FROM leased d JOIN events_webhook w ON w.id = d.webhook_id JOIN accounts_workspace s ON s.id = w.workspace_id
ORDER BY d.next_at, d.id
"""  # noqa: S608 # composed of constants


class Leased(NamedTuple):
    """A delivery that this process may send until the lease ends, with what the message needs of its endpoint."""

    id: int
    attempts: int
    message_id: UUID
    type: str
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


def lease(slots: int, formats: Collection[Format], *, slow: bool, threads: int) -> list[Leased]:
    """Lease at most ``slots`` due deliveries in these formats, to endpoints that are slow or to all others.

    ``threads``: how many slots there are, with those in use.
    """
    values: dict[str, Any] = {
        "formats": [of_format.value for of_format in formats],
        "slots": slots,
        "slow": slow,
        "at_once": 1 if slow else _AT_ONCE,
        "share": max(1, threads // _SHARE),
        "lease": LEASE_SECONDS,
        # Without a mail server there is no such setting, and no mail is leased.
        "mail": (settings.EMAIL_TIMEOUT or 0) + _MAIL_MARGIN,
    }
    return [Leased(*row)._replace(format=Format(row[12])) for row in fetch(_LEASE, values)]
