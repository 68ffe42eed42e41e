"""Migrations in a fork: Django makes models of every former state of each table, whose memory ends with the fork."""

from __future__ import annotations

import gc
import logging
import signal
import sys
import time
from collections.abc import Callable
from functools import partial

from common.host.process_names import rename
from shortener_project.running.child import Child
from shortener_project.running.preparation import migrate

logger = logging.getLogger(__name__)

# The database rolls back what an interrupted fork leaves.
_STOP_SECONDS = 5.0


def migrate_in_fork(release: Callable[[], object]) -> None:
    """Logs a warning if the fork fails, and returns: `prepare_database` repeats its work, and reports the reason.

    ``release``: closes in the fork what only the caller may keep open. Call this in the main thread, while no other
    thread runs and no database connection is open.
    """
    child = Child("migration of the database", partial(_migrate, release), once=True)
    try:
        child.start()
        failure = child.wait()
    except OSError as error:
        failure = error.strerror or str(error)
    finally:
        # A signal may have raised an exception, even while the fork was starting.
        child.send_signal(signal.SIGTERM)
        child.stop(time.monotonic() + _STOP_SECONDS)
    if failure:
        logger.warning(
            "The %s failed in a process of its own: %s. Repeating it in this one.", child.name, failure
        )


def _migrate(release: Callable[[], object]) -> None:
    rename("migrate")
    release()
    # Otherwise each collection would traverse, and copy, what this process shares with the supervisor.
    gc.freeze()
    # The models of former states live until the end: looking for garbage among them takes a tenth of the time.
    gc.set_threshold(20_000)
    try:
        migrate()
    except Exception:
        # The caller meets it again. One report is enough.
        sys.exit(1)
