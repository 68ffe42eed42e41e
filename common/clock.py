"""The offset of this host's clock from the database's, which determines days and deletions."""

from __future__ import annotations

import time

from django.db import connection

# Log offsets above the first bound. Above the second bound, the host is not ready for traffic.
TOLERATED_SECONDS = 5.0
UNREADY_SECONDS = 60.0


def seconds_ahead() -> float:
    """Seconds by which this host's clock is ahead of the database's; negative: behind.

    The round trip adds uncertainty, so the result is the smallest offset that is consistent with the measurement.
    Raises django.db.Error.
    """
    before = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        database: float = cursor.fetchall()[0][0]
    after = time.time()
    if before <= database <= after:
        return 0.0
    return before - database if database < before else after - database
