"""The log of attempts is written at every wrong password and worth nothing after a crash: no write-ahead log for it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE accounts_attemptlog SET UNLOGGED", reverse_sql="ALTER TABLE accounts_attemptlog SET LOGGED"
        )
    ]
