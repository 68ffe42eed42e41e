import django.db.models.deletion
from django.db import migrations, models

from accounts.workspaces.owner_columns import refer_to_workspaces


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("accounts", "0002_workspaces"),
        ("domains", "0001_initial"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                refer_to_workspaces({"domains_domain": "NO ACTION"}),
                migrations.RunSQL(
                    "COMMENT ON COLUMN domains_domain.owner_id IS 'The workspace that claimed the domain.'",
                    migrations.RunSQL.noop,
                ),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="domain",
                    name="owner",
                    field=models.ForeignKey(
                        db_comment="The workspace that claimed the domain.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="domains",
                        to="accounts.workspace",
                    ),
                ),
            ],
        ),
    ]
