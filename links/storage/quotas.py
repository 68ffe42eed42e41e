"""Monthly quota of new links per account (calendar month in UTC), exact across all workers and hosts.

``owners`` are those of `accounts.caps.charged_workspaces`: all of them have the quota of one plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.dispatch import receiver

from accounts.caps import charged_workspaces
from accounts.models import Workspace
from accounts.workspaces import workspace_deleted
from common.database import execute, fetch
from common.errors import TooManyAttempts

# The ORM has no upsert with a condition: a lock and two statements make a creation take 1.4 times the processor time.
_SPEND = """
INSERT INTO links_createdlinks AS c (owner_id, month, links)
SELECT %(owner)s, date_trunc('month', now() AT TIME ZONE 'UTC')::date, %(links)s WHERE %(links)s <= %(quota)s
ON CONFLICT (owner_id) DO UPDATE SET
    month = EXCLUDED.month,
    links = CASE WHEN c.month = EXCLUDED.month THEN c.links ELSE 0 END + EXCLUDED.links
    WHERE CASE WHEN c.month = EXCLUDED.month THEN c.links ELSE 0 END + EXCLUDED.links <= %(quota)s
RETURNING true
"""
_CREATED = """
SELECT links FROM links_createdlinks
WHERE owner_id = %(owner)s AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
"""
_LOCK = """
INSERT INTO links_createdlinks AS c (owner_id, month, links)
SELECT %(owner)s, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 0
ON CONFLICT (owner_id) DO UPDATE SET
    month = EXCLUDED.month, links = CASE WHEN c.month = EXCLUDED.month THEN c.links ELSE 0 END
RETURNING links
"""
_INHERIT = """
INSERT INTO links_createdlinks AS c (owner_id, month, links)
SELECT %(heir)s, month, links FROM links_createdlinks
WHERE owner_id = %(owner)s AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
ON CONFLICT (owner_id) DO UPDATE SET
    month = EXCLUDED.month, links = CASE WHEN c.month = EXCLUDED.month THEN c.links ELSE 0 END + EXCLUDED.links
"""
_UNTIL_NEXT_MONTH = """
SELECT ceil(extract(epoch FROM month + interval '1 month' - moment))::int,
    extract(epoch FROM month + interval '1 month' - month)::int
FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AS month, now() AT TIME ZONE 'UTC' AS moment) AS today
"""


class QuotaExceeded(TooManyAttempts):
    code = "quota_exceeded"
    message = "The plan allows no more links this month."


def spend_quota(*, owners: Sequence[int], quota: int, links: int = 1) -> None:
    """Charge all of these links to the quota, or none. Raises QuotaExceeded.

    Call this first in the transaction that creates the links. A failed creation then uses no quota, and concurrent
    creations of one owner wait for each other here.
    """
    for owner in owners:
        if not fetch(_SPEND, {"owner": owner, "links": links, "quota": quota}):
            raise quota_exceeded(quota)


def links_left(*, owners: Sequence[int], quota: int, lock: bool = False) -> int:
    """Return the rest of this month's quota.

    ``lock`` blocks other creations of the owners until the transaction ends. Such a call must come first in it.
    """
    statement = _LOCK if lock else _CREATED
    created = [number for owner in owners for (number,) in fetch(statement, {"owner": owner})]
    return max(0, quota - max(created, default=0))


@receiver(workspace_deleted)
def keep_spent_quota(*, workspace: Workspace, heir: int, **_: Any) -> None:
    """Charge what a workspace has spent this month to the account that deletes it, unless that paid at once."""
    if heir in charged_workspaces(workspace):
        return
    execute(_INHERIT, {"owner": workspace.pk, "heir": heir})


def quota_exceeded(quota: int) -> QuotaExceeded:
    [(wait, month)] = fetch(_UNTIL_NEXT_MONTH)
    return QuotaExceeded(wait, limit=quota, window=month)
