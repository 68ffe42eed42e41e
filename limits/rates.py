"""Limits on a subject's requests per minute and on its concurrent calls, exact across all workers and hosts.

The first request starts a minute.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import F, Func, Value
from django.db.models.functions import Now

from common.database import fetch, prepared_cursor
from common.errors import REQUEST_POLICY, TooManyRequests, rate_limit_headers
from common.reports_database import on_primary
from limits.models import AttemptLog, RequestCount, digest_subject

WINDOW_SECONDS = 60


def counting(subjects: str) -> str:
    """A statement that counts one request of each subject that the SQL query ``subjects`` returns.

    It returns the columns of `Count`. It is one HOT update without a WAL flush, because the table is unlogged.
    """
    return f"""
    INSERT INTO limits_requestcount AS c (subject, started, requests)
    SELECT subject, clock_timestamp(), 1 FROM ({subjects}) counted (subject)
    ON CONFLICT (subject) DO UPDATE SET
        started = CASE WHEN c.started <= EXCLUDED.started - interval '{WINDOW_SECONDS} s'
            THEN EXCLUDED.started ELSE c.started END,
        requests = CASE WHEN c.started <= EXCLUDED.started - interval '{WINDOW_SECONDS} s'
            THEN 1 ELSE c.requests + 1 END
    RETURNING requests, ceil(extract(epoch FROM started - clock_timestamp()))::int + {WINDOW_SECONDS} AS reset
    """  # noqa: S608 # composed of constants


_COUNT = counting("SELECT unnest(%s::bytea[])")


class Count(NamedTuple):
    """A subject's ``requests`` in its current minute, which ends in ``reset`` seconds."""

    requests: int
    reset: int


class Rate(NamedTuple):
    """A subject's state: ``remaining`` of ``limit`` requests until the minute ends in ``reset`` seconds."""

    limit: int
    remaining: int
    reset: int

    @property
    def headers(self) -> dict[str, str]:
        return rate_limit_headers(
            REQUEST_POLICY,
            limit=self.limit,
            window=WINDOW_SECONDS,
            remaining=self.remaining,
            reset=self.reset,
        )


def spend_request(subject: str | bytes, limit: int, *others: bytes) -> Rate:
    """Count a request before it is processed, also for ``others``. Raises TooManyRequests above the limit of any.

    The table stores a text as its keyed digest, and bytes as they are. Calls with several subjects must have those
    that they share in one order.
    """
    stored = digest_subject(subject) if isinstance(subject, str) else subject
    with prepared_cursor(may_lose=True) as cursor:
        cursor.execute(_COUNT, [[stored, *others]])
        return rate_of(max(Count(*row) for row in cursor.fetchall()), limit)


def rate_of(count: Count, limit: int) -> Rate:
    """Return how much of a limit is used. Raises TooManyRequests above it."""
    if count.requests > limit:
        raise TooManyRequests(count.reset, limit=limit, window=WINDOW_SECONDS)
    return Rate(limit, limit - count.requests, max(1, count.reset))


def delete_expired_requests() -> int:
    """Delete the counts of past minutes. Returns their number."""
    deleted, _ = RequestCount.objects.filter(started__lt=Now() - timedelta(seconds=WINDOW_SECONDS)).delete()
    return deleted


# A single statement checks and records, so that concurrent calls cannot exceed the limit.
_ACQUIRE = """
INSERT INTO limits_attemptlog AS log (subject, attempts) VALUES (%(subject)s, ARRAY[clock_timestamp()])
ON CONFLICT (subject) DO UPDATE SET attempts = ARRAY(
    SELECT started FROM unnest(log.attempts) started
    WHERE started > clock_timestamp() - %(seconds)s * interval '1 s' ORDER BY started
) || clock_timestamp()
WHERE (
    SELECT count(*) FROM unnest(log.attempts) started
    WHERE started > clock_timestamp() - %(seconds)s * interval '1 s'
) < %(limit)s
RETURNING attempts[cardinality(attempts)]
"""

_RENEW = """
UPDATE limits_attemptlog SET attempts = array_remove(attempts, %(started)s) || clock_timestamp()
WHERE subject = %(subject)s AND %(started)s = ANY(attempts)
    AND %(started)s > clock_timestamp() - %(seconds)s * interval '1 s'
RETURNING attempts[cardinality(attempts)]
"""


class Lease(NamedTuple):
    """A running call. It counts until its release or, if its worker was killed, until it expires."""

    subject: bytes
    started: datetime


@on_primary
def acquire_lease(subject: str, *, limit: int, seconds: int) -> Lease | None:
    """Record a call that expires after ``seconds``. Returns None if ``limit`` calls of the subject are running."""
    digest = digest_subject(subject)
    rows = fetch(_ACQUIRE, {"subject": digest, "limit": limit, "seconds": seconds})
    return Lease(digest, rows[0][0]) if rows else None


@on_primary
def renew_lease(lease: Lease, *, seconds: int) -> Lease | None:
    """Let a call expire ``seconds`` from now. Returns None if it has expired, so that another may have its place."""
    rows = fetch(_RENEW, {**lease._asdict(), "seconds": seconds})
    return Lease(lease.subject, rows[0][0]) if rows else None


@on_primary
def release_lease(lease: Lease) -> None:
    others = Func(F("attempts"), Value(lease.started), function="array_remove")
    AttemptLog.objects.filter(subject=lease.subject).update(attempts=others)
