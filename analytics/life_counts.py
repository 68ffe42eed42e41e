"""Days that are over are added to what was counted over each link's life.

Adding every click to both would cost the pipeline a third of its rate. Batches of fresh clicks know nothing of this:
only one with clicks of a day that may be closed asks, and waits while days are being closed.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from analytics.salts import EPOCH

# Days stay open so long that fresh clicks and hosts whose clocks differ never meet a closed one.
OPEN_DAYS = 3
_LOCK = 5_823_140_977

_CLOSE = """
INSERT INTO analytics_lifecount AS t (link_id, dimension, value, clicks)
SELECT link_id, dimension, value, sum(clicks) FROM analytics_daycount
WHERE day > %(closed)s AND day <= %(last)s GROUP BY 1, 2, 3
ON CONFLICT (link_id, dimension, value) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""


def closed_day(first: int) -> date:
    """The last day that is closed, for a batch whose earliest click is of the day ``first`` since 1970.

    In the caller's transaction, until whose end no more days are closed if that would matter.
    """
    today = (datetime.now(UTC).date() - EPOCH).days
    if first > today - OPEN_DAYS + 1:
        return EPOCH
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [_LOCK])
        return _closed(cursor)


def close_days() -> None:
    """Adds the days that are over. Any number of hosts may do so at once."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        closed = _closed(cursor)
        cursor.execute("SELECT (now() AT TIME ZONE 'UTC')::date - %s", [OPEN_DAYS])
        (last,) = cursor.fetchone() or (closed,)
        if last > closed:
            cursor.execute(_CLOSE, {"closed": closed, "last": last})
            cursor.execute("UPDATE analytics_closedday SET day = %s", [last])


def _closed(cursor: CursorWrapper) -> date:
    cursor.execute("SELECT day FROM analytics_closedday")
    day: date = cursor.fetchone()[0]
    return day
