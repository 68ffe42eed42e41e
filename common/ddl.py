"""DDL on tables in use. A DDL statement that waits for a lock blocks every later statement on the table."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.db import OperationalError, connection, transaction

log = logging.getLogger(__name__)

LOCK_MILLISECONDS = 200
ATTEMPTS = 5
PAUSE_SECONDS = 1.0
_LOCK_NOT_AVAILABLE = "55P03"


def change_tables(change: Callable[[], None]) -> None:
    """Runs ``change`` in a separate transaction with a short lock timeout, and retries after a pause.

    So inserts continue while another session, such as pg_dump, holds a lock for hours. Raises OperationalError after
    the last attempt; housekeeping retries in its next run.
    """
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}")
                change()
            return
        except OperationalError as error:
            is_locked = getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE
            if not is_locked or attempt == ATTEMPTS - 1:
                raise
            log.info("A table is locked; retrying its change in %.0f s.", PAUSE_SECONDS)
        time.sleep(PAUSE_SECONDS)
