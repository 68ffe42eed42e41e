"""The schema of a new database, recorded from the migrations: it takes a fraction of their time.
`installing.install_if_empty` uses it, and `recording` is `make schema`. `digests` identifies the texts of the
migrations, `applied` those that a database has, and `comparison` a database that does not know them.
"""

from pathlib import Path

SCHEMA = Path(__file__).with_name("schema.sql")
