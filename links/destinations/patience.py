"""Reads of links while the host hears nothing from the database, which may not respond at all.

In a network that drops packets, each attempt takes seconds. So visitors wait for one attempt, and only for a moment.
Then they get the links that the host knows while attempts go on in the background.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from django.db import Error, OperationalError, connection

from common.database import is_outage
from common.host.state import is_hearing

Result = TypeVar("Result")

# Far longer than a read takes, and as long as a visitor should wait.
PATIENCE_SECONDS = 1.0


class NoResponse(OperationalError):
    """The database has not responded to an earlier read, or not soon enough to this one."""


class PatientReads:
    """The reads of one process. While the host hears nothing, a thread with a connection of its own executes them."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="patient-read")
        self._responds = True
        self._latest: Future[Any] | None = None

    def read(self, load: Callable[[], Result]) -> Result:
        """Return the result of ``load``. Raises its errors, and NoResponse."""
        if is_hearing():
            self._responds = True
            return load()
        if not self._responds:
            if self._latest is None or self._latest.done():
                self._begin(load)
            raise NoResponse("The database did not respond to an earlier read.")
        attempt = self._begin(load)
        try:
            return attempt.result(PATIENCE_SECONDS)
        except TimeoutError:
            self._responds = False
            attempt.cancel()
            raise NoResponse("The database does not respond.") from None

    def _begin(self, load: Callable[[], Result]) -> Future[Result]:
        self._latest = attempt = self._thread.submit(_closing_after_errors, load)
        attempt.add_done_callback(self._note)
        return attempt

    def _note(self, attempt: Future[Any]) -> None:
        if not attempt.cancelled():
            error = attempt.exception()
            self._responds = error is None or not is_outage(error)


def _closing_after_errors(load: Callable[[], Result]) -> Result:
    try:
        return load()
    except Error:
        connection.close()
        raise


@cache
def patient_reads() -> PatientReads:
    """Return the process's own."""
    return PatientReads()
