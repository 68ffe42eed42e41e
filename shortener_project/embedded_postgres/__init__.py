"""PostgreSQL for an installation that has none: our own launcher of the wheel's (or the system's) server.

Standard library only, and nothing of Django: the settings, `manage.py` and the tests ask for an address
before Django is set up.
"""

from .errors import EmbeddedPostgresError
from .lease import Lease
from .server import EmbeddedPostgres

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "Lease"]
