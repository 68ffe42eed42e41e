"""The date that the clocks of all hosts and of the database confirm: what depends on it cannot be undone.

Each host stores its own date every minute. The reports are numbered instead of dated, because the database's clock is
one of those in doubt.
"""

from __future__ import annotations

import logging
import socket
from datetime import UTC, date, datetime, timedelta

from django.conf import settings
from django.db import connection

# A host is forgotten after so many reports of others: two hosts make them in half a day.
FORGOTTEN_AFTER = 1000

log = logging.getLogger(__name__)

_REPORT = """
INSERT INTO analytics_hostclock (host, day, report)
SELECT %s, %s, coalesce(max(report), 0) + 1 FROM analytics_hostclock
ON CONFLICT (host) DO UPDATE SET day = EXCLUDED.day, report = EXCLUDED.report
"""
_FORGET = "DELETE FROM analytics_hostclock WHERE report <= (SELECT max(report) FROM analytics_hostclock) - %s"


def report_date() -> None:
    """Store the date of this host's clock."""
    host = f"{socket.gethostname()}:{settings.VAR_DIR}"
    with connection.cursor() as cursor:
        cursor.execute(_REPORT, [host, datetime.now(UTC).date()])


def confirmed_date() -> date:
    """The earliest of the dates of the database and of all hosts."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, [FORGOTTEN_AFTER])
        cursor.execute("SELECT (now() AT TIME ZONE 'UTC')::date")
        [(today,)] = cursor.fetchall()
        cursor.execute("SELECT day, host FROM analytics_hostclock ORDER BY day LIMIT 1")
        day, host = cursor.fetchone() or (today, "")
    # Around midnight, and just after a report, the dates differ by one.
    if today - day > timedelta(days=1):
        log.error(
            "The database's date is %s, that of %s is %s. Until they agree, no day after that is closed.",
            today,
            host,
            day,
        )
    confirmed: date = min(today, day)
    return confirmed
