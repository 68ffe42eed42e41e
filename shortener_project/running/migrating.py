"""Migrations in a fork: the models that Django makes of all former tables take 100 MB, which end with the fork."""

from __future__ import annotations

import gc
import signal
import time
from contextlib import suppress

from django.core.management.base import CommandError

from common.host.process_names import rename
from shortener_project.running.child import Child
from shortener_project.running.preparation import DatabaseUnavailable, migrate

# The database rolls back what an interrupted fork leaves.
_STOP_SECONDS = 5.0


def migrate_in_fork() -> None:
    """Returns however the fork ends, without an error: `prepare_database` meets it again, and reports it.

    Call it in the main thread, while no other thread runs and no database connection is open.
    """
    child = Child("migration of the database", _migrate, once=True)
    try:
        child.start()
    except OSError:
        return
    try:
        child.wait()
    finally:
        child.send_signal(signal.SIGTERM)
        child.stop(time.monotonic() + _STOP_SECONDS)


def _migrate() -> None:
    rename("migrate")
    # The garbage of this process ends with it, and collecting it takes a quarter of its time.
    gc.disable()
    with suppress(CommandError, DatabaseUnavailable):
        migrate()
