import django.db.models.functions.datetime
from django.db import migrations, models


# What is older than the first month that has a partition, or has come before its partition was made, is in the default.
CLICKS = """
CREATE SEQUENCE analytics_click_id_seq;
-- Not an identity column: partitions have those since PostgreSQL 17 only.
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
    scanned boolean NOT NULL DEFAULT false
) PARTITION BY RANGE (time);
CREATE INDEX click_link_time ON analytics_click (link_id, time DESC, id DESC);
CREATE TABLE analytics_click_default PARTITION OF analytics_click DEFAULT;
"""

STORAGE = """
-- Counts are written again with every batch: room in the page makes that cheap (HOT).
ALTER TABLE analytics_daytotal SET (fillfactor = 70);
ALTER TABLE analytics_quartertotal SET (fillfactor = 70);
ALTER TABLE analytics_daycount SET (fillfactor = 70);
ALTER TABLE analytics_lifecount SET (fillfactor = 70);
INSERT INTO analytics_closedday VALUES ('1970-01-01');
"""

DELETED_LINKS = """
CREATE FUNCTION analytics_after_link_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO analytics_deletedlink (link_id) SELECT id FROM former;
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_link_delete AFTER DELETE ON links_link
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION analytics_after_link_delete();
"""
DELETED_LINKS_BACK = """
DROP TRIGGER analytics_after_link_delete ON links_link;
DROP FUNCTION analytics_after_link_delete;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [("links", "0002_kept_by_the_database")]

    operations = [
        migrations.CreateModel(
            name="ClosedDay",
            fields=[("day", models.DateField(primary_key=True, serialize=False))],
        ),
        migrations.CreateModel(
            name='DayCount',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'dimension', 'day', 'value', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField()),
                ('dimension', models.SmallIntegerField(choices=[(1, 'Country'), (2, 'City'), (3, 'Device'), (4, 'Browser'), (5, 'Operating System'), (6, 'Referrer'), (7, 'Outcome'), (8, 'Source')])),
                ('day', models.DateField()),
                ("value", models.TextField(db_collation="C")),
                ('clicks', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='DaySalt',
            fields=[
                ('day', models.DateField(primary_key=True, serialize=False)),
                ('salt', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='DayTotal',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'day', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField()),
                ('day', models.DateField()),
                ('clicks', models.BigIntegerField()),
                ('unique_clicks', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='DayVisitor',
            fields=[
                ('pk', models.CompositePrimaryKey('day', 'link_id', 'visitor', blank=True, editable=False, primary_key=True, serialize=False)),
                ('day', models.DateField()),
                ('link_id', models.BigIntegerField()),
                ('visitor', models.UUIDField(help_text='Not an identifier: the 128 bits of the hash.')),
            ],
        ),
        migrations.CreateModel(
            name='DeadLetter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('record', models.BinaryField()),
                ('reason', models.TextField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='DeletedLink',
            fields=[
                ('link_id', models.BigIntegerField(primary_key=True, serialize=False)),
            ],
        ),
        migrations.CreateModel(
            name='LifeCount',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'dimension', 'value', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField()),
                ('dimension', models.SmallIntegerField(choices=[(1, 'Country'), (2, 'City'), (3, 'Device'), (4, 'Browser'), (5, 'Operating System'), (6, 'Referrer'), (7, 'Outcome'), (8, 'Source')])),
                ("value", models.TextField(db_collation="C")),
                ('clicks', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='PendingRecord',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('record', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='QuarterTotal',
            fields=[
                ('pk', models.CompositePrimaryKey('link_id', 'start', blank=True, editable=False, primary_key=True, serialize=False)),
                ('link_id', models.BigIntegerField()),
                ('start', models.DateTimeField()),
                ('clicks', models.BigIntegerField()),
                ('unique_clicks', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='Segment',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False)),
                ('offset', models.BigIntegerField(db_default=0, default=0)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='UnknownCode',
            fields=[
                ('pk', models.CompositePrimaryKey('domain_id', 'day', blank=True, editable=False, primary_key=True, serialize=False)),
                ('domain_id', models.BigIntegerField()),
                ('day', models.DateField()),
                ('hits', models.BigIntegerField()),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(CLICKS, "DROP TABLE analytics_click; DROP SEQUENCE analytics_click_id_seq")],
            state_operations=[
        migrations.CreateModel(
            name='Click',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('time', models.DateTimeField()),
                ('link_id', models.BigIntegerField()),
                ('kind', models.SmallIntegerField(choices=[(0, 'Click'), (1, 'Head'), (2, 'Prefetch'), (3, 'Crawler'), (4, 'Refused')])),
                ('reason', models.TextField(help_text='Why it was refused; else empty.')),
                ('country', models.TextField(help_text='ISO 3166-1 alpha-2, or unknown.')),
                ('city', models.TextField(help_text='Its name, or unknown.')),
                ('device', models.TextField()),
                ('browser', models.TextField()),
                ('operating_system', models.TextField()),
                ('referrer', models.TextField(help_text='Address without query and fragment, unknown, or empty for a direct visit.')),
                        ("scanned", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'indexes': [models.Index(fields=['link_id', '-time', '-id'], name='click_link_time')],
            },
        ),
            ],
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(DELETED_LINKS, DELETED_LINKS_BACK),
    ]
