"""Limits on concurrent calls per subject, exact across all workers and hosts."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db import connection

from limits.subjects import digest_subject

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
_RELEASE = """
UPDATE limits_attemptlog SET attempts = array_remove(attempts, %(started)s) WHERE subject = %(subject)s
"""


class Lease(NamedTuple):
    """A running call. It counts until its release or, if its worker was killed, until it expires."""

    subject: bytes
    started: datetime


def acquire_lease(subject: str, *, limit: int, seconds: int) -> Lease | None:
    """Record a call that expires after ``seconds``. Returns None if ``limit`` calls of the subject are running."""
    digest = digest_subject(subject)
    with connection.cursor() as cursor:
        cursor.execute(_ACQUIRE, {"subject": digest, "limit": limit, "seconds": seconds})
        row = cursor.fetchone()
    return Lease(digest, row[0]) if row else None


def release_lease(lease: Lease) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_RELEASE, lease._asdict())
