"""Counts of requests are written at every request and worth nothing after a crash: no write-ahead log for them,
and room on each page, so that a count is changed where it stands."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_unlogged_attempts")]

    operations = [
        migrations.CreateModel(
            name="RequestCount",
            fields=[
                ("subject", models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ("started", models.DateTimeField()),
                ("requests", models.IntegerField()),
            ],
        ),
        migrations.RunSQL(
            "ALTER TABLE accounts_requestcount SET UNLOGGED; ALTER TABLE accounts_requestcount SET (fillfactor = 50)",
            reverse_sql=migrations.RunSQL.noop,
        ),
        migrations.CreateModel(
            name="IdempotentAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key_digest", models.BinaryField(max_length=32)),
                ("sealed", models.BinaryField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "key_digest"), name="idempotent_once")
                ]
            },
        ),
    ]
