import django.contrib.postgres.fields
from django.db import migrations, models

# Requests and wrong passwords write to these tables all the time, and a crash makes the rows worthless. Unlogged tables
# need no write-ahead log. Every request updates a row of limits_requestcount: free space on each page allows HOT updates.
STORAGE = """
ALTER TABLE limits_attemptlog SET UNLOGGED;
ALTER TABLE limits_knownnetwork SET UNLOGGED;
ALTER TABLE limits_requestcount SET UNLOGGED;
ALTER TABLE limits_requestcount SET (fillfactor = 50);
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="AttemptLog",
            fields=[
                ("subject", models.BinaryField(max_length=32, primary_key=True, serialize=False, db_comment='Keyed digest of the subject.')),
                ("attempts", django.contrib.postgres.fields.ArrayField(base_field=models.DateTimeField(), size=None, db_comment='Their times, oldest first.')),
            ],
            options={'db_table_comment': 'Recent attempts and running calls of each subject. Unlogged.'},
        ),
        migrations.CreateModel(
            name="RequestCount",
            fields=[
                ("subject", models.BinaryField(max_length=32, primary_key=True, serialize=False, db_comment='Id of an account, or keyed digest of a network.')),
                ("started", models.DateTimeField(db_comment='Start of the minute.')),
                ("requests", models.IntegerField(db_comment='Requests since then.')),
            ],
            options={'db_table_comment': 'Requests of each subject in its current minute. Unlogged.'},
        ),
        migrations.CreateModel(
            name="KnownNetwork",
            fields=[
                ("subject", models.BinaryField(max_length=32, primary_key=True, serialize=False, db_comment='Keyed digest of network and secret.')),
                ("until", models.DateTimeField(db_index=True, db_comment='When the network is forgotten.')),
            ],
            options={'db_table_comment': 'Networks from which a secret was entered correctly. Unlogged.'},
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
    ]
