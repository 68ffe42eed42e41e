"""Commands that take minutes show their progress and obey Ctrl-C.

The progress is a bar on a terminal, and one line a minute elsewhere. The first Ctrl-C lets the command finish its
current batch, and the second stops it at once.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Self, TextIO

from tqdm import tqdm

LINE_SECONDS = 60.0
_DEFAULT_COLUMNS, _DEFAULT_ROWS = 80, 24


class Progress:
    """Context manager. Main thread only. ``total`` is None if unknown; ``stream`` is usually standard error.

    ``is_bytes``: show the counts as kB, MB and so on.
    """

    def __init__(
        self, stream: TextIO, label: str, *, unit: str, total: int | None = None, is_bytes: bool = False
    ) -> None:
        self._stream, self._label, self._unit, self._is_bytes = stream, label, unit, is_bytes
        self._total, self.done = total, 0
        self._started_at = self._line_at = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Self:
        self._started_at = self._line_at = time.monotonic()
        if self._stream.isatty():
            # Some terminals, such as those of containers, report no size.
            columns, rows = os.get_terminal_size(self._stream.fileno())
            self._bar = tqdm(
                total=self._total,
                desc=self._label,
                unit="B" if self._is_bytes else f" {self._unit}",
                unit_scale=self._is_bytes,
                file=self._stream,
                dynamic_ncols=columns > 0,
                ncols=columns or _DEFAULT_COLUMNS,
                nrows=rows or _DEFAULT_ROWS,
                leave=False,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def set_total(self, total: int | None) -> None:
        if self._bar is not None and total != self._total:
            self._bar.total = total
            self._bar.refresh()
        self._total = total

    def advance(self, count: int = 1) -> None:
        self.done += count
        if self._bar is not None:
            self._bar.update(count)
            return
        now = time.monotonic()
        if now - self._line_at >= LINE_SECONDS:
            self._line_at = now
            self._stream.write(f"{self._line(now - self._started_at)}\n")
            self._stream.flush()

    def advance_to(self, done: int) -> None:
        if done > self.done:
            self.advance(done - self.done)

    def write(self, stream: Any, line: str) -> None:
        """Write a line of the command's own output without tearing the bar."""
        if self._bar is not None and stream.isatty():
            self._bar.clear()
        stream.write(line)

    def _line(self, seconds: float) -> str:
        done = self._number(self.done)
        if self._total:
            done = f"{done} of {self._number(self._total)} {self._unit} ({self.done * 100 // self._total} %)"
        else:
            done = f"{done} {self._unit}"
        rate = self._number(int(self.done / seconds)) if seconds else "0"
        return f"{self._label}: {done}, {rate} a second"

    def _number(self, count: int) -> str:
        return str(tqdm.format_sizeof(count, "B")) if self._is_bytes else f"{count:,}"


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
