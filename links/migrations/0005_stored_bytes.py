"""The bytes that each owner stores, and the limit on them. See `sql/0005_stored_bytes.sql`.

Writes to links wait while the migration adds up the links that exist; redirects go on.
"""

from pathlib import Path

from django.db import migrations, models

_SQL = Path(__file__).with_name("sql")
_FORMER = (_SQL / "0002_totals.sql").read_text()


def _former_functions() -> str:
    """The functions of `sql/0002_totals.sql` that this migration replaces."""
    starts = [_FORMER.index(f"CREATE FUNCTION {name}") for name in ("links_after_insert", "links_clicks_after_update")]
    comment = "-- A drainer sets links.totals_slot"
    functions = _FORMER[starts[0] : starts[1]].partition(comment)[0]
    return functions.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


REVERSE = f"""
{_former_functions()}
DROP FUNCTION links_bytes_after_final_deletion CASCADE;
DROP FUNCTION links_check_storage CASCADE;
DROP FUNCTION links_size;
CREATE OR REPLACE FUNCTION accounts_stored_bytes(workspaces bigint[]) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN 0;
END $$;
ALTER TABLE links_ownertotals DROP COLUMN bytes;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_shared_limits"), ("links", "0004_keys_of_links")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL((_SQL / "0005_stored_bytes.sql").read_text(), REVERSE)],
            state_operations=[
                migrations.AddField(
                    model_name="ownertotals",
                    name="bytes",
                    field=models.BigIntegerField(
                        db_comment="Stored bytes of links and QR codes, likewise.", db_default=0
                    ),
                ),
            ],
        ),
    ]
