-- The clicks, partitioned by month. The default partition holds the clicks of months without a partition.
CREATE SEQUENCE analytics_click_id_seq;
-- Not an identity column: partitions support identity columns only since PostgreSQL 17.
CREATE TABLE analytics_click (
    id bigint NOT NULL DEFAULT nextval('analytics_click_id_seq'),
    time timestamptz NOT NULL,
    link_id bigint NOT NULL,
    kind smallint NOT NULL,
    reason text NOT NULL,
    country text NOT NULL,
    city text NOT NULL,
    device text NOT NULL,
    browser text NOT NULL,
    operating_system text NOT NULL,
    referrer text NOT NULL,
    scanned boolean NOT NULL DEFAULT false,
    branch uuid,
    is_unique boolean NOT NULL DEFAULT false
) PARTITION BY RANGE (time);
CREATE INDEX click_link_time ON analytics_click (link_id, time DESC, id DESC);
CREATE INDEX click_time ON analytics_click USING brin (time) WITH (autosummarize = on);
CREATE TABLE analytics_click_default PARTITION OF analytics_click DEFAULT;
COMMENT ON TABLE analytics_click IS 'Requests for links. The view analytics_readable_click names the kinds.';
COMMENT ON COLUMN analytics_click.id IS 'Internal key.';
COMMENT ON COLUMN analytics_click.time IS 'When the request was answered.';
COMMENT ON COLUMN analytics_click.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_click.kind IS '0 click, 1 head, 2 prefetch, 3 crawler, 4 refused.';
COMMENT ON COLUMN analytics_click.reason IS 'Reason for a refusal, otherwise empty.';
COMMENT ON COLUMN analytics_click.country IS 'ISO 3166-1 alpha-2, or unknown.';
COMMENT ON COLUMN analytics_click.city IS 'Name, or unknown.';
COMMENT ON COLUMN analytics_click.device IS 'desktop, mobile, tablet or unknown.';
COMMENT ON COLUMN analytics_click.browser IS 'Name, or unknown.';
COMMENT ON COLUMN analytics_click.operating_system IS 'Name, or unknown.';
COMMENT ON COLUMN analytics_click.referrer IS 'URL without query and fragment, unknown, or empty for a direct visit.';
COMMENT ON COLUMN analytics_click.scanned IS 'Whether a QR code led to it.';
COMMENT ON COLUMN analytics_click.branch IS 'API id of the branch, see links_route. Null: the link itself; zeros: unknown.';
COMMENT ON COLUMN analytics_click.is_unique IS 'The visitor''s first click that day. Recorded for branches only.';
COMMENT ON TABLE analytics_click_default IS 'Clicks of months without a partition.';
