"""Which workspaces share the limits of an account, the limits on stored bytes, and the size of histories."""

import django.db.models.deletion
from django.db import migrations, models

# SQL statements delete workspaces without Django.
CASCADE = """
ALTER TABLE accounts_historysize ADD CONSTRAINT historysize_owner FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
"""
FUNCTIONS = """
-- The owner of the limits that apply to a workspace. A team on the plan of the account that owns it (the first of its
-- owners) has the limits of that account, together with the account's personal workspace, which has the account's number.
-- Any other workspace has its own.
CREATE FUNCTION accounts_limits_owner(workspace bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    team_plan text;
    first_owner bigint;
BEGIN
    SELECT w.plan INTO team_plan FROM accounts_workspace w WHERE w.id = workspace;
    IF team_plan IS NULL THEN
        RETURN workspace;
    END IF;
    SELECT m.user_id INTO first_owner FROM accounts_member m
    WHERE m.workspace_id = workspace AND m.role = 'owner' ORDER BY m.created_at, m.user_id LIMIT 1;
    RETURN coalesce((SELECT u.id FROM accounts_user u WHERE u.id = first_owner AND u.plan = team_plan), workspace);
END $$;

-- The workspaces that have these limits. ``owner`` is a result of accounts_limits_owner.
CREATE FUNCTION accounts_sharing(owner bigint) RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT owner UNION
        SELECT m.workspace_id FROM accounts_member m
        WHERE m.user_id = owner AND m.role = 'owner' AND accounts_limits_owner(m.workspace_id) = owner
    );
END $$;

-- The links app replaces it: it knows what is stored, but `accounts` shows it.
CREATE FUNCTION accounts_stored_bytes(workspaces bigint[]) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN 0;
END $$;
"""
REVERSE = "DROP FUNCTION accounts_stored_bytes, accounts_sharing, accounts_limits_owner"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_confirmed_sessions")]

    operations = [
        migrations.CreateModel(
            name="StorageLimit",
            fields=[
                (
                    "plan",
                    models.CharField(
                        choices=[("free", "Free"), ("pro", "Pro"), ("enterprise", "Enterprise")],
                        db_comment="free, pro or enterprise.",
                        max_length=10,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("bytes", models.BigIntegerField(db_comment="Stored bytes that the plan allows.")),
            ],
            options={
                "db_table_comment": "STORAGE_MB_* of the host that started last, for triggers. No row: no limit.",
            },
        ),
        migrations.CreateModel(
            name="HistorySize",
            fields=[
                (
                    "owner",
                    models.OneToOneField(
                        db_constraint=False,
                        db_comment="The workspace.",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="accounts.workspace",
                    ),
                ),
                ("bytes", models.BigIntegerField(db_comment="At least the bytes of its changes up to counted_to.")),
                ("counted_to", models.BigIntegerField(db_comment="The last change that was added to bytes.")),
            ],
            options={
                "db_table_comment": "About the size of the history of each workspace, for housekeeping.",
            },
        ),
        migrations.RunSQL(CASCADE, migrations.RunSQL.noop),
        migrations.RunSQL(FUNCTIONS, REVERSE),
    ]
