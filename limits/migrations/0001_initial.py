import django.contrib.postgres.fields
from django.db import migrations, models

from common.migrations import CreateModels, run_sql_files


class Migration(migrations.Migration):

    initial = True

    dependencies = []

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='AttemptLog',
                fields=[
                    ('subject', models.BinaryField(db_comment='Keyed digest of the subject.', max_length=32, primary_key=True, serialize=False)),
                    ('attempts', django.contrib.postgres.fields.ArrayField(base_field=models.DateTimeField(), db_comment='Their times, oldest first.', size=None)),
                ],
                options={
                    'db_table_comment': 'Recent attempts and running calls of each subject. Unlogged.',
                },
            ),
            migrations.CreateModel(
                name='RequestCount',
                fields=[
                    ('subject', models.BinaryField(db_comment='Id of an account, or keyed digest of a network.', max_length=32, primary_key=True, serialize=False)),
                    ('started', models.DateTimeField(db_comment='Start of the minute.')),
                    ('requests', models.IntegerField(db_comment='Requests since then.')),
                ],
                options={
                    'db_table_comment': 'Requests of each subject in its current minute. Unlogged.',
                },
            ),
            migrations.CreateModel(
                name='KnownNetwork',
                fields=[
                    ('subject', models.BinaryField(db_comment='Keyed digest of network and secret.', max_length=32, primary_key=True, serialize=False)),
                    ('until', models.DateTimeField(db_comment='When the network is forgotten.', db_index=True)),
                ],
                options={
                    'db_table_comment': 'Networks from which a secret was entered correctly. Unlogged.',
                },
            ),
        ),
        # In this order: a later file may use the functions of an earlier one.
        run_sql_files(
            __file__,
            'storage.sql',
        ),
    ]
