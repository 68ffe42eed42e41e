"""The secret salt of each day. It is destroyed two days later; after that, visitor hashes identify nobody."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import date, timedelta

from django.db import connection

EPOCH = date(1970, 1, 1)
KEPT_DAYS = 2
SALT_BYTES = 32


def salts_of(days: Iterable[int]) -> dict[int, bytes]:
    """Salts by day since 1970, created if missing, in the caller's transaction. Raises ValueError for bad days."""
    dates = {date_of(day): day for day in days}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO analytics_daysalt (day, salt)
            SELECT * FROM unnest(%s::date[], %s::bytea[]) ORDER BY 1 ON CONFLICT DO NOTHING
            """,
            [sorted(dates), [secrets.token_bytes(SALT_BYTES) for _ in dates]],
        )
        cursor.execute("SELECT day, salt FROM analytics_daysalt WHERE day = ANY(%s)", [list(dates)])
        return {dates[day]: bytes(salt) for day, salt in cursor.fetchall()}


def delete_old_visitors() -> None:
    """Delete salts and visitor hashes older than KEPT_DAYS."""
    with connection.cursor() as cursor:
        for table in ("analytics_daysalt", "analytics_visitorblock"):
            cursor.execute(
                f"DELETE FROM {table} WHERE day < (now() AT TIME ZONE 'UTC')::date - %s",  # noqa: S608 # constants
                [KEPT_DAYS - 1],
            )


def date_of(day: int) -> date:
    """The date of a day number since 1970. Raises ValueError if it is out of range."""
    try:
        return EPOCH + timedelta(days=day)
    except OverflowError:
        raise ValueError("the time is out of range") from None
