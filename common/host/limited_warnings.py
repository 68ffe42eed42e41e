"""Warnings that a host logs once per subject and period, however many of its processes see the cause.

The subjects come from requests, so a client can invent any number of them. Only a bounded number is remembered, and
further subjects cause no warning until the period of an earlier one ends.

A file holds the subjects and the times of their warnings. A process looks at it at most once per subject and period
unless another process holds it, and not at all while it is full.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)


class LimitedWarnings:
    def __init__(self, file: Path, *, seconds: float, subjects: int) -> None:
        self._file = file
        self._seconds = seconds
        self._subjects = subjects
        # The times of the warnings that this process knows of.
        self._known: dict[str, float] = {}
        self._lock = threading.Lock()

    def is_due(self, subject: str) -> bool:
        """Whether the caller must log the warning now. ``subject``: text without white space. Never waits for another
        process, and never raises: without the file, each process counts for itself.
        """
        with self._lock:
            now = time.time()
            self._known = self._current(self._known, now)
            if subject in self._known or len(self._known) >= self._subjects:
                return False
            try:
                return self._record(subject)
            except BlockingIOError:
                return False
            except OSError as error:
                log.error("Times of warnings are not shared: %s", error)
                self._known[subject] = now
                return True

    def recent(self) -> list[str]:
        """The subjects of the warnings of this host within the last period."""
        with suppress(OSError):
            return list(self._current(_parsed(self._file.read_text()), time.time()))
        return []

    def _record(self, subject: str) -> bool:
        """Add the subject to the file, unless it is there or the file is full. Raises OSError."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "r+") as file:
            # Closing the file releases the lock.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Read the clock under the lock: no time in the file is later, unless the clock was set back.
            now = time.time()
            self._known = self._current(_parsed(file.read()), now)
            is_due = subject not in self._known and len(self._known) < self._subjects
            if is_due:
                self._known[subject] = now
                file.seek(0)
                file.write("".join(f"{at} {name}\n" for name, at in self._known.items()))
                file.truncate()
        return is_due

    def _current(self, times: dict[str, float], now: float) -> dict[str, float]:
        # A time in the future means that the clock was set back.
        return {subject: at for subject, at in times.items() if now - self._seconds < at <= now}


def _parsed(text: str) -> dict[str, float]:
    """Skip malformed lines: a process may have been killed while it wrote."""
    times = {}
    for line in text.splitlines():
        at, _, subject = line.partition(" ")
        with suppress(ValueError):
            times[subject] = float(at)
    return times
