import django.contrib.postgres.indexes
import django.db.models.functions.datetime
from django.db import migrations, models


# The default partition holds the clicks of months without a partition.
CLICKS = """
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
"""

STORAGE = """
-- Every batch updates counts; free space in the page makes that cheap (HOT).
ALTER TABLE analytics_daytotal SET (fillfactor = 70);
ALTER TABLE analytics_quartertotal SET (fillfactor = 70);
ALTER TABLE analytics_daycount SET (fillfactor = 70);
ALTER TABLE analytics_lifecount SET (fillfactor = 70);
-- Several processes would read the whole table for a long report of a busy link; one reads the link's rows by index.
ALTER TABLE analytics_daycount SET (parallel_workers = 0);
ALTER TABLE analytics_monthcount SET (parallel_workers = 0);
INSERT INTO analytics_closedday VALUES ('1970-01-01');
"""

# The rows of a day are stored in the order of their arrival: a BRIN index on them costs the drainer almost nothing.
DAY_INDEXES = """
CREATE INDEX daytotal_day ON analytics_daytotal USING brin (day) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX daycount_outcome_day ON analytics_daycount (day) WHERE dimension = 5;
"""

# For people who read the tables with psql. A test compares the names with the enumerations of the models.
DIMENSION = """CASE dimension
        WHEN 1 THEN 'country'
        WHEN 2 THEN 'city'
        WHEN 3 THEN 'client'
        WHEN 4 THEN 'referrer'
        WHEN 5 THEN 'outcome'
        WHEN 6 THEN 'source'
        WHEN 7 THEN 'branch'
        WHEN 8 THEN 'unique_branch'
        ELSE dimension::text END"""
VIEWS = f"""
CREATE VIEW analytics_readable_click AS
SELECT id, time, link_id,
    CASE kind
        WHEN 0 THEN 'click'
        WHEN 1 THEN 'head'
        WHEN 2 THEN 'prefetch'
        WHEN 3 THEN 'crawler'
        WHEN 4 THEN 'refused'
        ELSE kind::text END AS kind,
    reason, country, city, device, browser, operating_system, referrer, scanned, branch,
    is_unique
FROM analytics_click;
COMMENT ON VIEW analytics_readable_click IS 'analytics_click with the names of kinds.';

CREATE VIEW analytics_readable_daycount AS
SELECT link_id, day,
    {DIMENSION} AS dimension,
    replace(value, E'\\t', ', ') AS value, sum(clicks)::bigint AS clicks
FROM analytics_daycount GROUP BY link_id, day, analytics_daycount.dimension, value;
COMMENT ON VIEW analytics_readable_daycount IS 'analytics_daycount with the names of dimensions, all slots added up.';

CREATE VIEW analytics_readable_lifecount AS
SELECT link_id,
    {DIMENSION} AS dimension,
    replace(value, E'\\t', ', ') AS value, sum(clicks)::bigint AS clicks
FROM analytics_lifecount GROUP BY link_id, analytics_lifecount.dimension, value;
COMMENT ON VIEW analytics_readable_lifecount IS 'analytics_lifecount with the names of dimensions, all slots added up.';

CREATE VIEW analytics_readable_monthcount AS
SELECT link_id, month,
    {DIMENSION} AS dimension,
    replace(value, E'\\t', ', ') AS value, sum(clicks)::bigint AS clicks
FROM analytics_monthcount GROUP BY link_id, month, analytics_monthcount.dimension, value;
COMMENT ON VIEW analytics_readable_monthcount IS 'analytics_monthcount with the names of dimensions, all slots added up.';
"""
VIEWS_BACK = """
DROP VIEW analytics_readable_click, analytics_readable_daycount, analytics_readable_lifecount, analytics_readable_monthcount
"""

