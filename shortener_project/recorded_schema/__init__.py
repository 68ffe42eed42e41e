"""The schema of a new database, recorded from the migrations: it takes a fraction of their time."""

from pathlib import Path

SCHEMA = Path(__file__).with_name("schema.sql")
