"""Closes past days: adds their counts to each link's lifetime counts, and to the months of busy links.

Adding every click to these tables, too, would cost the pipeline a third of its throughput. Batches of recent clicks
skip it: only a batch with clicks of a day that may be closed checks, and waits while another process closes days.

A day is closed once the clocks of all hosts and of the database confirm that it is over, because closing it cannot be
undone. Each host stores its own date every minute. The reports are numbered instead of dated, because the database's
clock is one of those in doubt.

MonthCount has a month of a link if BusyMonth has it, and then all of the month's closed days.
"""

# built from constants

from __future__ import annotations

import logging
import socket
from datetime import UTC, date, datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from analytics.counting.day_visitors import EPOCH
from analytics.models import Dimension
from common.database import prepared_cursor

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


# Reports count outcomes by touched days, of which there are few rows.
SUMMED = [int(dimension) for dimension in Dimension if dimension != Dimension.OUTCOME]


def month_of(day: str) -> str:
    """An SQL expression: the first day of the month of the date ``day``."""
    return f"date_trunc('month', ({day})::timestamp)::date"


_FIRST_MONTH = month_of("%(closed)s::date + 1")
# A month that becomes busy adds all of its closed days, a month that was busy before the days that are closed now. The
# second query of ``added`` does not see the rows that the statement inserts. The grouping inside LATERAL lets the view
# look up the days of a link by index.
CLOSE_MONTHS = f"""
WITH new AS (
    INSERT INTO analytics_busymonth (link_id, month)
    SELECT link_id, {month_of("day")} AS month FROM analytics_daytotal
    WHERE day >= {_FIRST_MONTH} AND day <= %(last)s GROUP BY 1, 2 HAVING sum(clicks) >= %(busy)s
    ON CONFLICT DO NOTHING RETURNING link_id, month
), added AS MATERIALIZED (
    SELECT link_id, month, month AS first FROM new
    UNION ALL
    SELECT link_id, month, greatest(month, %(closed)s::date + 1) FROM analytics_busymonth
    WHERE month >= {_FIRST_MONTH} AND month <= %(last)s
)
INSERT INTO analytics_monthcount AS t (link_id, dimension, month, value, slot, clicks)
SELECT link_id, dimension, month, value, 0, clicks FROM added, LATERAL (
    SELECT dimension, value, sum(clicks) AS clicks FROM analytics_daycount d
    WHERE d.link_id = added.link_id AND dimension = ANY(%(summed)s::smallint[])
    AND day >= first AND day < month + interval '1 month' AND day <= %(last)s GROUP BY 1, 2
) counted ORDER BY 1, 2, 3, 4
ON CONFLICT (link_id, dimension, month, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""


def add_late_months(counted: str, slot: str) -> str:
    """The statement that adds the closed days of ``counted`` to their months, where these are busy.

    ``counted`` has the columns link_id, dimension, day, value and clicks.
    """
    return f"""
INSERT INTO analytics_monthcount AS t (link_id, dimension, month, value, slot, clicks)
SELECT counted.link_id, dimension, month, value, {slot}, sum(counted.clicks) FROM {counted}
JOIN analytics_busymonth busy ON busy.link_id = counted.link_id AND month = {month_of("day")}
WHERE day <= %(closed)s AND dimension <> {Dimension.OUTCOME}
GROUP BY counted.link_id, dimension, month, value ORDER BY 1, 2, 3, value COLLATE "C"
ON CONFLICT (link_id, dimension, month, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""


# Long enough that recent clicks, and hosts with clock skew, never hit a closed day.
OPEN_DAYS = 3
# With fewer clicks in a month, reports read its days quickly enough, and each click would pay for more bytes of the
# month's rows.
BUSY_CLICKS = 50_000
# The advisory lock of closing days: exclusive while days are closed, shared while they must stay open.
LOCK = 5_823_140_977

# The days as dates and as numbers: the tables have an index on either.
_CLOSE = """
INSERT INTO analytics_lifecount AS t (link_id, dimension, slot, value, clicks)
SELECT link_id, dimension, 0, value, sum(clicks) FROM analytics_daycount
WHERE day > %(closed)s AND day <= %(last)s
AND day - date '1970-01-01' > %(closed)s::date - date '1970-01-01'
AND day - date '1970-01-01' <= %(last)s::date - date '1970-01-01'
GROUP BY link_id, dimension, value
ON CONFLICT (link_id, dimension, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""


def closed_day(first: int) -> date | None:
    """The last closed day, for a batch whose earliest click is on the day ``first`` since 1970.

    If the batch may have clicks of closed days, no more days are closed until the caller's transaction ends. Otherwise
    returns None.
    """
    with prepared_cursor() as cursor:
        cursor.execute("SELECT (now() AT TIME ZONE 'UTC')::date, day FROM analytics_closedday")
        [(today, closed)] = cursor.fetchall()
        # A clock that was ahead may have closed days that are not over.
        if first > (max(today - timedelta(days=OPEN_DAYS - 1), closed) - EPOCH).days:
            return None
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [LOCK])
        return _closed(cursor)


def close_days(busy: int = BUSY_CLICKS) -> None:
    """Close all days older than OPEN_DAYS by the clocks of all hosts. Any number of them may call this concurrently.

    ``busy``: MonthCount includes the months of a link that have so many clicks when one of their days is closed. Late
    and imported clicks of an earlier month do not make it busy.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        closed = _closed(cursor)
        last = confirmed_date() - timedelta(days=OPEN_DAYS)
        if last > closed:
            cursor.execute(_CLOSE, {"closed": closed, "last": last})
            cursor.execute(CLOSE_MONTHS, {"closed": closed, "last": last, "busy": busy, "summed": SUMMED})
            cursor.execute("UPDATE analytics_closedday SET day = %s", [last])


def wait_for_closing_days() -> None:
    """Return once no transaction is closing days that it read before this call.

    Call it outside a transaction, after deleting days: whoever closes days later does not find them.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [LOCK])


def _closed(cursor: CursorWrapper) -> date:
    cursor.execute("SELECT day FROM analytics_closedday")
    day: date = cursor.fetchone()[0]
    return day
