-- A roll-up has the days of all links of a large workspace or domain added up, as if all clicks were on one link: its
-- rows have minus its number instead of a link. What changes these sums waits in analytics_rollupchange until the drainer adds it
-- to the rows, see analytics/counting/summed_links.py; reports add both.

-- Rows are inserted, read once and deleted.
ALTER TABLE analytics_rollupchange SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
ALTER TABLE analytics_rollupchange ALTER COLUMN links SET STORAGE EXTERNAL, ALTER COLUMN link_clicks SET STORAGE EXTERNAL;
-- Most rows have some hundred links. To compress them takes longer than to write them, and to read them elsewhere, too.
ALTER TABLE analytics_rolluplinks SET (toast_tuple_target = 8160);
ALTER TABLE analytics_rolluplinks ALTER COLUMN links SET STORAGE EXTERNAL, ALTER COLUMN clicks SET STORAGE EXTERNAL;

-- The views of reports, with the changes that wait.
CREATE VIEW analytics_rolledday AS
SELECT link_id, day, slot, clicks, unique_clicks, counts FROM analytics_daytotal
UNION ALL SELECT link_id, day, slot, clicks, unique_clicks, counts FROM analytics_rollupchange;
CREATE VIEW analytics_rolledquarter AS
SELECT link_id, day, start, slot, clicks, unique_clicks FROM analytics_quartertotal
UNION ALL
SELECT link_id, day, (day + quarters[place] * interval '15 minutes') AT TIME ZONE 'UTC', slot, quarters[place + 1],
    quarters[place + 2]
FROM analytics_rollupchange, generate_series(1, cardinality(quarters), 3) place;
CREATE VIEW analytics_rolledoutcome AS
SELECT link_id, day, dimension, value COLLATE "C" AS value, clicks FROM analytics_busydaycount
UNION ALL
SELECT link_id, day, c.dimension, c.value COLLATE "C", c.clicks
FROM analytics_rollupchange, analytics_unpacked(outcomes) c;

COMMENT ON VIEW analytics_rolledday IS 'analytics_daytotal with the changes of roll-ups that wait.';
COMMENT ON VIEW analytics_rolledquarter IS 'analytics_quartertotal with the changes of roll-ups that wait.';
COMMENT ON VIEW analytics_rolledoutcome IS 'analytics_busydaycount with the other requests of the changes that wait.';

-- Adds the days of links before a day to a roll-up, or subtracts them if sign is -1. The links of a workspace have the
-- same few packed entries again and again: each is unpacked once for each day.
CREATE FUNCTION analytics_change_rollup(rollup bigint, links bigint[], sign integer, before date DEFAULT 'infinity')
RETURNS void LANGUAGE sql SET enable_seqscan = off AS $$
WITH days AS MATERIALIZED (
    SELECT link_id, day, least(slot, 0::smallint) AS slot, quarter, clicks, unique_clicks, quarters, counts
    FROM analytics_daytotal WHERE link_id = ANY (links) AND day < before
), total AS (
    SELECT day, slot, sum(clicks) AS clicks, sum(unique_clicks) AS unique_clicks, array_agg(link_id) AS links,
        array_agg(sign * days.clicks) AS link_clicks
    FROM days GROUP BY 1, 2
), by_quarter AS (
    SELECT day, slot, quarter, sum(clicks) AS clicks, sum(unique_clicks) AS unique_clicks FROM (
        SELECT day, slot, quarter, clicks, unique_clicks FROM days WHERE quarters IS NULL
        UNION ALL
        SELECT day, slot, quarters[place], quarters[place + 1], quarters[place + 2]
        FROM days, generate_series(1, cardinality(quarters), 3) place WHERE quarters IS NOT NULL
    ) quarter GROUP BY 1, 2, 3
), timed AS (
    SELECT day, slot, array_agg(number::integer ORDER BY quarter, place) AS quarters
    FROM by_quarter, LATERAL (
        VALUES (0, quarter::bigint), (1, sign * clicks), (2, sign * unique_clicks)
    ) packed (place, number) GROUP BY 1, 2
), entry AS (
    SELECT day, slot, entry, count(*) AS number
    FROM days, unnest(string_to_array(counts, E'\x1e')) entry GROUP BY 1, 2, 3
), value AS (
    SELECT day, slot, dimension, value, sign * sum(clicks) AS clicks FROM (
        SELECT day, slot, dimension, value, c.clicks * number AS clicks FROM entry, analytics_unpacked(entry) c
        UNION ALL
        SELECT day, least(slot, 0::smallint), dimension, value, clicks
        FROM analytics_busydaycount WHERE link_id = ANY (links) AND day < before
    ) part WHERE dimension NOT IN (7, 8) GROUP BY 1, 2, 3, 4
), packed AS (
    SELECT day, slot,
        string_agg(dimension || value || E'\x1f' || clicks, E'\x1e') FILTER (WHERE dimension <> 5) AS counts,
        string_agg(dimension || value || E'\x1f' || clicks, E'\x1e') FILTER (WHERE dimension = 5) AS outcomes
    FROM value WHERE clicks <> 0 GROUP BY 1, 2
)
INSERT INTO analytics_rollupchange (
    link_id, day, slot, clicks, unique_clicks, quarters, counts, outcomes, links, link_clicks
)
SELECT -rollup, day, slot, coalesce(sign * clicks, 0), coalesce(sign * unique_clicks, 0), coalesce(quarters, '{}'),
    coalesce(counts, ''), coalesce(outcomes, ''), coalesce(total.links, '{}'), coalesce(link_clicks, '{}')
