"""Time for those who have tried too often: the clock is the database's, and nobody waits."""

from __future__ import annotations

from django.db import connection


def pass_time(*, minutes: int = 0, seconds: float = 0) -> None:
    """Makes every attempt so far that much older."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE accounts_attemptlog SET attempts = ARRAY("
            "SELECT attempt - %s * interval '1 s' FROM unnest(attempts) WITH ORDINALITY AS each(attempt, place)"
            " ORDER BY place)",
            [60 * minutes + seconds],
        )