DELETED_LINKS = """
CREATE FUNCTION analytics_after_link_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO analytics_deletedlink (link_id) SELECT id FROM former
    WHERE NOT EXISTS (SELECT FROM links_deletedlink WHERE link_id = former.id);
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_link_delete AFTER DELETE ON links_link
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION analytics_after_link_delete();

-- Unless the link has come back.
CREATE FUNCTION analytics_after_final_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO analytics_deletedlink (link_id)
    SELECT OLD.link_id WHERE NOT EXISTS (SELECT FROM links_link WHERE id = OLD.link_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_final_deletion AFTER DELETE ON links_deletedlink
    FOR EACH ROW EXECUTE FUNCTION analytics_after_final_deletion();
"""
DELETED_LINKS_BACK = """
DROP TRIGGER analytics_after_final_deletion ON links_deletedlink;
DROP FUNCTION analytics_after_final_deletion;
DROP TRIGGER analytics_after_link_delete ON links_link;
DROP FUNCTION analytics_after_link_delete;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [("links", "0002_functions_and_triggers")]

    operations = [
        migrations.CreateModel(
            name='BusyMonth',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'month', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                ('month', models.DateField(db_comment='First day of the month (UTC).')),
            ],
            options={'db_table_comment': 'Months of links with many clicks, which analytics_monthcount includes.'},
        ),
        migrations.CreateModel(
            name="ClosedDay",
            fields=[("day", models.DateField(primary_key=True, serialize=False, db_comment='Day (UTC).'))],
            options={'db_table_comment': 'One row: the last day that analytics_lifecount and analytics_monthcount include.'},
        ),
        migrations.CreateModel(
            name='DayCount',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'dimension', 'day', 'value', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                ('dimension', models.SmallIntegerField(choices=[(1, 'Country'), (2, 'City'), (3, 'Client'), (4, 'Referrer'), (5, 'Outcome'), (6, 'Source'), (7, 'Branch'), (8, 'Unique Branch')], db_comment='1 country, 2 city, 3 client, 4 referrer, 5 outcome, 6 source, 7 branch, 8 unique_branch.')),
                ('slot', models.SmallIntegerField(db_default=0, db_comment='Spreads concurrent writes.')),
                ('day', models.DateField(db_comment='Day (UTC).')),
                ("value", models.TextField(db_collation="C", db_comment='Value of the dimension.')),
                ('clicks', models.BigIntegerField(db_comment='Clicks, or other requests for outcome.')),
            ],
            options={'db_table_comment': 'Clicks by link, day and value. See the view analytics_readable_daycount.'},
        ),
        migrations.CreateModel(
            name='DaySalt',
            fields=[
                ('day', models.DateField(primary_key=True, serialize=False, db_comment='Day (UTC).')),
                ('salt', models.BinaryField(db_comment="Key of the day's hashes.")),
            ],
            options={'db_table_comment': 'Keys of the visitor hashes, deleted after two days.'},
        ),
        migrations.CreateModel(
            name='DayTotal',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'day', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                ('day', models.DateField(db_comment='Day (UTC).')),
                ('slot', models.SmallIntegerField(db_default=0, db_comment='Spreads concurrent writes.')),
                ('clicks', models.BigIntegerField(db_comment='Clicks.')),
                ('unique_clicks', models.BigIntegerField(db_comment='First clicks of visitors that day.')),
            ],
            options={'db_table_comment': 'Clicks of each link and day (UTC). Add up the slots.'},
        ),
        migrations.CreateModel(
            name='DayVisitor',
            fields=[
                ('pk', models.CompositePrimaryKey('day', 'link_id', 'visitor', blank=True, editable=False, primary_key=True, serialize=False)),
                ('day', models.DateField(db_comment='Day (UTC).')),
                ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                ('visitor', models.BigIntegerField(db_comment='The 64 bits of the hash.')),
            ],
            options={'db_table_comment': 'Visitors of each link and day (UTC), as keyed hashes.'},
        ),
        migrations.CreateModel(
            name='DeadLetter',
            fields=[
                ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                ('record', models.BinaryField(db_comment='The record, encrypted.')),
                ('reason', models.TextField(db_comment='Why it cannot be counted.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_comment='Creation time.')),
            ],
            options={'db_table_comment': 'Click records that cannot be counted.'},
        ),
        migrations.CreateModel(
            name='DeletedLink',
            fields=[
                ('link_id', models.BigIntegerField(primary_key=True, serialize=False, db_comment='The deleted link.')),
            ],
            options={'db_table_comment': 'Deleted links whose clicks housekeeping will delete.'},
        ),
        migrations.CreateModel(
            name='JournalLoss',
            fields=[
                ('segment_id', models.UUIDField(primary_key=True, serialize=False, db_comment="Name of the segment's file.")),
                ('start', models.BigIntegerField(db_comment='First byte.')),
                ('end', models.BigIntegerField(db_comment='Byte after the last one.')),
                ('size', models.BigIntegerField(db_comment='Bytes without any counted copy.')),
                ('found_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_comment='When the loss was found.')),
            ],
            options={'db_table_comment': 'Parts of the journal that were emptied before this database counted them.'},
        ),
        migrations.CreateModel(
            name='LifeCount',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'dimension', 'value', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                ('dimension', models.SmallIntegerField(choices=[(1, 'Country'), (2, 'City'), (3, 'Client'), (4, 'Referrer'), (5, 'Outcome'), (6, 'Source'), (7, 'Branch'), (8, 'Unique Branch')], db_comment='1 country, 2 city, 3 client, 4 referrer, 5 outcome, 6 source, 7 branch, 8 unique_branch.')),
                ('slot', models.SmallIntegerField(db_default=0, db_comment='Spreads concurrent writes.')),
                ("value", models.TextField(db_collation="C", db_comment='Value of the dimension.')),
                ('clicks', models.BigIntegerField(db_comment='Clicks, or other requests for outcome.')),
            ],
            options={'db_table_comment': 'DayCount of all closed days. See the view analytics_readable_lifecount.'},
        ),
        migrations.CreateModel(
            name='MonthCount',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'dimension', 'month', 'value', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                ('dimension', models.SmallIntegerField(choices=[(1, 'Country'), (2, 'City'), (3, 'Client'), (4, 'Referrer'), (5, 'Outcome'), (6, 'Source'), (7, 'Branch'), (8, 'Unique Branch')], db_comment='1 country, 2 city, 3 client, 4 referrer, 5 outcome, 6 source, 7 branch, 8 unique_branch.')),
                ('slot', models.SmallIntegerField(db_default=0, db_comment='Spreads concurrent writes.')),
                ('month', models.DateField(db_comment='First day of the month (UTC).')),
                ('value', models.TextField(db_collation='C', db_comment='Value of the dimension.')),
                ('clicks', models.BigIntegerField(db_comment='Clicks.')),
            ],
            options={'db_table_comment': 'DayCount of closed days by busy month. See the view analytics_readable_monthcount.'},
        ),
        migrations.CreateModel(
            name='PendingRecord',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False, db_comment='Order of arrival.')),
                ('record', models.BinaryField(db_comment='The record, encrypted.')),
            ],
            options={'db_table_comment': 'Click records that wait in the database instead of a journal.'},
        ),
        migrations.CreateModel(
            name='QuarterTotal',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'start', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                ('start', models.DateTimeField(db_comment='Start of the quarter of an hour.')),
                ('slot', models.SmallIntegerField(db_default=0, db_comment='Spreads concurrent writes.')),
                ('clicks', models.BigIntegerField(db_comment='Clicks.')),
                ('unique_clicks', models.BigIntegerField(db_comment='First clicks of visitors that day.')),
            ],
            options={'db_table_comment': 'Clicks of each link and quarter of an hour. Add up the slots.'},
        ),
        migrations.CreateModel(
            name='Segment',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False, db_comment="Name of the segment's file.")),
                ('offset', models.BigIntegerField(db_default=0, default=0, db_comment='Bytes counted.')),
                ("finished_at", models.DateTimeField(null=True, db_comment='When it was counted completely.')),
            ],
            options={'db_table_comment': 'Counted bytes of each journal segment.'},
        ),
        migrations.CreateModel(
            name='UnknownCode',
            fields=[
                ('pk', models.CompositePrimaryKey('domain_id', 'day', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                ('domain_id', models.BigIntegerField(db_comment='Domain; 0: the default domain.')),
                ('day', models.DateField(db_comment='Day (UTC).')),
                ('slot', models.SmallIntegerField(db_default=0, db_comment='Spreads concurrent writes.')),
                ('hits', models.BigIntegerField(db_comment='Requests.')),
            ],
            options={'db_table_comment': 'Requests for unknown codes, by domain and day (UTC). Add up the slots.'},
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(CLICKS, "DROP TABLE analytics_click; DROP SEQUENCE analytics_click_id_seq")],
            state_operations=[
        migrations.CreateModel(
            name='Click',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False, db_comment='Internal key.')),
                ('time', models.DateTimeField(db_comment='When the request was answered.')),
                ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                ('kind', models.SmallIntegerField(choices=[(0, 'Click'), (1, 'Head'), (2, 'Prefetch'), (3, 'Crawler'), (4, 'Refused')], db_comment='0 click, 1 head, 2 prefetch, 3 crawler, 4 refused.')),
                ('reason', models.TextField(db_comment='Reason for a refusal, otherwise empty.')),
                ('country', models.TextField(db_comment='ISO 3166-1 alpha-2, or unknown.')),
                ('city', models.TextField(db_comment='Name, or unknown.')),
                ('device', models.TextField(db_comment='desktop, mobile, tablet or unknown.')),
                ('browser', models.TextField(db_comment='Name, or unknown.')),
                ('operating_system', models.TextField(db_comment='Name, or unknown.')),
                ('referrer', models.TextField(db_comment='URL without query and fragment, unknown, or empty for a direct visit.')),
                        ("scanned", models.BooleanField(db_default=False, default=False, db_comment='Whether a QR code led to it.')),
                ("branch", models.UUIDField(null=True, db_comment='API id of the branch, see links_route. Null: the link itself; zeros: unknown.')),
                ("is_unique", models.BooleanField(db_default=False, default=False, db_comment="The visitor's first click that day. Recorded for branches only.")),
            ],
            options={
                'db_table_comment': 'Requests for links. The view analytics_readable_click names the kinds.',
                'indexes': [models.Index(fields=['link_id', '-time', '-id'], name='click_link_time'), django.contrib.postgres.indexes.BrinIndex(fields=['time'], autosummarize=True, name='click_time')],
            },
        ),
            ],
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(DAY_INDEXES, migrations.RunSQL.noop),
        migrations.RunSQL(DELETED_LINKS, DELETED_LINKS_BACK),
        migrations.RunSQL(VIEWS, VIEWS_BACK),
    ]
