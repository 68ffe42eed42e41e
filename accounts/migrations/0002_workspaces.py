import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import common.ids

# Whichever program inserts an account, it has a personal workspace in the same transaction. The lock of CREATE TRIGGER
# keeps accounts from being created between it and the insertion for the existing ones.
PERSONAL = """
CREATE FUNCTION accounts_create_personal_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts_workspace (id, public_id, account_id, name, created_at)
    VALUES (NEW.id, NEW.public_id, NEW.id, 'Personal', NEW.created_at);
    INSERT INTO accounts_member (workspace_id, user_id, role, created_at)
    VALUES (NEW.id, NEW.id, 'owner', NEW.created_at);
    RETURN NULL;
END $$;

CREATE TRIGGER accounts_create_personal_workspace AFTER INSERT ON accounts_user
    FOR EACH ROW EXECUTE FUNCTION accounts_create_personal_workspace();

INSERT INTO accounts_workspace (id, public_id, account_id, name, created_at)
SELECT id, public_id, id, 'Personal', created_at FROM accounts_user;

INSERT INTO accounts_member (workspace_id, user_id, role, created_at)
SELECT id, id, 'owner', created_at FROM accounts_user;

-- Check the constraints now, because PostgreSQL cannot alter a table with pending checks.
SET CONSTRAINTS ALL IMMEDIATE;
"""
REVERSE = """
DROP TRIGGER accounts_create_personal_workspace ON accounts_user;
DROP FUNCTION accounts_create_personal_workspace;
"""

# The history of a workspace is deleted with it. A personal workspace is deleted with its account.
HISTORY = """
CREATE TRIGGER accounts_delete_history AFTER DELETE ON accounts_workspace
    FOR EACH ROW EXECUTE FUNCTION accounts_delete_history();
"""
HISTORY_BACK = """
DROP TRIGGER accounts_delete_history ON accounts_workspace;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Workspace",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        db_comment="Internal key, from the sequence of the accounts.",
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "public_id",
                    models.UUIDField(
                        db_comment="API id.", default=common.ids.new_public_id, editable=False, unique=True
                    ),
                ),
                ("name", models.CharField(db_comment="For people.", max_length=100)),
                (
                    "team_plan",
                    models.CharField(
                        blank=True,
                        choices=[("free", "Free"), ("pro", "Pro"), ("enterprise", "Enterprise")],
                        db_column="plan",
                        db_comment="free, pro or enterprise. Null: a personal workspace has the plan of its account.",
                        max_length=10,
                        null=True,
                        verbose_name="plan",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_comment="Creation time.",
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                    ),
                ),
                (
                    "account",
                    models.OneToOneField(
                        blank=True,
                        db_comment="The account of a personal workspace. Null: a team's workspace.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="workspace",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table_comment": "Workspaces: the owners of links, domains and QR codes.",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("account", models.F("id")), ("account__isnull", False), ("team_plan", None)),
                            models.Q(("account", None), ("team_plan__isnull", False)),
                            _connector="OR",
                        ),
                        name="workspace_personal_or_team",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "workspace", "user", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "Viewer"),
                            ("editor", "Editor"),
                            ("admin", "Admin"),
                            ("owner", "Owner"),
                        ],
                        db_comment="viewer, editor, admin or owner.",
                        max_length=10,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_comment="When the account joined.",
                        db_default=django.db.models.functions.datetime.Now(),
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_comment="The account.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_comment="The workspace.",
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="accounts.workspace",
                    ),
                ),
            ],
            options={
                "db_table_comment": "Members of workspaces and their roles.",
            },
        ),
        migrations.RunSQL(PERSONAL, REVERSE),
        migrations.AlterField(
            model_name="change",
            name="owner",
            field=models.ForeignKey(
                db_comment="Owner of the changed object.",
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="accounts.workspace",
            ),
        ),
        migrations.RunSQL(HISTORY, HISTORY_BACK),
    ]
