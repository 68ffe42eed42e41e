"""Links belong to workspaces, and know who created them. No row changes: see `accounts.workspaces.owner_columns`.

The migration has no transaction, so it can stop between any two steps. Each step can run again.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import connection, migrations, models

from accounts.workspaces.owner_columns import refer_to_workspaces
from common.ddl import change_tables

# The effect of deleting a workspace on each table. The deletion fails as long as the workspace has a link.
TABLES = {
    "links_link": "NO ACTION",
    "links_clickcounter": "NO ACTION",
    "links_code": "SET NULL",
    "links_deletedlink": "CASCADE",
    "links_createdlinks": "CASCADE",
    "links_ownertotals": "CASCADE",
    "links_tagtotals": "CASCADE",
}
COMMENTS = """
COMMENT ON COLUMN links_link.owner_id IS 'The workspace.';
COMMENT ON COLUMN links_link.creator_id IS
    'The account that created the link. Null: that of the personal workspace.';
COMMENT ON COLUMN links_createdlinks.owner_id IS 'The workspace.';
COMMENT ON COLUMN links_ownertotals.owner_id IS 'The workspace.';
COMMENT ON TABLE links_createdlinks IS 'Links that each workspace created in a month, for quotas.';
"""
# Without a default, no row is read or written.
ADD_CREATOR = """
ALTER TABLE links_link ADD COLUMN IF NOT EXISTS creator_id bigint NULL
    CONSTRAINT links_link_creator_id_fk_accounts_user_id
    REFERENCES accounts_user (id) DEFERRABLE INITIALLY DEFERRED
"""


def add_creator(apps, schema_editor):
    with connection.cursor() as cursor:
        change_tables(lambda: cursor.execute(ADD_CREATOR))


def remove_creator(apps, schema_editor):
    with connection.cursor() as cursor:
        change_tables(lambda: cursor.execute("ALTER TABLE links_link DROP COLUMN IF EXISTS creator_id"))


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("accounts", "0002_workspaces"),
        ("links", "0002_functions_and_triggers"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                refer_to_workspaces(TABLES),
                migrations.RunPython(add_creator, remove_creator),
                migrations.RunSQL(
                    [
                        # An interrupted creation leaves an invalid index.
                        "DROP INDEX CONCURRENTLY IF EXISTS link_creator",
                        "CREATE INDEX CONCURRENTLY link_creator ON links_link (creator_id)"
                        " WHERE creator_id IS NOT NULL",
                    ],
                    "DROP INDEX CONCURRENTLY IF EXISTS link_creator",
                ),
                migrations.RunSQL(COMMENTS, migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="link",
                    name="owner",
                    field=models.ForeignKey(
                        db_comment="The workspace.",
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links",
                        to="accounts.workspace",
                    ),
                ),
                migrations.AddField(
                    model_name="link",
                    name="creator",
                    field=models.ForeignKey(
                        blank=True,
                        db_comment="The account that created the link. Null: that of the personal workspace.",
                        db_index=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="created_links",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                migrations.AddIndex(
                    model_name="link",
                    index=models.Index(
                        condition=models.Q(("creator__isnull", False)),
                        fields=["creator"],
                        name="link_creator",
                    ),
                ),
                migrations.AlterField(
                    model_name="clickcounter",
                    name="owner",
                    field=models.ForeignKey(
                        db_comment="Owner of the link.",
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="accounts.workspace",
                    ),
                ),
                migrations.AlterField(
                    model_name="code",
                    name="owner",
                    field=models.ForeignKey(
                        db_comment="Former owner of a retired code.",
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to="accounts.workspace",
                    ),
                ),
                migrations.AlterField(
                    model_name="createdlinks",
                    name="owner",
                    field=models.OneToOneField(
                        db_comment="The workspace.",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to="accounts.workspace",
                    ),
                ),
                migrations.AlterModelTableComment(
                    name="createdlinks",
                    table_comment="Links that each workspace created in a month, for quotas.",
                ),
                migrations.AlterField(
                    model_name="deletedlink",
                    name="owner",
                    field=models.ForeignKey(
                        db_comment="Owner of the link.",
                        on_delete=django.db.models.deletion.CASCADE,
                        to="accounts.workspace",
                    ),
                ),
                migrations.AlterField(
                    model_name="ownertotals",
                    name="owner",
                    field=models.ForeignKey(
                        db_comment="The workspace.",
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="accounts.workspace",
                    ),
                ),
                migrations.AlterField(
                    model_name="tagtotals",
                    name="owner",
                    field=models.ForeignKey(
                        db_comment="Owner of the links.",
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="accounts.workspace",
                    ),
                ),
            ],
        ),
    ]
