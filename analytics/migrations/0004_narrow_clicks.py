import django.contrib.postgres.indexes
from django.db import migrations, models

TABLES = """
DROP VIEW analytics_readable_click;
CREATE SEQUENCE analytics_clicktext_number_seq AS integer CYCLE;
CREATE TABLE analytics_clicktext (
    week integer NOT NULL,
    number integer NOT NULL DEFAULT nextval('analytics_clicktext_number_seq'),
    text text NOT NULL,
    CONSTRAINT analytics_clicktext_pkey PRIMARY KEY (week, number)
);
ALTER TABLE analytics_clicktext SET (parallel_workers = 0);
COMMENT ON TABLE analytics_clicktext IS 'Texts of clicks, by week.';
COMMENT ON COLUMN analytics_clicktext.week IS 'Week since 1970-01-01 (UTC): its minute divided by 10080.';
COMMENT ON COLUMN analytics_clicktext.number IS 'Number that clicks of this week refer to.';
COMMENT ON COLUMN analytics_clicktext.text IS 'The text.';

ALTER TABLE analytics_click RENAME TO former_click;
ALTER SEQUENCE analytics_click_id_seq RENAME TO analytics_rawclick_id_seq;
-- The order of the columns leaves no padding.
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
COMMENT ON COLUMN analytics_rawclick.client IS 'Text: device, operating system and browser, with tabs between.';
COMMENT ON COLUMN analytics_rawclick.place IS 'Text: country (ISO 3166-1 alpha-2, or unknown), space, city or unknown.';
COMMENT ON COLUMN analytics_rawclick.referrer IS 'Text: URL without query and fragment, or unknown. 0 for a direct visit.';
COMMENT ON COLUMN analytics_rawclick.reason IS 'Text: reason for a refusal, otherwise 0.';
COMMENT ON COLUMN analytics_rawclick.branch IS 'Text: API id of the branch, see links_route; zeros: unknown. 0: the link itself.';
COMMENT ON COLUMN analytics_rawclick.kind IS '0 click, 1 head, 2 prefetch, 3 crawler, 4 refused.';
COMMENT ON COLUMN analytics_rawclick.scanned IS 'Whether a QR code led to it.';
COMMENT ON COLUMN analytics_rawclick.is_unique IS 'The visitor''s first click that day. Recorded for branches only.';
"""

CONVERSION = """
CREATE TEMPORARY VIEW former AS SELECT *, extract(epoch FROM time - 'epoch'::timestamptz) * 1000000 AS microseconds,
    device || E'\\t' || operating_system || E'\\t' || browser AS client, country || ' ' || city AS place
FROM former_click;
INSERT INTO analytics_clicktext (week, text)
SELECT DISTINCT (microseconds / 604800000000)::bigint, text
FROM (SELECT floor(microseconds / 604800000000) * 604800000000 AS microseconds, client, place, referrer, reason, branch FROM former) f,
LATERAL (VALUES (client), (place), (referrer), (reason), (branch::text)) used (text) WHERE text <> '';
INSERT INTO analytics_rawclick
SELECT id, link_id, floor(microseconds / 60000000)::integer, (microseconds % 60000000)::integer, client.number,
    place.number, coalesce(referrer.number, 0), coalesce(reason.number, 0), coalesce(branch.number, 0), kind,
    scanned, is_unique
FROM (SELECT *, floor(microseconds / 604800000000)::integer AS week FROM former) f
LEFT JOIN analytics_clicktext client ON client.week = f.week AND client.text = f.client
LEFT JOIN analytics_clicktext place ON place.week = f.week AND place.text = f.place
LEFT JOIN analytics_clicktext referrer ON referrer.week = f.week AND referrer.text = f.referrer
LEFT JOIN analytics_clicktext reason ON reason.week = f.week AND reason.text = f.reason
LEFT JOIN analytics_clicktext branch ON branch.week = f.week AND branch.text = f.branch::text;
DROP VIEW former;
DROP TABLE former_click;
"""

