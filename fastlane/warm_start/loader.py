"""The process that loads recently followed links when workers start.

The first of the redirect workers that start together forks it. It runs at a low priority, so neither the readiness of
a worker nor a redirect waits for it, and it reads the links once for all workers of the host.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.db import Error, connection

from common.host import state
from common.host.priority import lower_priority
from common.host.process_names import rename
from fastlane.warm_start.loading import load
from fastlane.warm_start.shared import SharedEntries, loaders

# How long the loader waits for the database and for notifications, and how long a worker waits for the links.
_WAIT_SECONDS = 60.0
LOAD_SECONDS = 180.0
_POLL_SECONDS = 0.05
# After the last link. Then the workers have read them, and the memory is freed.
_LINGER_SECONDS = 5.0
_NICENESS = 10

log = logging.getLogger(__name__)


def start_loader(listeners: Sequence[Any]) -> int | None:
    """Fork the loader if this worker must start it, and return its process id. Call it before any thread starts.

    ``listeners``: gunicorn's listening sockets, which the loader closes.
    """
    shared = loaders().current
    if shared is None or not loaders().is_due:
        return None
    parent = os.getpid()
    try:
        loader = os.fork()
    except OSError as error:
        log.warning("Cannot load links before they are requested: %s", error)
        shared.discard()
        return None
    if loader == 0:
        try:
            _run(shared, listeners, parent)
        except BaseException:
            log.exception("Loading links failed")
        finally:
            _exit(shared)
    return loader


def end_loader(loader: int) -> None:
    """Kill the loader that this worker has started, unless it has ended. Call it when the worker stops gracefully.

    By itself, the loader ends a moment later than its worker, or much later on a busy machine. So it could outlive a
    service that has stopped.
    """
    shared = loaders().current
    # The thread that reads the links may have waited for the loader, or be waiting for it. It closes the links then.
    with suppress(OSError):
        if os.waitpid(loader, os.WNOHANG)[0] == 0:
            # While the loader lives, the thread does not close them. Other workers must not wait for more links.
            if shared is not None:
                shared.discard()
            os.kill(loader, signal.SIGKILL)
            os.waitpid(loader, 0)


def _run(shared: SharedEntries, listeners: Sequence[Any], parent: int) -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    rename("warm start")
    for listener in listeners:
        listener.close()
    lower_priority(_NICENESS)
    threading.Thread(target=_exit_with, args=[parent, shared], daemon=True).start()
    if not _wait_for_notifications():
        log.info("No notifications of changes arrive. Links are loaded when they are requested.")
        return
    started_at, loaded = time.monotonic(), 0
    try:
        loaded = load(shared)
    except Error as error:
        log.warning("Cannot load recently followed links: %s", str(error).strip())
    shared.finish()
    connection.close()
    if loaded:
        log.info("Loaded %d links in %.1f s.", loaded, time.monotonic() - started_at)
        time.sleep(_LINGER_SECONDS)


def _wait_for_notifications() -> bool:
    """Wait until the host receives notifications. What was read before would be discarded when they begin."""
    started_at, deadline = state.microseconds(), time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        if state.is_prepared() and state.last_heard() > started_at:
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _exit_with(parent: int, shared: SharedEntries) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    _exit(shared)


def _exit(shared: SharedEntries) -> None:
    """Workers must not wait for more links, however the loader ends."""
    try:
        shared.discard()
    finally:
        os._exit(0)
