"""A batch of clicks goes into the tables: COPY once, the rest is set against set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from django.db import connection

from analytics.facts import DAY_MICROSECONDS, UNKNOWN, Facts
from analytics.life_counts import closed_day
from analytics.models import Dimension, Kind
from analytics.salts import date_of
from links.services import add_clicks

_BATCH = """
CREATE TEMPORARY TABLE IF NOT EXISTS batch (
    microseconds bigint, link_id bigint, kind smallint, counted boolean, reason text, country text, city text,
    device text, browser text, operating_system text, referrer text, referrer_host text, visitor uuid,
    scanned boolean
) ON COMMIT DELETE ROWS;
DELETE FROM batch
"""

_TIME = "'epoch'::timestamptz + microseconds * interval '1 microsecond'"
_DAY = f"(({_TIME}) AT TIME ZONE 'UTC')::date"
_IS_CLICK = f"kind = {Kind.CLICK}"

_CLICKS = f"""
INSERT INTO analytics_click (
    time, link_id, kind, reason, country, city, device, browser, operating_system, referrer, scanned
)
SELECT {_TIME}, link_id, kind, reason, country, city, device, browser, operating_system, referrer, scanned FROM batch
"""  # noqa: S608 # put together from constants, as below

# The visitors who are new on their day, and in which quarter of an hour they came first.
_TOTALS = f"""
WITH first AS (
    SELECT {_DAY} AS day, link_id, visitor, date_bin('15 minutes', min({_TIME}), 'epoch') AS start
    FROM batch WHERE {_IS_CLICK} AND visitor IS NOT NULL GROUP BY 1, 2, 3
), new AS (
    INSERT INTO analytics_dayvisitor (day, link_id, visitor) SELECT day, link_id, visitor FROM first
    ON CONFLICT DO NOTHING RETURNING day, link_id, visitor
), total AS (
    SELECT link_id, start, sum(clicks) AS clicks, sum(unique_clicks) AS unique_clicks FROM (
        SELECT link_id, date_bin('15 minutes', {_TIME}, 'epoch') AS start, 1 AS clicks, 0 AS unique_clicks
        FROM batch WHERE {_IS_CLICK}
        UNION ALL SELECT link_id, start, 0, 1 FROM new JOIN first USING (day, link_id, visitor)
    ) one GROUP BY 1, 2
), days AS (
    INSERT INTO analytics_daytotal AS t (link_id, day, clicks, unique_clicks)
    SELECT link_id, (start AT TIME ZONE 'UTC')::date, sum(clicks), sum(unique_clicks) FROM total GROUP BY 1, 2
    ON CONFLICT (link_id, day) DO UPDATE
    SET clicks = t.clicks + EXCLUDED.clicks, unique_clicks = t.unique_clicks + EXCLUDED.unique_clicks
)
INSERT INTO analytics_quartertotal AS t (link_id, start, clicks, unique_clicks)
SELECT link_id, start, clicks, unique_clicks FROM total
ON CONFLICT (link_id, start) DO UPDATE
SET clicks = t.clicks + EXCLUDED.clicks, unique_clicks = t.unique_clicks + EXCLUDED.unique_clicks
"""  # noqa: S608

# A city that is not known is not counted: it is what the country has besides its cities.
_VALUES = {
    Dimension.COUNTRY: ("country", _IS_CLICK),
    Dimension.CITY: ("country || ' ' || city", f"{_IS_CLICK} AND city <> '{UNKNOWN}'"),
    Dimension.DEVICE: ("device", _IS_CLICK),
    Dimension.BROWSER: ("browser", _IS_CLICK),
    Dimension.OPERATING_SYSTEM: ("operating_system", _IS_CLICK),
    Dimension.REFERRER: ("referrer_host", _IS_CLICK),
    Dimension.SOURCE: ("'qr'", f"{_IS_CLICK} AND scanned"),
    Dimension.OUTCOME: (
        f"""CASE kind
            WHEN {Kind.HEAD} THEN 'head' WHEN {Kind.PREFETCH} THEN 'prefetch' WHEN {Kind.CRAWLER} THEN 'crawler'
            ELSE 'refused:' || reason
        END""",
        f"NOT {_IS_CLICK}",
    ),
}
# One after the other: grouping all dimensions at once takes twice as long.
_COUNTED = " UNION ALL ".join(
    f"SELECT link_id, {dimension}::smallint AS dimension, {_DAY} AS day, {value} AS value, count(*) AS clicks"  # noqa: S608
    f" FROM batch WHERE {condition} GROUP BY link_id, day, value"
    for dimension, (value, condition) in _VALUES.items()
)
_COUNTS = f"""
WITH counted AS MATERIALIZED ({_COUNTED}), days AS (
    INSERT INTO analytics_daycount AS t (link_id, dimension, day, value, clicks)
    SELECT link_id, dimension, day, value, clicks FROM counted
    ON CONFLICT (link_id, dimension, day, value) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
)
INSERT INTO analytics_lifecount AS t (link_id, dimension, value, clicks)
SELECT link_id, dimension, value, sum(clicks) FROM counted WHERE day <= %(closed)s GROUP BY 1, 2, 3
ON CONFLICT (link_id, dimension, value) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks
"""  # noqa: S608

_UNKNOWN_CODES = """
INSERT INTO analytics_unknowncode AS t (domain_id, day, hits)
SELECT * FROM unnest(%s::bigint[], %s::date[], %s::bigint[]) ORDER BY 1, 2
ON CONFLICT (domain_id, day) DO UPDATE SET hits = t.hits + EXCLUDED.hits
"""


def add_to_tables(batch: Sequence[Facts]) -> None:
    """Counts clicks in every table, in the caller's transaction.

    First come the counters of the links, in their order, and no other row is written without its link's counter:
    so batches never wait for each other in a circle. Clicks of links that are gone are left out.
    """
    ids = {each.link_id for each in batch}
    clicks = Counter(each.link_id for each in batch if each.kind == Kind.CLICK and not each.counted)
    existing = add_clicks({link_id: clicks[link_id] for link_id in ids})
    with connection.cursor() as cursor:
        # Grouping a batch takes some; the default would have it done on the disk.
        cursor.execute("SET LOCAL work_mem = '64MB'")
        cursor.execute(_BATCH)
        # Django translates the errors of statements alone.
        with connection.wrap_database_errors, cursor.copy("COPY batch FROM STDIN") as copy:
            for each in batch:
                if each.link_id in existing:
                    copy.write_row(each)
        cursor.execute(_CLICKS)
        cursor.execute(_TOTALS)
        cursor.execute(_COUNTS, {"closed": closed_day(min(each.time for each in batch) // DAY_MICROSECONDS)})


def add_unknown_codes(hits: Iterable[tuple[int, int]]) -> None:
    """``hits`` are (domain, day since 1970)."""
    counted = Counter(hits)
    if counted:
        with connection.cursor() as cursor:
            cursor.execute(
                _UNKNOWN_CODES,
                [
                    [domain for domain, _ in counted],
                    [date_of(day) for _, day in counted],
                    list(counted.values()),
                ],
            )
