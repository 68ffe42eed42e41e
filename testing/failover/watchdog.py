"""The watchdog of a database host: it resets the host once Patroni has not written to it for its timeout.

The device is a named pipe, as in Patroni's own tests (its driver ``testing``). A paused machine counts no time.
"""

from __future__ import annotations

import os
import re
import select
import threading
import time
from collections.abc import Callable
from pathlib import Path

POLL_SECONDS = 0.2
# Patroni writes this before it closes the device, and so disarms it.
_DISARM = b"V"
_TIMEOUT = re.compile(rb"timeout=(\d+)")


class Watchdog:
    """``resets`` counts how often it has reset the host."""

    def __init__(self, device: Path, account: tuple[int, int], reset: Callable[[], None]) -> None:
        os.mkfifo(device, 0o600)
        os.chown(device, *account)
        self.resets = 0
        self._reset = reset
        # Also for writing, so that it never ends.
        self._pipe = os.open(device, os.O_RDWR | os.O_NONBLOCK)
        self._timeout = 60.0
        # Without a value, it is not armed.
        self._left: float | None = None
        self._is_paused = False
        threading.Thread(target=self._watch, name=f"watchdog-{device.parent.name}", daemon=True).start()

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False

    def disarm(self) -> None:
        """As when the machine is off."""
        self._left = None

    def _watch(self) -> None:
        before = time.monotonic()
        while True:
            readable, _, _ = select.select([self._pipe], [], [], POLL_SECONDS)
            if readable:
                self._read(os.read(self._pipe, 4096))
            now = time.monotonic()
            if self._left is not None and not self._is_paused:
                self._left -= now - before
                if self._left < 0:
                    self._left = None
                    self.resets += 1
                    self._reset()
            before = now

    def _read(self, data: bytes) -> None:
        for found in _TIMEOUT.findall(data):
            self._timeout = float(found)
        self._left = None if data.endswith(_DISARM) else self._timeout
