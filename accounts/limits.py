"""Lock-outs: so many attempts at one subject in a sliding window, exact over all workers and hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import connection, transaction
from django.utils.crypto import salted_hmac

from common.errors import TooManyAttempts


@dataclass(frozen=True, slots=True)
class Limit:
    """``attempts`` within any ``seconds``; at most a few hundred attempts, as each one's time is kept."""

    attempts: int
    seconds: int


# One statement decides and records, so that attempts made at the same moment cannot pass together.
_SPEND = """
INSERT INTO accounts_attemptlog AS log (subject, attempts) VALUES (%(subject)s, ARRAY[clock_timestamp()])
ON CONFLICT (subject) DO UPDATE
    SET attempts = (log.attempts || clock_timestamp())[greatest(1, cardinality(log.attempts) + 2 - %(most)s):]
    WHERE cardinality(log.attempts) < %(most)s
       OR log.attempts[cardinality(log.attempts) + 1 - %(most)s] < clock_timestamp() - %(seconds)s * interval '1 s'
RETURNING true
"""

_WAIT = """
SELECT ceil(extract(epoch FROM attempts[cardinality(attempts) + 1 - %(most)s] - clock_timestamp())) + %(seconds)s
FROM accounts_attemptlog WHERE subject = %(subject)s
"""

_FORGIVE = """
UPDATE accounts_attemptlog SET attempts = trim_array(attempts, 1)
WHERE subject = %(subject)s AND cardinality(attempts) > 0
"""

_FORGET = """
DELETE FROM accounts_attemptlog
WHERE attempts = '{}' OR attempts[cardinality(attempts)] < now() - interval '1 day'
"""


def spend_attempt(subject: str, limit: Limit) -> None:
    """Records an attempt before it is made. Raises TooManyAttempts, and records nothing, when none is left."""
    values: dict[str, bytes | int] = {
        "subject": digest_subject(subject),
        "most": limit.attempts,
        "seconds": limit.seconds,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SPEND, values)
        if cursor.fetchone() is None:
            cursor.execute(_WAIT, values)
            row = cursor.fetchone()
            wait = int(row[0]) if row and row[0] is not None else 1
            raise TooManyAttempts(wait, limit=limit.attempts, window=limit.seconds)


def spend_attempts(limits: Mapping[str, Limit]) -> None:
    """One attempt at each subject, or none at any: what one limit refuses does not use up another."""
    with transaction.atomic():
        for subject, limit in limits.items():
            spend_attempt(subject, limit)


def forgive_attempts(subjects: Iterable[str]) -> None:
    """Takes the last attempt at each back: it succeeded, and only failures count."""
    with connection.cursor() as cursor:
        for subject in subjects:
            cursor.execute(_FORGIVE, {"subject": digest_subject(subject)})


def forget_old_attempts() -> int:
    """Deletes what no window reaches back to; returns how many subjects that were."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET)
        return int(cursor.rowcount)


def digest_subject(subject: str) -> bytes:
    return salted_hmac("accounts.limits", subject, secret=settings.SECRET_KEY, algorithm="sha256").digest()
