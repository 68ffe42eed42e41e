"""The SQL that writes a batch of clicks to the tables. Every statement writes its rows in the order of their keys.

Trades clarity for speed: groups by numbers of days and quarters of an hour, and counts all dimensions in one sort.
PostgreSQL takes 17.5 us for a click of 10,000 links by Zipf's law, and took 23.8.
"""

# ruff: noqa: S608 # built from constants

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from analytics.counting.tables.enrichment import Facts
from analytics.counting.tables.month_counts import add_late_months
from analytics.dimensions import IS_CLICK, OF_ALL_LINKS, OF_BRANCHES, UNKNOWN_BRANCH, Definition

CREATE_BATCH = """
CREATE TEMPORARY TABLE IF NOT EXISTS batch (
    microseconds bigint, link_id bigint, kind smallint, counted boolean, reason text, country text, city text,
    device text, browser text, operating_system text, referrer text, referrer_host text, visitor bigint,
    scanned boolean, branch_number smallint, is_unique boolean DEFAULT false
) ON COMMIT DELETE ROWS;
DELETE FROM batch
"""
COPY_BATCH = f"COPY batch (microseconds, {', '.join(Facts._fields[1:])}) FROM STDIN"

_TIME = "'epoch'::timestamptz + microseconds * interval '1 microsecond'"
# Days and quarters of an hour since 1970: integers are divided and compared more quickly than times. Times are later
# than 1970, see `analytics.counting.record_times`.
_DAY_NUMBER = "microseconds / 86400000000"
_QUARTER_NUMBER = "microseconds / 900000000"


def _day(number: str) -> str:
    return f"date '1970-01-01' + ({number})::integer"


