"""Ctrl-C in a long command: the first lets the command finish its current batch, the second stops it at once."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Self

# The shell's status of a command that SIGINT has ended.
STATUS = 130
_NOTICE = b"\nStopping after the current batch. Press Ctrl-C again to stop at once.\n"
STANDARD_ERROR = 2


class Interruption:
    """Context manager. Main thread only. ``is_requested`` is True after the first Ctrl-C."""

    def __init__(self) -> None:
        self.is_requested = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        self._previous = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._previous)

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.is_requested = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # A signal handler must not use the buffered streams, which the main program may be writing to.
        with suppress(OSError):
            os.write(STANDARD_ERROR, _NOTICE)
