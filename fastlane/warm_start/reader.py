"""The thread of a redirect worker that takes over the links of the loader."""

from __future__ import annotations

import logging
import os
import threading
import time
from contextlib import suppress

from fastlane.fast.lane import FastLane
from fastlane.warm_start.loader import LOAD_SECONDS
from fastlane.warm_start.shared import SharedEntries, loaders

# A part takes a fraction of a millisecond, and the event loop has the interpreter to itself in between.
_PART_BYTES = 64 * 1024
_PAUSE_SECONDS = 0.005
# While the loader has nothing new.
_IDLE_SECONDS = 0.1

log = logging.getLogger(__name__)


def start_reading(lane: FastLane, loader: int | None) -> None:
    """Return at once. Call it once in each redirect worker. ``loader``: the worker's child process, if any."""
    shared = loaders().current
    if shared is not None:
        threading.Thread(
            target=read_entries, args=[lane, shared, loader], name="warm start", daemon=True
        ).start()


def read_entries(lane: FastLane, shared: SharedEntries, loader: int | None) -> None:
    position, number, deadline = 0, 0, time.monotonic() + LOAD_SECONDS
    while time.monotonic() < deadline:
        entries, position, is_last = shared.read(position, _PART_BYTES)
        has_capacity = lane.preload(entries)
        number += len(entries)
        if is_last or not has_capacity:
            break
        if loader is not None and not entries and _has_ended(loader):
            # It was killed, and the other workers wait for it too.
            loader = None
            shared.discard()
            break
        time.sleep(_PAUSE_SECONDS if entries else _IDLE_SECONDS)
    log.info("Worker has %d links in memory from the start.", number)
    if loader is not None:
        with suppress(ChildProcessError):
            os.waitpid(loader, 0)
        shared.discard()
    shared.close()


def _has_ended(loader: int) -> bool:
    try:
        return os.waitpid(loader, os.WNOHANG)[0] == loader
    except ChildProcessError:
        return True
