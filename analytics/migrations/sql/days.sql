-- A link's day is one row, with its quarters of an hour and the counts of all values packed. Views show them as rows.

-- Free space in a page keeps the versions of a row there: updates then touch no index (HOT), and tables stay smaller.
ALTER TABLE analytics_daytotal SET (fillfactor = 70);
ALTER TABLE analytics_daytotal SET (parallel_workers = 0);
-- The rows of a day are stored in the order of their arrival: a BRIN index on them costs the drainer almost nothing.
CREATE INDEX daytotal_day ON analytics_daytotal USING brin (day) WITH (pages_per_range = 32, autosummarize = on);
-- On an expression, which only the closing of days uses: the planner took this index for reports of a link, too, and read
-- the rows of all links.
CREATE INDEX busydaycount_day ON analytics_busydaycount
    USING brin ((day - date '1970-01-01')) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX busydaycount_outcome_day ON analytics_busydaycount (day) WHERE dimension = 5;

CREATE VIEW analytics_quartertotal AS
SELECT link_id, day, (day + quarter * interval '15 minutes') AT TIME ZONE 'UTC' AS start, slot, clicks, unique_clicks
FROM analytics_daytotal WHERE quarters IS NULL
UNION ALL
SELECT link_id, day, (day + quarters[place] * interval '15 minutes') AT TIME ZONE 'UTC', slot, quarters[place + 1],
    quarters[place + 2]
FROM analytics_daytotal, generate_series(1, cardinality(quarters), 3) place WHERE quarters IS NOT NULL;
COMMENT ON VIEW analytics_quartertotal IS 'Clicks of each link and quarter of an hour. Add up the slots.';

-- Unsafe, so that no report starts parallel workers, which would take longer than the report. PostgreSQL inlines it.
CREATE FUNCTION analytics_unpacked(counts text) RETURNS TABLE (dimension smallint, value text, clicks bigint)
LANGUAGE sql IMMUTABLE PARALLEL UNSAFE AS $$
    SELECT (ascii(entry) - 48)::smallint,
        CASE strpos(entry, E'\x1f') WHEN 0 THEN substr(entry, 2) ELSE split_part(substr(entry, 2), E'\x1f', 1) END,
        CASE strpos(entry, E'\x1f') WHEN 0 THEN 1 ELSE split_part(entry, E'\x1f', 2)::bigint END
    FROM unnest(string_to_array(counts, E'\x1e')) entry
$$;
CREATE VIEW analytics_daycount AS
SELECT link_id, dimension, slot, day, value COLLATE "C" AS value, c.clicks
FROM analytics_daytotal, analytics_unpacked(counts) c
UNION ALL SELECT link_id, dimension, slot, day, value, clicks FROM analytics_busydaycount;
COMMENT ON VIEW analytics_daycount IS 'Clicks by link, day and value. See the view analytics_readable_daycount.';

-- The visitors of a link and day are blocks of hashes, which cannot be compressed, and are too small for a place of their own.
ALTER TABLE analytics_visitorblock SET (fillfactor = 70);
ALTER TABLE analytics_visitorblock ALTER COLUMN hashes SET STORAGE EXTERNAL;
