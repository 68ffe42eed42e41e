-- Texts of clicks have a number per week.
CREATE SEQUENCE analytics_clicktext_number_seq AS integer CYCLE;
ALTER TABLE analytics_clicktext ALTER COLUMN number SET DEFAULT nextval('analytics_clicktext_number_seq');
ALTER TABLE analytics_clicktext SET (parallel_workers = 0);

-- The clicks, partitioned by month. The default partition holds the clicks of months without a partition. Not an identity
-- column: partitions support identity columns only since PostgreSQL 17. The order of the columns leaves no padding.
-- A drainer takes many numbers at once, so that COPY takes a third less processor time; only those of one drainer have the
-- order of its clicks.
CREATE SEQUENCE analytics_rawclick_id_seq CACHE 1000;
CREATE TABLE analytics_rawclick (
    id bigint NOT NULL DEFAULT nextval('analytics_rawclick_id_seq'),
    link_id bigint NOT NULL,
    minute integer NOT NULL,
    microsecond integer NOT NULL,
    client integer NOT NULL,
    place integer NOT NULL,
    referrer integer NOT NULL,
    reason integer NOT NULL,
    branch integer NOT NULL,
    kind smallint NOT NULL,
    scanned boolean NOT NULL,
    is_unique boolean NOT NULL
) PARTITION BY RANGE (minute);
CREATE INDEX rawclick_link_minute ON analytics_rawclick (link_id, minute);
CREATE INDEX rawclick_minute ON analytics_rawclick USING brin (minute) WITH (autosummarize = on);
CREATE TABLE analytics_rawclick_default PARTITION OF analytics_rawclick DEFAULT;
COMMENT ON TABLE analytics_rawclick_default IS 'Clicks of months without a partition.';
COMMENT ON TABLE analytics_rawclick IS 'Requests for links. See the view analytics_readable_click.';
COMMENT ON COLUMN analytics_rawclick.id IS 'Internal key.';
COMMENT ON COLUMN analytics_rawclick.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_rawclick.minute IS 'Minute since 1970 (UTC) in which the request was answered.';
COMMENT ON COLUMN analytics_rawclick.microsecond IS 'Microsecond of the minute.';
COMMENT ON COLUMN analytics_rawclick.client IS 'Text: device, operating system, browser and, if known, language, with tabs between.';
COMMENT ON COLUMN analytics_rawclick.place IS 'Text: country (ISO 3166-1 alpha-2, or unknown), space, city or unknown; if known, tab and region.';
COMMENT ON COLUMN analytics_rawclick.referrer IS 'Text: URL without query and fragment, or unknown. 0 for a direct visit.';
COMMENT ON COLUMN analytics_rawclick.reason IS 'Text: reason for a refusal, otherwise 0.';
COMMENT ON COLUMN analytics_rawclick.branch IS 'Text: API id of the branch, see links_route; zeros: unknown. 0: the link itself.';
COMMENT ON COLUMN analytics_rawclick.kind IS '0 click, 1 head, 2 prefetch, 3 crawler, 4 refused, 5 ignored.';
COMMENT ON COLUMN analytics_rawclick.scanned IS 'Whether a QR code led to it.';
COMMENT ON COLUMN analytics_rawclick.is_unique IS 'The visitor''s first click that day. Recorded for branches only.';

CREATE VIEW analytics_click AS
SELECT r.id,
    to_timestamp(0) + r.minute * interval '1 minute' + r.microsecond * interval '1 microsecond' AS time,
    r.link_id, r.kind, coalesce(reason.text, '') AS reason,
    split_part(place.text, ' ', 1) AS country,
    substr(split_part(place.text, E'\t', 1), strpos(place.text, ' ') + 1) AS city,
    coalesce(nullif(split_part(place.text, E'\t', 2), ''), 'unknown') AS region,
    split_part(client.text, E'\t', 1) AS device,
    split_part(client.text, E'\t', 3) AS browser,
    split_part(client.text, E'\t', 2) AS operating_system,
    coalesce(nullif(split_part(client.text, E'\t', 4), ''), 'unknown') AS language,
    coalesce(referrer.text, '') AS referrer, r.scanned, CASE WHEN r.branch <> 0 THEN branch.text::uuid END AS branch, r.is_unique, r.minute,
    r.ctid AS position
FROM analytics_rawclick r
LEFT JOIN analytics_clicktext client ON client.week = r.minute / 10080 AND client.number = r.client
LEFT JOIN analytics_clicktext place ON place.week = r.minute / 10080 AND place.number = r.place
LEFT JOIN analytics_clicktext referrer ON referrer.week = r.minute / 10080 AND referrer.number = r.referrer
LEFT JOIN analytics_clicktext reason ON reason.week = r.minute / 10080 AND reason.number = r.reason
LEFT JOIN analytics_clicktext branch ON branch.week = r.minute / 10080 AND branch.number = r.branch;
COMMENT ON VIEW analytics_click IS 'Requests for links with their texts. See the view analytics_readable_click.';
