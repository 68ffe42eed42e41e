"""Log lines that every request of an outage would repeat: the first at once, then one a second with their number.

A caller marks its line with ``extra=REPEATED``. Django's lines about responses with status 503 need no mark.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

REPEATED: Mapping[str, object] = MappingProxyType({"is_repeated": True})
SECONDS = 1.0

# What makes lines equal: the logger, the level, the message without its arguments, and the class of the exception.
_Line = tuple[str, int, str, type[BaseException] | None]


@dataclass(slots=True)
class _Window:
    """``message``: of the last of ``count`` lines since the one that was logged."""

    began_at: float
    count: int = 0
    message: str = ""


class RepeatedLines(logging.Filter):
    """A filter of a handler. Logs what is left when the process ends."""

    def __init__(self) -> None:
        super().__init__()
        self._forget()
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self._report_all)

    def filter(self, record: logging.LogRecord) -> bool:
        if not _is_repeated(record):
            return True
        line = (record.name, record.levelno, str(record.msg), record.exc_info[0] if record.exc_info else None)
        now = time.monotonic()
        with self._lock:
            window = self._windows.get(line)
            if window is None or (not window.count and now - window.began_at >= SECONDS):
                self._windows[line] = _Window(now)
                return True
            if not window.count:
                timer = threading.Timer(window.began_at + SECONDS - now, self._report, [line])
                timer.daemon = True
                try:
                    timer.start()
                except RuntimeError:
                    # The process may have no further thread.
                    return True
            window.count += 1
            window.message = record.getMessage()
        return False

    def _report(self, line: _Line) -> None:
        with self._lock:
            window = self._windows[line]
            count, window.count, window.began_at = window.count, 0, time.monotonic()
        if count:
            name, level, *_ = line
            fields = {"count": count}
            logging.getLogger(name).log(level, "%s", window.message, extra={"fields": fields})

    def _report_all(self) -> None:
        for line in list(self._windows):
            self._report(line)

    def _forget(self) -> None:
        """The timers of a process do not run in its forks."""
        self._lock = threading.Lock()
        self._windows: dict[_Line, _Window] = {}


def _is_repeated(record: logging.LogRecord) -> bool:
    is_503 = record.name == "django.request" and getattr(record, "status_code", None) == 503
    return is_503 or getattr(record, "is_repeated", False)
