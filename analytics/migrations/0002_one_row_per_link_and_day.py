import django.contrib.postgres.fields
from django.db import migrations, models


# Quarters of an hour and values move into the rows of the days. The former rows of values stay as they are: those of
# busy days have the same form.
TABLES = """
DROP VIEW analytics_readable_daycount;
DROP INDEX daycount_outcome_day;
ALTER TABLE analytics_daycount RENAME TO analytics_busydaycount;
ALTER INDEX analytics_daycount_pkey RENAME TO analytics_busydaycount_pkey;
COMMENT ON TABLE analytics_busydaycount IS
    'Clicks by value on days with many values, and other requests. See the view analytics_daycount.';
ALTER TABLE analytics_daytotal RENAME TO former_daytotal;
CREATE TABLE analytics_daytotal (
    link_id bigint NOT NULL,
    day date NOT NULL,
    slot smallint NOT NULL DEFAULT 0,
    quarter smallint NOT NULL DEFAULT 0,
    clicks integer NOT NULL,
    unique_clicks integer NOT NULL,
    counts text COLLATE "C",
    quarters integer[]
);
INSERT INTO analytics_daytotal (link_id, day, slot, clicks, unique_clicks, quarters)
SELECT link_id, day, slot, clicks, unique_clicks, ARRAY(
    SELECT number FROM analytics_quartertotal q, LATERAL unnest(ARRAY[
        extract(epoch FROM q.start - d.day::timestamp AT TIME ZONE 'UTC')::integer / 900, q.clicks, q.unique_clicks
    ]) WITH ORDINALITY part (number, place)
    WHERE q.link_id = d.link_id AND q.slot = d.slot AND q.start >= d.day::timestamp AT TIME ZONE 'UTC'
    AND q.start < (d.day + 1)::timestamp AT TIME ZONE 'UTC' ORDER BY q.start, place
)::integer[]
FROM former_daytotal d;
DROP TABLE former_daytotal, analytics_quartertotal;
ALTER TABLE analytics_daytotal ADD CONSTRAINT analytics_daytotal_pkey PRIMARY KEY (link_id, day, slot);
COMMENT ON TABLE analytics_daytotal IS 'Clicks of each link and day (UTC). Add up the slots.';
COMMENT ON COLUMN analytics_daytotal.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_daytotal.day IS 'Day (UTC).';
COMMENT ON COLUMN analytics_daytotal.slot IS 'Spreads concurrent writes.';
COMMENT ON COLUMN analytics_daytotal.quarter IS 'Quarter of an hour of the day, from 0 to 95, if quarters is null.';
COMMENT ON COLUMN analytics_daytotal.clicks IS 'Clicks.';
COMMENT ON COLUMN analytics_daytotal.unique_clicks IS 'First clicks of visitors that day.';
COMMENT ON COLUMN analytics_daytotal.counts IS
    'Clicks by value, see the view analytics_daycount. Null: rows in analytics_busydaycount.';
COMMENT ON COLUMN analytics_daytotal.quarters IS
    'Number, clicks and unique clicks of each quarter of an hour, if there are several.';
"""

STORAGE = """
-- Most rows are never updated again. Those of busier links move to pages with free space, and stay there (HOT).
ALTER TABLE analytics_daytotal SET (fillfactor = 90);
-- The rows of a day are stored in the order of their arrival: a BRIN index on them costs the drainer almost nothing.
ALTER TABLE analytics_daytotal SET (parallel_workers = 0);
CREATE INDEX daytotal_day ON analytics_daytotal USING brin (day) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX busydaycount_day ON analytics_busydaycount
    USING brin (day) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX busydaycount_outcome_day ON analytics_busydaycount (day) WHERE dimension = 5;
"""

VIEWS = """
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
    SELECT left(entry, 1)::smallint, split_part(substr(entry, 2), E'\\x1f', 1),
        coalesce(nullif(split_part(entry, E'\\x1f', 2), ''), '1')::bigint
    FROM unnest(string_to_array(counts, E'\\x1e')) entry
$$;
CREATE VIEW analytics_daycount AS
SELECT link_id, dimension, slot, day, value COLLATE "C" AS value, c.clicks
FROM analytics_daytotal, analytics_unpacked(counts) c
UNION ALL SELECT link_id, dimension, slot, day, value, clicks FROM analytics_busydaycount;
COMMENT ON VIEW analytics_daycount IS 'Clicks by link, day and value. See the view analytics_readable_daycount.';

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
    replace(value, E'\\t', ', ') AS value, sum(clicks)::bigint AS clicks
FROM analytics_daycount GROUP BY link_id, day, analytics_daycount.dimension, value;
COMMENT ON VIEW analytics_readable_daycount IS 'analytics_daycount with the names of dimensions, all slots added up.';
"""


