"""Monthly quota of new links per account (calendar month in UTC), exact across all workers and hosts."""

from __future__ import annotations

from django.db import connection

from accounts.models import Workspace
from common.errors import TooManyAttempts

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
_UNTIL_NEXT_MONTH = """
SELECT ceil(extract(epoch FROM month + interval '1 month' - moment))::int,
    extract(epoch FROM month + interval '1 month' - month)::int
FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AS month, now() AT TIME ZONE 'UTC' AS moment) AS today
"""


class QuotaExceeded(TooManyAttempts):
    code = "quota_exceeded"
    message = "The plan allows no more links this month."


def spend_quota(*, owner: Workspace, quota: int, links: int = 1) -> None:
    """Charge all of these links to the quota, or none. Raises QuotaExceeded.

    Call this first in the transaction that creates the links. A failed creation then uses no quota, and concurrent
    creations of one owner wait for each other here.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SPEND, {"owner": owner.pk, "links": links, "quota": quota})
        is_spent = cursor.fetchone() is not None
    if not is_spent:
        raise quota_exceeded(quota)


def links_left(*, owner: Workspace, quota: int, lock: bool = False) -> int:
    """Return the rest of this month's quota.

    ``lock`` blocks other creations of the owner until the transaction ends. Such a call must come first in it.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK if lock else _CREATED, {"owner": owner.pk})
        (created,) = cursor.fetchone() or (0,)
    return max(0, quota - created)


def quota_exceeded(quota: int) -> QuotaExceeded:
    with connection.cursor() as cursor:
        cursor.execute(_UNTIL_NEXT_MONTH)
        wait, month = cursor.fetchone()
    return QuotaExceeded(wait, limit=quota, window=month)
