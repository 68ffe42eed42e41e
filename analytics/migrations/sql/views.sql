-- For people who read the tables with psql. A test compares the names with the enumerations of the models.

CREATE VIEW analytics_readable_click AS
SELECT id, time, link_id,
    CASE kind
        WHEN 0 THEN 'click'
        WHEN 1 THEN 'head'
        WHEN 2 THEN 'prefetch'
        WHEN 3 THEN 'crawler'
        WHEN 4 THEN 'refused'
        WHEN 5 THEN 'ignored'
        ELSE kind::text END AS kind,
    reason, country, city, region, device, browser, operating_system, language, referrer, scanned, branch, is_unique, minute
FROM analytics_click;
COMMENT ON VIEW analytics_readable_click IS 'analytics_click with the names of kinds.';

CREATE VIEW analytics_readable_daycount AS
SELECT link_id, day,
    CASE dimension
        WHEN 1 THEN 'country'
        WHEN 2 THEN 'city'
        WHEN 3 THEN 'client'
        WHEN 4 THEN 'referrer'
        WHEN 5 THEN 'outcome'
        WHEN 6 THEN 'source'
        WHEN 7 THEN 'branch'
        WHEN 8 THEN 'unique_branch'
        ELSE dimension::text END AS dimension,
    replace(value, E'\t', ', ') AS value, sum(clicks)::bigint AS clicks
FROM analytics_daycount GROUP BY link_id, day, analytics_daycount.dimension, value;
COMMENT ON VIEW analytics_readable_daycount IS 'analytics_daycount with the names of dimensions, all slots added up.';

CREATE VIEW analytics_readable_lifecount AS
SELECT link_id,
    CASE dimension
        WHEN 1 THEN 'country'
        WHEN 2 THEN 'city'
        WHEN 3 THEN 'client'
        WHEN 4 THEN 'referrer'
        WHEN 5 THEN 'outcome'
        WHEN 6 THEN 'source'
        WHEN 7 THEN 'branch'
        WHEN 8 THEN 'unique_branch'
        ELSE dimension::text END AS dimension,
    replace(value, E'\t', ', ') AS value, sum(clicks)::bigint AS clicks
FROM analytics_lifecount GROUP BY link_id, analytics_lifecount.dimension, value;
COMMENT ON VIEW analytics_readable_lifecount IS 'analytics_lifecount with the names of dimensions, all slots added up.';

CREATE VIEW analytics_readable_monthcount AS
SELECT link_id, month,
    CASE dimension
        WHEN 1 THEN 'country'
        WHEN 2 THEN 'city'
        WHEN 3 THEN 'client'
        WHEN 4 THEN 'referrer'
        WHEN 5 THEN 'outcome'
        WHEN 6 THEN 'source'
        WHEN 7 THEN 'branch'
        WHEN 8 THEN 'unique_branch'
        ELSE dimension::text END AS dimension,
    replace(value, E'\t', ', ') AS value, sum(clicks)::bigint AS clicks
FROM analytics_monthcount GROUP BY link_id, month, analytics_monthcount.dimension, value;
COMMENT ON VIEW analytics_readable_monthcount IS 'analytics_monthcount with the names of dimensions, all slots added up.';