VIEWS = """
CREATE VIEW analytics_click AS
SELECT r.id,
    to_timestamp(0) + r.minute * interval '1 minute' + r.microsecond * interval '1 microsecond' AS time,
    r.link_id, r.kind, coalesce(reason.text, '') AS reason,
    split_part(place.text, ' ', 1) AS country,
    substr(place.text, strpos(place.text, ' ') + 1) AS city,
    split_part(client.text, E'\\t', 1) AS device,
    substr(client.text, length(split_part(client.text, E'\\t', 1)) + length(split_part(client.text, E'\\t', 2)) + 3)
        AS browser,
    split_part(client.text, E'\\t', 2) AS operating_system,
    coalesce(referrer.text, '') AS referrer, r.scanned, CASE WHEN r.branch <> 0 THEN branch.text::uuid END AS branch, r.is_unique, r.minute
FROM analytics_rawclick r
LEFT JOIN analytics_clicktext client ON client.week = r.minute / 10080 AND client.number = r.client
LEFT JOIN analytics_clicktext place ON place.week = r.minute / 10080 AND place.number = r.place
LEFT JOIN analytics_clicktext referrer ON referrer.week = r.minute / 10080 AND referrer.number = r.referrer
LEFT JOIN analytics_clicktext reason ON reason.week = r.minute / 10080 AND reason.number = r.reason
LEFT JOIN analytics_clicktext branch ON branch.week = r.minute / 10080 AND branch.number = r.branch;
COMMENT ON VIEW analytics_click IS 'Requests for links with their texts. See the view analytics_readable_click.';

CREATE VIEW analytics_readable_click AS
SELECT id, time, link_id,
    CASE kind
        WHEN 0 THEN 'click'
        WHEN 1 THEN 'head'
        WHEN 2 THEN 'prefetch'
        WHEN 3 THEN 'crawler'
        WHEN 4 THEN 'refused'
        ELSE kind::text END AS kind,
    reason, country, city, device, browser, operating_system, referrer, scanned, branch, is_unique, minute
FROM analytics_click;
COMMENT ON VIEW analytics_readable_click IS 'analytics_click with the names of kinds.';
"""


class Migration(migrations.Migration):

    dependencies = [('analytics', '0003_visitor_blocks')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(TABLES), migrations.RunSQL(CONVERSION), migrations.RunSQL(VIEWS),
            ],
            state_operations=[
                migrations.DeleteModel('Click'),
                migrations.CreateModel(
                    name='Click',
                    fields=[
                        ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                        ('time', models.DateTimeField()),
                        ('link_id', models.BigIntegerField()),
                        ('kind', models.SmallIntegerField(choices=[(0, 'Click'), (1, 'Head'), (2, 'Prefetch'), (3, 'Crawler'), (4, 'Refused')])),
                        ('reason', models.TextField()),
                        ('country', models.TextField()),
                        ('city', models.TextField()),
                        ('device', models.TextField()),
                        ('browser', models.TextField()),
                        ('operating_system', models.TextField()),
                        ('referrer', models.TextField()),
                        ('scanned', models.BooleanField()),
                        ('branch', models.UUIDField(null=True)),
                        ('is_unique', models.BooleanField()),
                        ('minute', models.IntegerField()),
                    ],
                    options={
                        'managed': False,
                    },
                ),
                migrations.CreateModel(
                    name='ClickText',
                    fields=[
                        ('pk', models.CompositePrimaryKey('week', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('week', models.IntegerField(db_comment='Week since 1970-01-01 (UTC): its minute divided by 10080.')),
                        ('number', models.IntegerField(db_comment='Number that clicks of this week refer to.')),
                        ('text', models.TextField(db_comment='The text.')),
                    ],
                    options={
                        'db_table_comment': 'Texts of clicks, by week.',
                    },
                ),
                migrations.CreateModel(
                    name='RawClick',
                    fields=[
                        ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                        ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                        ('minute', models.IntegerField(db_comment='Minute since 1970 (UTC) in which the request was answered.')),
                        ('microsecond', models.IntegerField(db_comment='Microsecond of the minute.')),
                        ('client', models.IntegerField(db_comment='Text: device, operating system and browser, with tabs between.')),
                        ('place', models.IntegerField(db_comment='Text: country (ISO 3166-1 alpha-2, or unknown), space, city or unknown.')),
                        ('referrer', models.IntegerField(db_comment='Text: URL without query and fragment, or unknown. 0 for a direct visit.')),
                        ('reason', models.IntegerField(db_comment='Text: reason for a refusal, otherwise 0.')),
                        ('branch', models.IntegerField(db_comment='Text: API id of the branch, see links_route; zeros: unknown. 0: the link itself.')),
                        ('kind', models.SmallIntegerField(choices=[(0, 'Click'), (1, 'Head'), (2, 'Prefetch'), (3, 'Crawler'), (4, 'Refused')], db_comment='0 click, 1 head, 2 prefetch, 3 crawler, 4 refused.')),
                        ('scanned', models.BooleanField(db_comment='Whether a QR code led to it.')),
                        ('is_unique', models.BooleanField(db_comment="The visitor's first click that day. Recorded for branches only.")),
                    ],
                    options={
                        'db_table_comment': 'Requests for links. See the view analytics_readable_click.',
                        'indexes': [models.Index(fields=['link_id', 'minute'], name='rawclick_link_minute'), django.contrib.postgres.indexes.BrinIndex(autosummarize=True, fields=['minute'], name='rawclick_minute')],
                    },
                ),
            ],
        ),
    ]
