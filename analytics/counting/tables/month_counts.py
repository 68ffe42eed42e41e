"""The SQL that maintains the counts of busy months.

MonthCount has a month of a link if BusyMonth has it, and then all of the month's closed days. Both tables are written
under the lock of `analytics.counting.tables.lifetime_counts`.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from analytics.models import Dimension

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