class Migration(migrations.Migration):

    dependencies = [('analytics', '0001_initial')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(TABLES), migrations.RunSQL(STORAGE), migrations.RunSQL(VIEWS)],
            state_operations=[
                migrations.DeleteModel('DayCount'),
                migrations.DeleteModel('DayTotal'),
                migrations.DeleteModel('QuarterTotal'),
                migrations.CreateModel(
                    name='DayCount',
                    fields=[
                        ('pk', models.CompositePrimaryKey('link_id', 'dimension', 'day', 'value', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('link_id', models.BigIntegerField()),
                        ('dimension', models.SmallIntegerField(choices=[(1, 'Country'), (2, 'City'), (3, 'Client'), (4, 'Referrer'), (5, 'Outcome'), (6, 'Source'), (7, 'Branch'), (8, 'Unique Branch')])),
                        ('slot', models.SmallIntegerField()),
                        ('day', models.DateField()),
                        ('value', models.TextField(db_collation='C')),
                        ('clicks', models.BigIntegerField()),
                    ],
                    options={
                        'managed': False,
                    },
                ),
                migrations.CreateModel(
                    name='QuarterTotal',
                    fields=[
                        ('pk', models.CompositePrimaryKey('link_id', 'start', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('link_id', models.BigIntegerField()),
                        ('day', models.DateField()),
                        ('start', models.DateTimeField()),
                        ('slot', models.SmallIntegerField()),
                        ('clicks', models.IntegerField()),
                        ('unique_clicks', models.IntegerField()),
                    ],
                    options={
                        'managed': False,
                    },
                ),
                migrations.CreateModel(
                    name='BusyDayCount',
                    fields=[
                        ('pk', models.CompositePrimaryKey('link_id', 'dimension', 'day', 'value', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                        ('dimension', models.SmallIntegerField(choices=[(1, 'Country'), (2, 'City'), (3, 'Client'), (4, 'Referrer'), (5, 'Outcome'), (6, 'Source'), (7, 'Branch'), (8, 'Unique Branch')], db_comment='1 country, 2 city, 3 client, 4 referrer, 5 outcome, 6 source, 7 branch, 8 unique_branch.')),
                        ('slot', models.SmallIntegerField(db_comment='Spreads concurrent writes.', db_default=0)),
                        ('day', models.DateField(db_comment='Day (UTC).')),
                        ('value', models.TextField(db_collation='C', db_comment='Value of the dimension.')),
                        ('clicks', models.BigIntegerField(db_comment='Clicks, or other requests for outcome.')),
                    ],
                    options={
                        'db_table_comment': 'Clicks by value on days with many values, and other requests. See the view analytics_daycount.',
                    },
                ),
                migrations.CreateModel(
                    name='DayTotal',
                    fields=[
                        ('pk', models.CompositePrimaryKey('link_id', 'day', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                        ('day', models.DateField(db_comment='Day (UTC).')),
                        ('slot', models.SmallIntegerField(db_comment='Spreads concurrent writes.', db_default=0)),
                        ('quarter', models.SmallIntegerField(db_comment='Quarter of an hour of the day, from 0 to 95, if quarters is null.', db_default=0)),
                        ('clicks', models.IntegerField(db_comment='Clicks.')),
                        ('unique_clicks', models.IntegerField(db_comment='First clicks of visitors that day.')),
                        ('counts', models.TextField(db_collation='C', db_comment='Clicks by value, see the view analytics_daycount. Null: rows in analytics_busydaycount.', null=True)),
                        ('quarters', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), db_comment='Number, clicks and unique clicks of each quarter of an hour, if there are several.', null=True, size=None)),
                    ],
                    options={
                        'db_table_comment': 'Clicks of each link and day (UTC). Add up the slots.',
                    },
                ),
            ],
        ),
    ]
