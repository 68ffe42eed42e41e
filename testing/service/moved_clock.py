"""A clock that a test sets while services run, for them and for their database.

Each process of a service reads the offset from a file whenever it reads the clock. (libfaketime does not support
`time.sleep` of Python 3.11 and newer.) The database's server keeps its clock, because other databases share it. A
schema before PostgreSQL's own has `now()` and `clock_timestamp()` with the same offset instead.
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

import psycopg
from psycopg import sql

_PRELOADED = Path(__file__).parent / "preloaded"
FUNCTIONS = """
CREATE SCHEMA moved;
CREATE TABLE moved.clock (ahead interval NOT NULL);
INSERT INTO moved.clock VALUES ('0 s');
CREATE FUNCTION moved.now() RETURNS timestamptz STABLE LANGUAGE sql
    AS $$ SELECT pg_catalog.now() + ahead FROM moved.clock $$;
CREATE FUNCTION moved.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
    AS $$ SELECT pg_catalog.clock_timestamp() + ahead FROM moved.clock $$;
"""


class MovedClock:
    """Services with `environment` use it, and sessions that a database opens after this object was created."""

    def __init__(self, folder: Path, database: str) -> None:
        """``database`` is the URL of a database of this test."""
        self._file, self._database = folder / "clock", database
        self.environment = {"PYTHONPATH": str(_PRELOADED), "MOVED_CLOCK": str(self._file)}
        self._write(0)
        with psycopg.connect(database) as connection:
            connection.execute(FUNCTIONS)
            connection.execute(
                sql.SQL("ALTER DATABASE {} SET search_path = moved, pg_catalog, public").format(
                    sql.Identifier(connection.info.dbname)
                )
            )

    def set(self, moment: datetime) -> int:
        """Let the clock show ``moment``, to within a second. Return its offset from this process's clock in seconds.

        Whoever reads the clock from now on gets the new time.
        """
        ahead = round(moment.timestamp() - time.time())
        self.move_database(ahead)
        self._write(ahead)
        return ahead

    def move_database(self, ahead: float) -> None:
        """Let the database's clock alone be so many seconds ahead of the real one."""
        with psycopg.connect(self._database) as connection:
            connection.execute("UPDATE moved.clock SET ahead = %s * interval '1 s'", [ahead])

    def _write(self, ahead: int) -> None:
        draft = self._file.with_suffix(".new")
        draft.write_text(f"{ahead}\n")
        draft.replace(self._file)
