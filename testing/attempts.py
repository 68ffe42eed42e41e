"""Lets time pass for the limits on attempts. They use the database's clock, so tests change the stored times."""

from __future__ import annotations

from django.db import connection

# Found before PostgreSQL's own function until the transaction ends.
_SLOW_CLOCK = """
CREATE SCHEMA slow;
CREATE SEQUENCE slow.ticks;
CREATE FUNCTION slow.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS $$ SELECT pg_catalog.now() + pg_catalog.nextval('slow.ticks') * interval '1 microsecond' $$;
SET LOCAL search_path = slow, pg_catalog, public;
"""


def slow_down_clock() -> None:
    """Until the transaction ends, the database's clock advances by a microsecond with each call.

    Otherwise, a result in whole seconds would depend on the speed of the machine.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SLOW_CLOCK)


def pass_time(*, minutes: int = 0, seconds: float = 0) -> None:
    """Make every recorded attempt older by this time."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE limits_attemptlog SET attempts = ARRAY("
            "SELECT attempt - %s * interval '1 s' FROM unnest(attempts) WITH ORDINALITY AS each(attempt, place)"
            " ORDER BY place)",
            [60 * minutes + seconds],
        )


def age_minutes(*, seconds: float) -> None:
    """Make every minute of counted requests start earlier by this time."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE limits_requestcount SET started = started - %s * interval '1 s'", [seconds])
