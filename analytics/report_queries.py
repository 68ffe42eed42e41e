"""The SQL of reports.

In UTC, and without dates, the roll-ups by day and for life say everything. Another zone's days begin and end inside
days of UTC: totals come by quarters of an hour then, and values out of the raw clicks at both ends of the range.
"""

# ruff: noqa: S608 # all of it is put together from constants

from analytics.models import Dimension, Kind

LIFE = """
SELECT dimension, value, clicks FROM analytics_lifecount
WHERE link_id = %(link)s AND dimension = ANY(%(dimensions)s::smallint[] || %(outcomes)s::smallint[])
"""
_SPANS = "unnest(%(edges_since)s::timestamptz[], %(edges_until)s::timestamptz[]) AS span(since, until)"
# Raw clicks are deleted some day. What the deleted ones would have said is unknown, but they are still clicks.
RANGE = f"""
WITH edge AS MATERIALIZED (
    SELECT country, country || ' ' || city AS city, device, browser, operating_system,
        coalesce(nullif(regexp_replace(split_part(referrer, '/', 3), '^www\\.', ''), ''), 'direct') AS referrer
    FROM {_SPANS} JOIN analytics_click ON time >= since AND time < until
    WHERE link_id = %(link)s AND kind = {Kind.CLICK}
), deleted AS (
    SELECT (
        SELECT coalesce(sum(clicks), 0) FROM {_SPANS} JOIN analytics_quartertotal ON start >= since AND start < until
        WHERE link_id = %(link)s
    ) - (SELECT count(*) FROM edge) AS clicks
)
SELECT dimension, value, sum(clicks)::bigint AS clicks FROM (
    SELECT dimension, value, clicks FROM analytics_daycount
    WHERE link_id = %(link)s AND dimension = ANY(%(dimensions)s::smallint[])
    AND day BETWEEN %(whole_first)s AND %(whole_last)s
    UNION ALL
    SELECT dimension, value, clicks FROM analytics_daycount
    WHERE link_id = %(link)s AND dimension = ANY(%(outcomes)s::smallint[])
    AND day BETWEEN %(touched_first)s AND %(touched_last)s
    UNION ALL
    SELECT dimension, value, 1 FROM edge, unnest(
        ARRAY[
            {Dimension.COUNTRY}, {Dimension.CITY}, {Dimension.DEVICE}, {Dimension.BROWSER},
            {Dimension.OPERATING_SYSTEM}, {Dimension.REFERRER}
        ]::smallint[],
        ARRAY[country, city, device, browser, operating_system, referrer]
    ) AS said(dimension, value) WHERE dimension = ANY(%(dimensions)s::smallint[])
    UNION ALL
    SELECT dimension, CASE dimension WHEN {Dimension.CITY} THEN 'unknown unknown' ELSE 'unknown' END, deleted.clicks
    FROM unnest(%(dimensions)s::smallint[]) AS dimension, deleted WHERE deleted.clicks > 0
) part GROUP BY 1, 2
"""

# Of the dimensions that are limited the most frequent values, of the others all.
VALUES = """
SELECT dimension::integer, value, clicks, 0::bigint FROM (
    SELECT *, row_number() OVER (PARTITION BY dimension ORDER BY clicks DESC, value COLLATE "C") AS place
    FROM ({counts}) counted WHERE clicks > 0
) placed WHERE place <= %(limit)s OR dimension <> ALL(%(limited)s::smallint[])
"""

# In the columns of VALUES, where no dimension has the number 0.
BY_DAY = """
SELECT 0, width_bucket(day, %(steps)s::date[])::text, sum(clicks)::bigint, sum(unique_clicks)::bigint
FROM analytics_daytotal
WHERE link_id = %(link)s AND day >= %(since)s::date AND day < %(until)s::date GROUP BY 2
"""
BY_QUARTER = """
SELECT 0, width_bucket(start, %(steps)s::timestamptz[])::text, sum(clicks)::bigint, sum(unique_clicks)::bigint
FROM analytics_quartertotal
WHERE link_id = %(link)s AND start >= %(since)s::timestamptz AND start < %(until)s::timestamptz GROUP BY 2
"""
ORDERED = """
SELECT * FROM ({parts}) part(dimension, value, clicks, unique_clicks)
ORDER BY dimension, clicks DESC, value COLLATE "C"
"""

FIRST_AND_LAST_DAY = (
    "SELECT min(day), max(day) FROM analytics_daytotal WHERE link_id = %(link)s AND clicks > 0"
)
FIRST_AND_LAST_QUARTER = """
SELECT min(start), max(start) FROM analytics_quartertotal WHERE link_id = %(link)s AND clicks > 0
"""
