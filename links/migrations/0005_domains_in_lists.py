"""Lists filter by domain: the searchable copy has the domain of each link, and an index by owner and domain.

The index replaces the one on ``links_link.domain_id``, which had an entry for each link of the default domain, too.

The migration has no transaction, so it can stop between any two steps. Each step can run again.
"""

from pathlib import Path

import django.db.models.deletion
from django.db import connection, migrations, models

from common.ddl import change_tables

BATCH = 5_000
# 0 rather than null: PostgreSQL does not read an index in order for "IS NULL". The default changes no row.
ADD_DOMAIN = """
LOCK TABLE links_link IN SHARE ROW EXCLUSIVE MODE;
ALTER TABLE links_searchable ADD COLUMN IF NOT EXISTS domain_id bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN links_searchable.domain_id IS 'The domain. 0: the default domain.';
"""
# Locks the links first, like every writer, and so reads their current domains.
COPY_DOMAINS = """
WITH batch AS MATERIALIZED (
    SELECT id, domain_id FROM links_link WHERE domain_id IS NOT NULL AND id > %(after)s
    ORDER BY id LIMIT %(batch)s FOR NO KEY UPDATE
), copied AS (
    UPDATE links_searchable s SET domain_id = batch.domain_id FROM batch
    WHERE s.link_id = batch.id AND s.domain_id <> batch.domain_id
)
SELECT max(id) FROM batch
"""
SQL = Path(__file__).with_name("sql")


def add_domain(apps, schema_editor):
    def change():
        with connection.cursor() as cursor:
            cursor.execute(ADD_DOMAIN + (SQL / "0005_domains.sql").read_text())

    change_tables(change)


def copy_domains(apps, schema_editor):
    after = 0
    with connection.cursor() as cursor:
        while after is not None:
            cursor.execute(COPY_DOMAINS, {"after": after, "batch": BATCH})
            [after] = cursor.fetchone()


def remove_domain(apps, schema_editor):
    """Restores the functions of `sql/0002_totals.sql`."""
    start, end = "CREATE FUNCTION links_after_insert", "CREATE FUNCTION links_after_delete"
    former = (SQL / "0002_totals.sql").read_text()
    former = former[former.index(start) : former.index(end)].replace("CREATE", "CREATE OR REPLACE")

    def change():
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE links_link IN SHARE ROW EXCLUSIVE MODE;" + former)
            cursor.execute("ALTER TABLE links_searchable DROP COLUMN IF EXISTS domain_id")

    change_tables(change)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("links", "0004_keys_of_links"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(add_domain, remove_domain),
                migrations.RunPython(copy_domains, migrations.RunPython.noop),
                migrations.RunSQL(
                    [
                        # An interrupted creation leaves an invalid index.
                        "DROP INDEX CONCURRENTLY IF EXISTS links_owner_domain",
                        "CREATE INDEX CONCURRENTLY links_owner_domain"
                        " ON links_searchable (owner_id, domain_id, created_at, link_id)",
                    ],
                    "DROP INDEX CONCURRENTLY IF EXISTS links_owner_domain",
                ),
                migrations.RunSQL(
                    [
                        "DROP INDEX CONCURRENTLY IF EXISTS link_domain",
                        "CREATE INDEX CONCURRENTLY link_domain ON links_link (domain_id) WHERE domain_id IS NOT NULL",
                        "DROP INDEX CONCURRENTLY IF EXISTS links_link_domain_id_229b19d6",
                    ],
                    [
                        "CREATE INDEX CONCURRENTLY IF NOT EXISTS links_link_domain_id_229b19d6"
                        " ON links_link (domain_id)",
                        "DROP INDEX CONCURRENTLY IF EXISTS link_domain",
                    ],
                ),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="link",
                    name="domain",
                    field=models.ForeignKey(
                        blank=True,
                        db_comment="Null: the default domain.",
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="links",
                        to="domains.domain",
                    ),
                ),
                migrations.AddIndex(
                    model_name="link",
                    index=models.Index(
                        condition=models.Q(("domain__isnull", False)), fields=["domain"], name="link_domain"
                    ),
                ),
            ],
        ),
    ]
