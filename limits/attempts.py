"""Limits on attempts per subject in a sliding window, exact across all workers and hosts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection

from common.database import execute, fetch
from common.errors import TooManyAttempts
from limits.models import digest_subject


@dataclass(frozen=True, slots=True)
class Limit:
    """``attempts`` within any ``seconds``. At most a few hundred attempts: the time of each is stored."""

    attempts: int
    seconds: int


# A single statement checks and records, so that concurrent attempts cannot exceed the limit. The ORM has no upsert
# with a condition.
_SPEND = """
INSERT INTO limits_attemptlog AS log (subject, attempts) VALUES (%(subject)s, ARRAY[clock_timestamp()])
ON CONFLICT (subject) DO UPDATE
    SET attempts = (log.attempts || clock_timestamp())[greatest(1, cardinality(log.attempts) + 2 - %(limit)s):]
    WHERE cardinality(log.attempts) < %(limit)s
       OR log.attempts[cardinality(log.attempts) + 1 - %(limit)s] < clock_timestamp() - %(seconds)s * interval '1 s'
RETURNING true
"""

_RECORD = """
INSERT INTO limits_attemptlog AS log (subject, attempts) VALUES (%(subject)s, ARRAY[clock_timestamp()])
ON CONFLICT (subject) DO UPDATE
    SET attempts = (log.attempts || clock_timestamp())[greatest(1, cardinality(log.attempts) + 1 - %(limit)s):]
RETURNING cardinality(attempts) > %(limit)s AND attempts[1] > clock_timestamp() - %(seconds)s * interval '1 s'
"""

_SECONDS_TO_WAIT = """
SELECT ceil(extract(epoch FROM attempts[cardinality(attempts) + 1 - %(limit)s] - clock_timestamp())) + %(seconds)s
FROM limits_attemptlog WHERE subject = %(subject)s
"""

_UNCOUNT = """
UPDATE limits_attemptlog SET attempts = trim_array(attempts, 1)
WHERE subject = %(subject)s AND cardinality(attempts) > 0
"""

_DELETE_EXPIRED = """
DELETE FROM limits_attemptlog
WHERE attempts = '{}' OR attempts[cardinality(attempts)] < now() - interval '1 day'
"""


def spend_attempt(subject: str, limit: Limit) -> None:
    """Record an attempt before it is made. At the limit, raises TooManyAttempts and records nothing."""
    values = _values(subject, limit)
    with connection.cursor() as cursor:
        cursor.execute(_SPEND, values)
        if cursor.fetchone() is None:
            cursor.execute(_SECONDS_TO_WAIT, values)
            row = cursor.fetchone()
            wait = int(row[0]) if row and row[0] is not None else 1
            raise TooManyAttempts(wait, limit=limit.attempts, window=limit.seconds)


def record_attempt(subject: str, limit: Limit) -> bool:
    """Record an attempt and never refuse it. Returns whether the window already contained ``limit.attempts``."""
    [(exceeded,)] = fetch(_RECORD, _values(subject, limit))
    return bool(exceeded)


def uncount_attempts(subjects: Iterable[str]) -> None:
    """Remove the last attempt of each subject, because it succeeded and only failures count."""
    for subject in subjects:
        execute(_UNCOUNT, {"subject": digest_subject(subject)})


def delete_expired_attempts() -> int:
    """Delete subjects whose attempts are older than every window. Returns their number."""
    return execute(_DELETE_EXPIRED)


def _values(subject: str, limit: Limit) -> dict[str, bytes | int]:
    return {"subject": digest_subject(subject), "limit": limit.attempts, "seconds": limit.seconds}
