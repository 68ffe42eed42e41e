import events.fields

import common.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

from common.migrations import CreateModels, run_sql_files


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0002_initial'),
    ]

    operations = [
        CreateModels(
            # A partitioned table, which the SQL creates.
            migrations.SeparateDatabaseAndState(state_operations=[
                migrations.CreateModel(
                    name='Event',
                    fields=[
                        ('id', models.UUIDField(db_comment='API id: a UUIDv7.', primary_key=True, serialize=False)),
                        ('position', models.BigIntegerField(db_comment='Transaction id, raised by the offset of events_offset.')),
                        ('workspace_id', models.BigIntegerField(db_comment='Workspace.')),
                        ('type', models.TextField(db_comment='Kind of object and of event: link.created.')),
                        ('link_id', models.BigIntegerField(db_comment='Link, for filters; it may be deleted. Null: none.', null=True)),
                        ('time', models.DateTimeField(db_comment='When it was stored.')),
                        ('data', events.fields.Json(db_comment='What the event says: see the guide.')),
                    ],
                    options={
                        'db_table_comment': 'Events of workspaces that listen.',
                        'indexes': [models.Index(fields=['workspace_id', 'position', 'id'], name='event_workspace_position'), models.Index(fields=['position'], name='event_position')],
                    },
                ),
            ]),
            migrations.CreateModel(
                name='Listener',
                fields=[
                    ('workspace', models.OneToOneField(db_comment='The workspace.', db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='accounts.workspace')),
                    ('feed_types', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_comment='Types for its feed.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)), default=list, size=None)),
                    ('webhook_types', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_comment='Types for its webhooks.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)), default=list, size=None)),
                ],
                options={
                    'db_table_comment': 'Workspaces that listen to events.',
                },
            ),
            migrations.CreateModel(
                name='Webhook',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('name', models.CharField(db_comment='For people.', max_length=100)),
                    ('format', models.CharField(choices=[('standard', 'Standard Webhooks'), ('slack', 'Slack'), ('discord', 'Discord'), ('teams', 'Microsoft Teams'), ('mail', 'Mail')], db_comment='How messages look.', max_length=8)),
                    ('sealed_url', models.BinaryField(db_comment='The address, encrypted. Null: mails.', null=True)),
                    ('host', models.CharField(db_comment='That of the address. Null: mails.', max_length=253, null=True)),
                    ('member_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), db_comment='API ids of the members who get mails.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)), default=list, size=None)),
                    ('types', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_comment='Types of events.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)), default=list, size=None)),
                    ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_comment='Only links with one of these tags. Empty: all.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)), default=list, size=None)),
                    ('url_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), db_comment='API ids of links. Empty: all.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)), default=list, size=None)),
                    ('domain_ids', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_comment='API ids of domains, or base. Empty: all.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)), default=list, size=None)),
                    ('sealed_secret', models.BinaryField(db_comment='Signs messages, encrypted. Null: not signed.', null=True)),
                    ('former_secret', models.BinaryField(db_comment='The secret before the last rotation, encrypted.', null=True)),
                    ('former_secret_until', models.DateTimeField(db_comment='Until when the former secret signs, too.', null=True)),
                    ('disabled_reason', models.CharField(choices=[('manual', 'An admin disabled it'), ('gone', 'It answered 410'), ('failing', 'Nothing but failures for days')], db_comment='manual, gone or failing. Null: enabled.', max_length=8, null=True)),
                    ('disabled_at', models.DateTimeField(db_comment='When it was disabled. Null: enabled.', null=True)),
                    ('failing_since', models.DateTimeField(db_comment='First failure since the last success. Null: none.', null=True)),
                    ('failed_at', models.DateTimeField(db_comment='Last failure since the last success.', null=True)),
                    ('paused_until', models.DateTimeField(db_comment='Until when it asked to be left alone.', null=True)),
                    ('seconds', models.FloatField(db_comment='How long it takes to answer. Null: not known yet.', null=True)),
                    ('claimed_at', models.DateTimeField(db_comment='When a delivery was last leased.', null=True)),
                    ('grouped_at', models.DateTimeField(db_comment='When a group of events was last leased.', null=True)),
                    ('grouped_clicks', models.BooleanField(db_comment='Whether the last group had clicks.', null=True)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('updated_at', models.DateTimeField(auto_now=True, db_comment='Last change by people.')),
                    ('workspace', models.ForeignKey(db_comment='The workspace.', db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.workspace')),
                ],
                options={
                    'db_table_comment': 'Endpoints of workspaces, to which events are sent.',
                },
            ),
            migrations.CreateModel(
                name='Delivery',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('public_id', models.UUIDField(db_comment='API id.', default=common.ids.new_public_id, editable=False, unique=True)),
                    ('message_id', models.UUIDField(db_comment='The webhook-id: that of the event, or of the group.')),
                    ('type', models.TextField(db_comment='Type of the first event.')),
                    ('is_group', models.BooleanField(db_comment='Whether the message may have several events.', default=False)),
                    ('is_test', models.BooleanField(db_comment='Whether its event is an example.', default=False)),
                    ('is_replay', models.BooleanField(db_comment='Whether a replay made it.', default=False)),
                    ('event_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), db_comment='The events. Empty: a test.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)), default=list, size=None)),
                    ('positions', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), db_comment='Their positions.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)), default=list, size=None)),
                    ('first_time', models.DateTimeField(db_comment='Time of the first event, for the partition.')),
                    ('last_time', models.DateTimeField(db_comment='Time of the last event.')),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('delivered', 'Delivered'), ('failed', 'Failed')], db_comment='pending, delivered or failed.', default='pending', max_length=9)),
                    ('attempts', models.SmallIntegerField(db_comment='How often it was leased.', default=0)),
                    ('next_at', models.DateTimeField(db_comment='When it is due, if it is pending.', db_default=django.db.models.functions.datetime.Now())),
                    ('leased_until', models.DateTimeField(db_comment='Until when a process may be sending it.', null=True)),
                    ('sent_at', models.DateTimeField(db_comment='When the last attempt ended. Null: not yet.', null=True)),
                    ('http_status', models.SmallIntegerField(db_comment='Of the last answer. Null: none.', null=True)),
                    ('error', models.TextField(db_comment='Why there was no answer.', null=True)),
                    ('seconds', models.FloatField(db_comment='Duration of the last attempt.', null=True)),
                    ('answer', models.TextField(db_comment='The beginning of the last answer.', null=True)),
                    ('created_at', models.DateTimeField(db_comment='Creation time.', db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('webhook', models.ForeignKey(db_comment='The endpoint.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='events.webhook')),
                ],
                options={
                    'db_table_comment': 'Messages to endpoints.',
                    'indexes': [models.Index(fields=['webhook', 'id'], name='delivery_webhook'), models.Index(condition=models.Q(('status', 'pending')), fields=['webhook', 'next_at', 'id'], name='delivery_pending'), models.Index(condition=models.Q(('leased_until__isnull', False)), fields=['webhook'], name='delivery_leased')],
                },
            ),
            migrations.CreateModel(
                name='Cursor',
                fields=[
                    ('id', models.BigAutoField(db_comment='Internal key.', primary_key=True, serialize=False)),
                    ('kind', models.CharField(choices=[('changes', 'Everything but clicks'), ('clicks', 'Clicks'), ('replay', 'Events that are sent again')], db_comment='changes, clicks or replay.', max_length=7)),
                    ('position', models.BigIntegerField(db_comment='Position of the last event.')),
                    ('event_id', models.UUIDField(db_comment='Id of the last event.')),
                    ('until', models.BigIntegerField(db_comment='Of a replay: the first position that is not sent.', null=True)),
                    ('begins_at', models.DateTimeField(db_comment='Of a replay: time of the first event.', null=True)),
                    ('ends_at', models.DateTimeField(db_comment='Of a replay: events before this time.', null=True)),
                    ('types', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_comment='Of a replay: types of events.', db_default=models.Value([], output_field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)), default=list, size=None)),
                    ('next_at', models.DateTimeField(db_comment='When events are next read.', db_default=django.db.models.functions.datetime.Now())),
                    ('webhook', models.ForeignKey(db_comment='The endpoint.', db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='cursors', to='events.webhook')),
                ],
                options={
                    'db_table_comment': 'Up to where events have become deliveries.',
                    'indexes': [models.Index(condition=models.Q(('kind', 'replay')), fields=['id'], name='cursor_replay')],
                    'constraints': [models.UniqueConstraint(fields=('webhook', 'kind'), name='cursor_webhook_kind')],
                },
            ),
        ),
        run_sql_files(
            __file__,
            'events.sql',
            'accounts.sql',
            'webhooks.sql',
        ),
    ]
