"""Closes past days: adds their counts to each link's lifetime counts, and to the months of busy links.

Adding every click to these tables, too, would cost the pipeline a third of its throughput. Batches of recent clicks
skip it: only a batch with clicks of a day that may be closed checks, and waits while another process closes days.
"""

from __future__ import annotations

from datetime import date, timedelta

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from analytics.counting.host_clocks import confirmed_date
from analytics.counting.tables.month_counts import CLOSE_MONTHS, SUMMED
from analytics.counting.tables.salts import EPOCH

# Long enough that recent clicks, and hosts with clock skew, never hit a closed day.
OPEN_DAYS = 3
# With fewer clicks in a month, reports read its days quickly enough, and each click would pay for more bytes of the
# month's rows.
BUSY_CLICKS = 50_000
# The advisory lock of closing days: exclusive while days are closed, shared while they must stay open.
LOCK = 5_823_140_977

_CLOSE = """
INSERT INTO analytics_lifecount AS t (link_id, dimension, slot, value, clicks)
SELECT link_id, dimension, 0, value, sum(clicks) FROM analytics_daycount
WHERE day > %(closed)s AND day <= %(last)s GROUP BY link_id, dimension, value
ON CONFLICT (link_id, dimension, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""


def closed_day(first: int) -> date | None:
    """The last closed day, for a batch whose earliest click is on the day ``first`` since 1970.

    If the batch may have clicks of closed days, no more days are closed until the caller's transaction ends. Otherwise
    returns None.
    """
    with connection.cursor() as cursor:
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