_CLICK = (
    "link_id, kind, reason, country, city, device, browser, operating_system, referrer, scanned, is_unique"
)
_ADD_DAYS = """
INSERT INTO analytics_daycount AS t (link_id, dimension, slot, day, value, clicks)
SELECT link_id, dimension, %(slot)s, day, value, clicks FROM counted
ORDER BY link_id, dimension, day, value COLLATE "C"
ON CONFLICT (link_id, dimension, day, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""
_ADD_MONTHS = add_late_months("counted", "%(slot)s")
_ADD_LIFE = """
INSERT INTO analytics_lifecount AS t (link_id, dimension, slot, value, clicks)
SELECT link_id, dimension, %(slot)s, value, sum(clicks) FROM counted WHERE day <= %(closed)s
GROUP BY link_id, dimension, value ORDER BY link_id, dimension, value COLLATE "C"
ON CONFLICT (link_id, dimension, value, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""
ADD_CLICKS = f"""
INSERT INTO analytics_click (time, {_CLICK}) SELECT {_TIME}, {_CLICK} FROM batch WHERE branch_number = 0
"""


class _Statement(NamedTuple):
    """``late`` also adds to the tables of closed days, which ``recent`` does not even plan."""

    recent: str
    late: str

    def of(self, closed: date | None) -> str:
        """``closed``: see `analytics.counting.tables.lifetime_counts.closed_day`."""
        return self.recent if closed is None else self.late


def _add_values(definitions: Iterable[Definition], batch: str, before: str = "") -> _Statement:
    # One sort groups all dimensions, and is the order in which their rows are written.
    values = " UNION ALL ".join(
        f"SELECT link_id, {definition.dimension}::smallint AS dimension, {_DAY_NUMBER} AS day,"
        f' ({definition.batch_value or definition.value}) COLLATE "C" AS value'
        f" FROM {batch} WHERE {definition.is_stored_of_batch}"
        for definition in definitions
    )
    counted = (
        f"SELECT link_id, dimension, {_day('day')} AS day, value, count(*) AS clicks"
        f" FROM ({values}) click GROUP BY link_id, dimension, click.day, value"
    )
    parts = f"WITH {before}counted AS MATERIALIZED ({counted})"
    return _Statement(
        f"{parts} {_ADD_DAYS}",
        f"{parts}, days AS ({_ADD_DAYS}), months AS ({_ADD_MONTHS}) {_ADD_LIFE}",
    )


ADD_VALUES = _add_values(OF_ALL_LINKS, "batch")
# Hosts' clocks differ slightly from the database's. A click this long before the first URL of a branch is one on it.
_CLOCK_SKEW = "interval '1 minute'"
_BRANCHES_OF_NUMBER = (
    "SELECT branch FROM links_route r WHERE r.link_id = click.link_id AND number = branch_number"
)
_BRANCH_AT_TIME = f"""SELECT branch FROM (
    ({_BRANCHES_OF_NUMBER} AND since <= time ORDER BY since DESC LIMIT 1)
    UNION ALL
    ({_BRANCHES_OF_NUMBER} AND since > time AND since <= time + {_CLOCK_SKEW} ORDER BY since LIMIT 1)
) branches LIMIT 1"""
# Looks up each branch once: an update of the link that commits meanwhile may change the result of a second look-up.
_OF_BRANCHES = f"""of_branches AS MATERIALIZED (
    SELECT *, coalesce(({_BRANCH_AT_TIME}), '{UNKNOWN_BRANCH}') AS branch
    FROM (SELECT *, {_TIME} AS time FROM batch WHERE branch_number <> 0) click
), clicks AS (
    INSERT INTO analytics_click (time, {_CLICK}, branch) SELECT time, {_CLICK}, branch FROM of_branches
), """
# After ADD_TOTALS_OF_BRANCHES, which decides which of these clicks are unique.
ADD_CLICKS_AND_VALUES_OF_BRANCHES = _add_values(OF_BRANCHES, "of_branches", _OF_BRANCHES)

# New visitors of each day, and the quarter of an hour of their first click.
_ADD_TOTALS = f"""
WITH first AS (
    SELECT {_day(_DAY_NUMBER)} AS day, link_id, visitor, min({_QUARTER_NUMBER}) AS quarter
    FROM batch WHERE {IS_CLICK} AND visitor IS NOT NULL GROUP BY {_DAY_NUMBER}, link_id, visitor
), new AS (
    INSERT INTO analytics_dayvisitor (day, link_id, visitor) SELECT day, link_id, visitor FROM first ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING RETURNING day, link_id, visitor
), {{marked}} total AS (
    SELECT link_id, quarter, sum(clicks) AS clicks, sum(unique_clicks) AS unique_clicks FROM (
        SELECT link_id, {_QUARTER_NUMBER} AS quarter, count(*) AS clicks, 0 AS unique_clicks
        FROM batch WHERE {IS_CLICK} GROUP BY 1, 2
        UNION ALL SELECT link_id, quarter, 0, 1 FROM new JOIN first USING (day, link_id, visitor)
    ) one GROUP BY 1, 2
), days AS (
    INSERT INTO analytics_daytotal AS t (link_id, day, slot, clicks, unique_clicks)
    SELECT link_id, {_day("quarter / 96")}, %(slot)s, sum(clicks), sum(unique_clicks) FROM total
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (link_id, day, slot) DO UPDATE
    SET clicks = t.clicks + EXCLUDED.clicks, unique_clicks = t.unique_clicks + EXCLUDED.unique_clicks
)
INSERT INTO analytics_quartertotal AS t (link_id, start, slot, clicks, unique_clicks)
SELECT link_id, 'epoch'::timestamptz + quarter * interval '15 minutes', %(slot)s, clicks, unique_clicks FROM total
ORDER BY 1, 2
ON CONFLICT (link_id, start, slot) DO UPDATE
SET clicks = t.clicks + EXCLUDED.clicks, unique_clicks = t.unique_clicks + EXCLUDED.unique_clicks
"""
# Of equal times, the click that comes first in the journal.
_MARK_UNIQUE = f"""
first_click AS (
    SELECT DISTINCT ON (day, link_id, visitor) batch.ctid AS place, branch_number
    FROM batch JOIN new USING (link_id, visitor) WHERE {IS_CLICK} AND day = {_day(_DAY_NUMBER)}
    ORDER BY day, link_id, visitor, microseconds, batch.ctid
), marked AS (
    UPDATE batch SET is_unique = true FROM first_click WHERE batch.ctid = place AND first_click.branch_number <> 0
),
"""
ADD_TOTALS = _ADD_TOTALS.format(marked="")
# Also marks the unique clicks of branches in the batch.
ADD_TOTALS_OF_BRANCHES = _ADD_TOTALS.format(marked=_MARK_UNIQUE)

ADD_UNKNOWN_CODES = """
INSERT INTO analytics_unknowncode AS t (domain_id, day, hits, slot)
SELECT *, %s FROM unnest(%s::bigint[], %s::date[], %s::bigint[]) ORDER BY 1, 2
ON CONFLICT (domain_id, day, slot) DO UPDATE SET hits = t.hits + EXCLUDED.hits
"""
