"""Why a link cannot be followed, in one SQL function, and claims of clicks that tell it.

See `sql/0006_links_is_open.sql`.
"""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).with_name("sql") / "0006_links_is_open.sql"


class Migration(migrations.Migration):
    dependencies = [("links", "0005_stored_bytes")]

    operations = [migrations.RunSQL(SQL.read_text(), "DROP FUNCTION links_claim, links_closed_by;")]
