"""So many requests of a subject in a minute, exact over all workers and hosts. The minute begins with its first."""

from __future__ import annotations

from typing import NamedTuple

from django.db import connection

from accounts.limits import digest_subject
from common.errors import TooManyRequests

WINDOW_SECONDS = 60

# One row of one page is changed where it stands, and nothing is flushed: the table is unlogged.
_SPEND = f"""
INSERT INTO accounts_requestcount AS c (subject, started, requests) VALUES (%s, clock_timestamp(), 1)
ON CONFLICT (subject) DO UPDATE SET
    started = CASE WHEN c.started <= EXCLUDED.started - interval '{WINDOW_SECONDS} s'
        THEN EXCLUDED.started ELSE c.started END,
    requests = CASE WHEN c.started <= EXCLUDED.started - interval '{WINDOW_SECONDS} s'
        THEN 1 ELSE c.requests + 1 END
RETURNING requests, ceil(extract(epoch FROM started - clock_timestamp()))::int + {WINDOW_SECONDS}
"""  # noqa: S608 # put together from constants

_FORGET = f"""
DELETE FROM accounts_requestcount WHERE started < now() - interval '{WINDOW_SECONDS} s'
"""  # noqa: S608 # put together from constants


class Rate(NamedTuple):
    """Where a subject stands: ``remaining`` of ``limit`` requests until the minute ends, in ``reset`` seconds."""

    limit: int
    remaining: int
    reset: int

    @property
    def headers(self) -> dict[str, str]:
        """As clients understand them today (draft-ietf-httpapi-ratelimit-headers-06)."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset),
            "RateLimit-Policy": f"{self.limit};w={WINDOW_SECONDS}",
        }


def spend_request(subject: str, limit: int) -> Rate:
    """Counts a request before it is carried out. Raises TooManyRequests when none was left in this minute."""
    with connection.cursor() as cursor:
        cursor.execute(_SPEND, [digest_subject(subject)])
        requests, reset = cursor.fetchone()
    if requests > limit:
        raise TooManyRequests(reset, limit=limit, window=WINDOW_SECONDS)
    return Rate(limit, limit - requests, max(1, reset))


def forget_old_requests() -> int:
    """Deletes the counts of minutes that are over; returns how many those were."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET)
        return int(cursor.rowcount)