FROM total FULL JOIN packed USING (day, slot) LEFT JOIN timed USING (day, slot)
$$;

-- The links of each roll-up.
CREATE VIEW analytics_rolledlink AS
SELECT c.link_id, r.id AS rollup FROM links_clickcounter c JOIN analytics_rollup r ON r.owner_id = c.owner_id
UNION ALL
SELECT s.link_id, r.id FROM links_searchable s JOIN analytics_rollup r ON r.domain_id = s.domain_id;
COMMENT ON VIEW analytics_rolledlink IS 'The links of each roll-up.';

-- The same for the roll-ups of these workspaces and domains. The lock lets nobody begin a roll-up meanwhile, which would
-- miss the change. A request must not take seconds: of links with too many rows, their roll-ups are begun again instead.
CREATE FUNCTION analytics_change_rollups(links bigint[], owners bigint[], domains bigint[], sign integer) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(5823146);
    IF NOT EXISTS (SELECT FROM analytics_rollup) THEN
        RETURN;
    END IF;
    IF 100000 < (SELECT count(*) FROM (
        (SELECT FROM analytics_daytotal WHERE link_id = ANY (links) LIMIT 100001)
        UNION ALL (SELECT FROM analytics_busydaycount WHERE link_id = ANY (links) LIMIT 100001)
    ) rows) THEN
        UPDATE analytics_rollup SET is_complete = false, begun_at = 'epoch'
        WHERE owner_id = ANY (owners) OR domain_id = ANY (domains);
        RETURN;
    END IF;
    PERFORM analytics_change_rollup(changed.id, changed.links, sign) FROM (
        SELECT r.id, array_agg(link) AS links FROM unnest(links, owners) moved (link, owner)
        JOIN analytics_rollup r ON r.owner_id = moved.owner GROUP BY 1
        UNION ALL
        SELECT r.id, array_agg(link) FROM unnest(links, domains) moved (link, domain)
        JOIN analytics_rollup r ON r.domain_id = moved.domain GROUP BY 1
    ) changed;
END $$;

-- Most updates of counters move nothing, and a trigger with tables of rows cannot name the columns that must change. The
-- links of a domain move with it.
CREATE FUNCTION analytics_note_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('analytics.has_moves', 'on', true);
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_note_move BEFORE UPDATE OF owner_id ON links_clickcounter
    FOR EACH STATEMENT EXECUTE FUNCTION analytics_note_move();
CREATE FUNCTION analytics_after_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM analytics_change_rollups(array_agg(link_id), array_agg(owner_id), NULL, -1)
    FROM (SELECT link_id, owner_id FROM old_rows EXCEPT SELECT link_id, owner_id FROM new_rows) moved
    HAVING count(*) > 0;
    PERFORM analytics_change_rollups(array_agg(link_id), array_agg(owner_id), NULL, 1)
    FROM (SELECT link_id, owner_id FROM new_rows EXCEPT SELECT link_id, owner_id FROM old_rows) moved
    HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_move AFTER UPDATE ON links_clickcounter
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT WHEN (current_setting('analytics.has_moves', true) = 'on')
    EXECUTE FUNCTION analytics_after_move();
