import datetime

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import common.ids
from common.migrations import CreateModels, run_sql_files


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0002_initial'),
        ('links', '0001_initial'),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='Segment',
                fields=[
                    ('id', models.UUIDField(db_comment="Name of the segment's file.", primary_key=True, serialize=False)),
                    ('offset', models.BigIntegerField(db_comment='Bytes counted.', db_default=0, default=0)),
                    ('finished_at', models.DateTimeField(db_comment='When it was counted completely.', null=True)),
                ],
                options={
                    'db_table_comment': 'Counted bytes of each journal segment.',
                    'verbose_name': 'journal file',
                    'verbose_name_plural': 'journal files',
                },
            ),
            migrations.CreateModel(
                name='JournalLoss',
                fields=[
                    ('segment_id', models.UUIDField(db_comment="Name of the segment's file.", primary_key=True, serialize=False)),
                    ('start', models.BigIntegerField(db_comment='First byte.')),
                    ('end', models.BigIntegerField(db_comment='Byte after the last one.')),
                    ('size', models.BigIntegerField(db_comment='Bytes without any counted copy.')),
                    ('found_at', models.DateTimeField(db_comment='When the loss was found.', db_default=django.db.models.functions.datetime.Now())),
                ],
                options={
                    'db_table_comment': 'Parts of the journal that were emptied before this database counted them.',
                },
            ),
            migrations.CreateModel(
                name='HostClock',
                fields=[
                    ('host', models.TextField(db_comment='Name of the host, and its VAR_DIR.', primary_key=True, serialize=False)),
                    ('day', models.DateField(db_comment='Date of its clock (UTC).')),
                    ('report', models.BigIntegerField(db_comment='Number of the report, counted over all hosts.')),
                ],
                options={
                    'db_table_comment': "Dates of the hosts' clocks. A day is closed once all of them confirm that it is over.",
                },
            ),
            migrations.CreateModel(
                name='PendingRecord',
                fields=[
                    ('id', models.BigAutoField(db_comment='Order of arrival.', primary_key=True, serialize=False)),
                    ('record', models.BinaryField(db_comment='The record, encrypted.')),
                ],
                options={
                    'db_table_comment': 'Click records that wait in the database instead of a journal.',
                },
            ),
            migrations.CreateModel(
                name='DeadLetter',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('record', models.BinaryField(db_comment='The record, encrypted.')),
                    ('reason', models.TextField(db_comment='Why it cannot be counted.')),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now())),
                ],
                options={
                    'db_table_comment': 'Click records that cannot be counted.',
                    'verbose_name': 'record that cannot be counted',
                    'verbose_name_plural': 'records that cannot be counted',
                },
            ),
            migrations.CreateModel(
                name='DeletedLink',
                fields=[
                    ('link_id', models.BigIntegerField(db_comment='The deleted link.', primary_key=True, serialize=False)),
                ],
                options={
                    'db_table_comment': 'Deleted links whose clicks housekeeping will delete.',
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
            # A partitioned table and views, which the SQL creates.
            migrations.SeparateDatabaseAndState(state_operations=[
                migrations.CreateModel(
                    name='RawClick',
                    fields=[
                        ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                        ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                        ('minute', models.IntegerField(db_comment='Minute since 1970 (UTC) in which the request was answered.')),
                        ('microsecond', models.IntegerField(db_comment='Microsecond of the minute.')),
                        ('client', models.IntegerField(db_comment='Text: device, operating system, browser and, if known, language, with tabs between.')),
                        ('place', models.IntegerField(db_comment='Text: country (ISO 3166-1 alpha-2, or unknown), space, city or unknown; if known, tab and region.')),
                        ('referrer', models.IntegerField(db_comment='Text: URL without query and fragment, or unknown. 0 for a direct visit.')),
                        ('reason', models.IntegerField(db_comment='Text: reason for a refusal, otherwise 0.')),
                        ('branch', models.IntegerField(db_comment='Text: API id of the branch, see links_route; zeros: unknown. 0: the link itself.')),
                        ('kind', models.SmallIntegerField(choices=[(0, 'Click'), (1, 'Head'), (2, 'Prefetch'), (3, 'Crawler'), (4, 'Refused'), (5, 'Ignored')], db_comment='0 click, 1 head, 2 prefetch, 3 crawler, 4 refused, 5 ignored.')),
                        ('scanned', models.BooleanField(db_comment='Whether a QR code led to it.')),
                        ('is_unique', models.BooleanField(db_comment="The visitor's first click that day. Recorded for branches only.")),
                    ],
                    options={
                        'db_table_comment': 'Requests for links. See the view analytics_readable_click.',
                        'indexes': [models.Index(fields=['link_id', 'minute'], name='rawclick_link_minute'), django.contrib.postgres.indexes.BrinIndex(autosummarize=True, fields=['minute'], name='rawclick_minute')],
                    },
                ),
                migrations.CreateModel(
                    name='Click',
                    fields=[
                        ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                        ('time', models.DateTimeField()),
                        ('link_id', models.BigIntegerField()),
                        ('kind', models.SmallIntegerField(choices=[(0, 'Click'), (1, 'Head'), (2, 'Prefetch'), (3, 'Crawler'), (4, 'Refused'), (5, 'Ignored')])),
                        ('reason', models.TextField()),
                        ('country', models.TextField()),
                        ('city', models.TextField()),
                        ('region', models.TextField()),
                        ('device', models.TextField()),
                        ('browser', models.TextField()),
                        ('operating_system', models.TextField()),
                        ('language', models.TextField()),
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
            ]),
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
                    ('quarters', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), db_comment='Number, clicks and unique clicks of quarters of an hour, if there are several. Add up equal numbers.', null=True, size=None)),
                    ('counts', models.TextField(db_collation='C', db_comment='Clicks by value, see the view analytics_daycount. Null: rows in analytics_busydaycount.', null=True)),
                ],
                options={
                    'db_table_comment': 'Clicks of each link and day (UTC). Add up the slots.',
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
                name='LifeCount',
                fields=[
                    ('pk', models.CompositePrimaryKey('link_id', 'dimension', 'value', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                    ('dimension', models.SmallIntegerField(choices=[(1, 'Country'), (2, 'City'), (3, 'Client'), (4, 'Referrer'), (5, 'Outcome'), (6, 'Source'), (7, 'Branch'), (8, 'Unique Branch')], db_comment='1 country, 2 city, 3 client, 4 referrer, 5 outcome, 6 source, 7 branch, 8 unique_branch.')),
                    ('slot', models.SmallIntegerField(db_comment='Spreads concurrent writes.', db_default=0)),
                    ('value', models.TextField(db_collation='C', db_comment='Value of the dimension.')),
                    ('clicks', models.BigIntegerField(db_comment='Clicks, or other requests for outcome.')),
                ],
                options={
                    'db_table_comment': 'DayCount of all closed days. See the view analytics_readable_lifecount.',
                },
            ),
            migrations.CreateModel(
                name='MonthCount',
                fields=[
                    ('pk', models.CompositePrimaryKey('link_id', 'dimension', 'month', 'value', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                    ('dimension', models.SmallIntegerField(choices=[(1, 'Country'), (2, 'City'), (3, 'Client'), (4, 'Referrer'), (5, 'Outcome'), (6, 'Source'), (7, 'Branch'), (8, 'Unique Branch')], db_comment='1 country, 2 city, 3 client, 4 referrer, 5 outcome, 6 source, 7 branch, 8 unique_branch.')),
                    ('slot', models.SmallIntegerField(db_comment='Spreads concurrent writes.', db_default=0)),
                    ('month', models.DateField(db_comment='First day of the month (UTC).')),
                    ('value', models.TextField(db_collation='C', db_comment='Value of the dimension.')),
                    ('clicks', models.BigIntegerField(db_comment='Clicks.')),
                ],
                options={
                    'db_table_comment': 'DayCount of closed days by busy month. See the view analytics_readable_monthcount.',
                },
            ),
            migrations.CreateModel(
                name='BusyMonth',
                fields=[
                    ('pk', models.CompositePrimaryKey('link_id', 'month', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                    ('month', models.DateField(db_comment='First day of the month (UTC).')),
                ],
                options={
                    'db_table_comment': 'Months of links with many clicks, which analytics_monthcount includes.',
                },
            ),
            migrations.CreateModel(
                name='UnreportedClicks',
                fields=[
                    ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.', primary_key=True, serialize=False)),
                    ('clicks', models.BigIntegerField(db_comment='Clicks of this service.')),
                    ('imported', models.BigIntegerField(db_comment='Clicks that another service counted.')),
                ],
                options={
                    'db_table_comment': 'Clicks that the counters of links include, but no report: erased or ignored ones.',
                },
            ),
            migrations.CreateModel(
                name='ClosedDay',
                fields=[
                    ('day', models.DateField(db_comment='Day (UTC).', primary_key=True, serialize=False)),
                    ('raw_from', models.DateField(db_comment='Day (UTC) from which on no raw clicks have expired.', db_default=models.Value(datetime.date(1970, 1, 1)))),
                ],
                options={
                    'db_table_comment': 'One row: the last day that analytics_lifecount and analytics_monthcount include.',
                },
            ),
            migrations.CreateModel(
                name='Rollup',
                fields=[
                    ('id', models.BigAutoField(db_comment='Its rows have minus this number as link_id.', primary_key=True, serialize=False)),
                    ('owner_id', models.BigIntegerField(db_comment='Workspace; it may be deleted.', null=True, unique=True)),
                    ('domain_id', models.BigIntegerField(db_comment='Domain; it may be deleted.', null=True, unique=True)),
                    ('is_complete', models.BooleanField(db_comment='Whether it has all clicks; otherwise they are being added up.', db_default=False)),
                    ('begun_at', models.DateTimeField(db_comment='When it was begun.', db_default=django.db.models.functions.datetime.Now())),
                ],
                options={
                    'db_table_comment': 'Workspaces and domains of which the days of all links are added up.',
                },
            ),
            migrations.CreateModel(
                name='RollupChange',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('link_id', models.BigIntegerField(db_comment='Minus the number of the roll-up.')),
                    ('day', models.DateField(db_comment='Day (UTC).')),
                    ('slot', models.SmallIntegerField(db_comment='-1 for imported clicks, otherwise 0.')),
                    ('clicks', models.IntegerField(db_comment='Clicks.')),
                    ('unique_clicks', models.IntegerField(db_comment='Unique clicks.')),
                    ('quarters', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), db_comment='Like analytics_daytotal.quarters, with all quarters of an hour.', size=None)),
                    ('counts', models.TextField(db_collation='C', db_comment='Like analytics_daytotal.counts.')),
                    ('outcomes', models.TextField(db_collation='C', db_comment='Other requests by outcome, packed like counts.')),
                    ('links', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), db_comment='The links of the clicks.', size=None)),
                    ('link_clicks', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), db_comment='Clicks of each of the links.', size=None)),
                ],
                options={
                    'db_table_comment': 'What analytics_daytotal, analytics_busydaycount and analytics_rolluplinks lack of roll-ups.',
                    'indexes': [models.Index(fields=['link_id', 'day'], name='rollupchange_link_day')],
                },
            ),
            migrations.CreateModel(
                name='RollupLinks',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('link_id', models.BigIntegerField(db_comment='Minus the number of the roll-up.')),
                    ('bucket', models.IntegerField(db_comment='The numbers of the links without their last 15 bits.')),
                    ('day', models.DateField(db_comment='Day (UTC).')),
                    ('number', models.IntegerField(db_comment='How many links.')),
                    ('links', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), db_comment='The links.', size=None)),
                    ('clicks', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), db_comment='Clicks of each of the links. Add up those of all rows.', size=None)),
                ],
                options={
                    'db_table_comment': 'Clicks of the links of each roll-up by day (UTC). Add up all rows.',
                    'indexes': [models.Index(fields=['link_id', 'bucket', 'day'], name='rolluplinks_link_bucket_day')],
                },
            ),
            migrations.CreateModel(
                name='UnknownCode',
                fields=[
                    ('pk', models.CompositePrimaryKey('domain_id', 'day', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('domain_id', models.BigIntegerField(db_comment='Domain; 0: the default domain.')),
                    ('day', models.DateField(db_comment='Day (UTC).')),
                    ('slot', models.SmallIntegerField(db_comment='Spreads concurrent writes.', db_default=0)),
                    ('hits', models.BigIntegerField(db_comment='Requests.')),
                    ('codes', models.SmallIntegerField(db_comment='Codes that this slot has added to analytics_missedcode.', db_default=0)),
                ],
                options={
                    'db_table_comment': 'Requests for unknown codes, by domain and day (UTC). Add up the slots.',
                },
            ),
            migrations.CreateModel(
                name='MissedCode',
                fields=[
                    ('pk', models.CompositePrimaryKey('domain_id', 'day', 'code', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('domain_id', models.BigIntegerField(db_comment='Domain; 0: the default domain.')),
                    ('last_at', models.DateTimeField(db_comment='Time of the last request.')),
                    ('day', models.DateField(db_comment='Day (UTC).')),
                    ('hits', models.IntegerField(db_comment='Requests.')),
                    ('slot', models.SmallIntegerField(db_comment='Spreads concurrent writes.', db_default=0)),
                    ('code', models.TextField(db_collation='C', db_comment='The code.')),
                    ('referrers', models.TextField(db_collation='C', db_comment='Hosts of the most frequent referrers with their requests, packed.')),
                ],
                options={
                    'db_table_comment': 'Some of the unknown codes, by domain and day (UTC). Add up the slots.',
                    'indexes': [django.contrib.postgres.indexes.BrinIndex(autosummarize=True, fields=['day'], name='missedcode_day')],
                },
            ),
            migrations.CreateModel(
                name='VisitorBlock',
                fields=[
                    ('pk', models.CompositePrimaryKey('link_id', 'day', 'first', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('link_id', models.BigIntegerField(db_comment='Link; it may be deleted.')),
                    ('first', models.BigIntegerField(db_comment='The block has the hashes from this number on, up to the first of the next block.')),
                    ('day', models.DateField(db_comment='Day (UTC).')),
                    ('blocks', models.SmallIntegerField(db_comment='In the block with the lowest number: how many the link has that day, at most 32767.')),
                    ('hashes', models.BinaryField(db_comment='Hashes of 64 bits, little-endian, in any order.')),
                ],
                options={
                    'db_table_comment': 'Visitors of each link and day (UTC), as blocks of keyed hashes.',
                },
            ),
            migrations.CreateModel(
                name='DaySalt',
                fields=[
                    ('day', models.DateField(db_comment='Day (UTC).', primary_key=True, serialize=False)),
                    ('salt', models.BinaryField(db_comment="Key of the day's hashes.")),
                ],
                options={
                    'db_table_comment': 'Keys of the visitor hashes, deleted after two days.',
                },
            ),
            migrations.CreateModel(
                name='Share',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('owner', models.ForeignKey(db_comment='The workspace.', db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('view_id', models.UUIDField(db_comment='API id of the view. Null: the report is that of a link.', null=True)),
                    ('url_id', models.UUIDField(db_comment='API id of the link. Null: the report is that of a view.', null=True)),
                    ('digest', models.BinaryField(db_comment='SHA-256 digest of the token in the address.', unique=True)),
                    ('period', models.CharField(db_comment='Null: that of the view, or all.', max_length=5, null=True)),
                    ('timezone', models.CharField(db_comment='Null: that of the view, or UTC.', max_length=64, null=True)),
                    ('password', models.CharField(db_comment='Hash. Null: none.', max_length=128, null=True)),
                    ('expires_at', models.DateTimeField(db_comment='Refused from this time on.', null=True)),
                    ('no_index', models.BooleanField(db_comment='Whether search engines are to ignore the page.', default=True)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('updated_at', models.DateTimeField(auto_now=True, db_comment='Last change.')),
                ],
                options={
                    'db_table_comment': 'Reports that anybody may read who knows their address.',
                },
            ),
            migrations.CreateModel(
                name='ReportMail',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('owner', models.ForeignKey(db_comment='The workspace.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.workspace')),
                    ('user', models.ForeignKey(db_comment='The member who gets the mails.', db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                    ('weekly', models.BooleanField(db_comment='Whether they get a report of each week.', default=False)),
                    ('monthly', models.BooleanField(db_comment='Whether they get a report of each month.', default=False)),
                    ('alerts', models.BooleanField(db_comment='Whether they hear of unusual numbers of clicks.', default=False)),
                    ('created_at', models.DateTimeField(db_comment='Only periods that end later are mailed.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ],
                options={
                    'db_table_comment': 'Which reports members get by mail.',
                    'constraints': [models.UniqueConstraint(fields=('owner', 'user'), name='reportmail_owner_user')],
                },
            ),
            migrations.CreateModel(
                name='MailedReport',
                fields=[
                    ('pk', models.CompositePrimaryKey('report_mail_id', 'kind', 'period', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('report_mail_id', models.BigIntegerField(db_comment='The row of analytics_reportmail.')),
                    ('kind', models.CharField(db_comment='weekly, monthly, spike or drop.', max_length=7)),
                    ('period', models.DateField(db_comment='First day (UTC) of the period.')),
                    ('attempts', models.SmallIntegerField(db_comment='How often the mail was tried.', default=1)),
                    ('retry_at', models.DateTimeField(db_comment='Next attempt. Null: it is sent, or being sent.', null=True)),
                ],
                options={
                    'db_table_comment': 'Mails with reports, each of which is sent once.',
                },
            ),
            migrations.CreateModel(
                name='EndedShare',
                fields=[
                    ('digest', models.BinaryField(db_comment='SHA-256 digest of the token.', primary_key=True, serialize=False)),
                    ('ended_at', models.DateTimeField(db_comment='When the share was deleted.', db_default=django.db.models.functions.datetime.Now())),
                ],
                options={
                    'db_table_comment': 'Digests of the tokens of deleted shares.',
                },
            ),
        ),
        # In this order: a later file may use the functions of an earlier one.
        run_sql_files(
            __file__,
            'clicks.sql',
            'days.sql',
            'storage.sql',
            'summed_links.sql',
            'deletion.sql',
            'views.sql',
            'shares.sql',
            'report_mails.sql',
        ),
    ]
