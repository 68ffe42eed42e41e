"""The schema of a new database, recorded from the migrations: 0.4 s of a first start instead of 1.4.
`installing.install_if_empty` uses it, and `recording` is `make schema`. `digests` identifies the texts of the
migrations, `applied` those that a database has, and `comparison` a database that does not know them.
"""

from pathlib import Path

SCHEMA = Path(__file__).with_name("schema.sql")
