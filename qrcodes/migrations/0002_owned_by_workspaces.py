import django.db.models.deletion
from django.db import migrations, models

from accounts.workspaces.owner_columns import refer_to_workspaces


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("accounts", "0002_workspaces"),
        ("qrcodes", "0001_initial"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[refer_to_workspaces({"qrcodes_qrcode": "NO ACTION"})],
            state_operations=[
                migrations.AlterField(
                    model_name="qrcode",
                    name="owner",
                    field=models.ForeignKey(
                        db_comment="Owner of the link.",
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="accounts.workspace",
                    ),
                ),
            ],
        ),
    ]
