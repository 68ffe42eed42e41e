"""The schema of a new database, recorded from the migrations: it takes a fraction of their time.
`installing.install_if_empty` uses it, and `recording` is `make schema`.
"""

from pathlib import Path

SCHEMA = Path(__file__).with_name("schema.sql")
