"""PostgreSQL for an installation without a database server: a launcher for the wheel's or the system's server.

It uses only the standard library, not Django: the settings, `manage.py` and the tests need the database URL before
Django is set up.

`server` starts and stops it, and `guard` stops it if its parent is killed. `sizing` chooses settings that fit the
host's memory. `binaries` finds the programs of PostgreSQL, also for backups.
"""

from .errors import EmbeddedPostgresError
from .server import EmbeddedPostgres, Lease

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "Lease"]
