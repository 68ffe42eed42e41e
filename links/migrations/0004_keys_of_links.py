"""Links know the key with scopes that created them. Without a default, no row is read or written.

The migration has no transaction, so it can stop between any two steps. Each step can run again.
"""

from django.db import connection, migrations, models

from common.ddl import change_tables

COMMENT = """
COMMENT ON COLUMN links_link.key_id IS 'The key with scopes that created the link. Null: none.'
"""


def add_key(apps, schema_editor):
    with connection.cursor() as cursor:
        change_tables(lambda: cursor.execute("ALTER TABLE links_link ADD COLUMN IF NOT EXISTS key_id bigint NULL"))


def remove_key(apps, schema_editor):
    with connection.cursor() as cursor:
        change_tables(lambda: cursor.execute("ALTER TABLE links_link DROP COLUMN IF EXISTS key_id"))


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("links", "0003_owned_by_workspaces"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(add_key, remove_key),
                migrations.RunSQL(
                    [
                        # An interrupted creation leaves an invalid index.
                        "DROP INDEX CONCURRENTLY IF EXISTS link_key",
                        "CREATE INDEX CONCURRENTLY link_key ON links_link (key_id, owner_id) WHERE key_id IS NOT NULL",
                    ],
                    "DROP INDEX CONCURRENTLY IF EXISTS link_key",
                ),
                migrations.RunSQL(COMMENT, migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AddField(
                    model_name="link",
                    name="key_id",
                    field=models.BigIntegerField(
                        db_comment="The key with scopes that created the link. Null: none.",
                        editable=False,
                        null=True,
                    ),
                ),
                migrations.AddIndex(
                    model_name="link",
                    index=models.Index(
                        condition=models.Q(("key_id__isnull", False)), fields=["key_id", "owner"], name="link_key"
                    ),
                ),
            ],
        ),
    ]
