"""The history of identities: a trigger on a table of allauth, whose migrations need those of the accounts."""

from django.db import migrations

from common.migrations import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ('accounts', '0001_initial'),
        ('socialaccount', '0006_alter_socialaccount_extra_data'),
    ]

    operations = [run_sql_files(__file__, 'identities.sql')]
