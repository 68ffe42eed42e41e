import django.contrib.postgres.fields
import django.db.models.deletion
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
                        ('data', models.JSONField(db_comment='What the event says: see the guide.')),
                    ],
                    options={
                        'db_table_comment': 'Events of workspaces that listen.',
                        'indexes': [models.Index(fields=['workspace_id', 'position', 'id'], name='event_workspace_position')],
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
        ),
        run_sql_files(
            __file__,
            'events.sql',
        ),
    ]
