import django.db.models.deletion
from django.db import migrations, models

from accounts.workspaces.owner_columns import refer_to_workspaces

COMMENTS = """
COMMENT ON TABLE bans_ban IS 'Operators'' bans of destination hosts and of workspaces'' links.';
COMMENT ON COLUMN bans_ban.host IS 'Banned host with its subdomains; null: a ban of a workspace.';
COMMENT ON COLUMN bans_ban.owner_id IS 'Workspace whose links are banned; null: a ban of a host.';
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("accounts", "0002_workspaces"),
        ("bans", "0001_initial"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                refer_to_workspaces({"bans_ban": "CASCADE"}),
                migrations.RunSQL(COMMENTS, migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="ban",
                    name="host",
                    field=models.CharField(
                        blank=True,
                        db_comment="Banned host with its subdomains; null: a ban of a workspace.",
                        help_text="Canonical destination host. The ban includes its subdomains.",
                        max_length=255,
                        null=True,
                        unique=True,
                    ),
                ),
                migrations.AlterField(
                    model_name="ban",
                    name="owner",
                    field=models.OneToOneField(
                        blank=True,
                        db_comment="Workspace whose links are banned; null: a ban of a host.",
                        help_text="Blocks all links of the workspace. To block sign-in, disable the account, too.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ban",
                        to="accounts.workspace",
                    ),
                ),
                migrations.AlterModelTableComment(
                    name="ban",
                    table_comment="Operators' bans of destination hosts and of workspaces' links.",
                ),
            ],
        ),
    ]
