"""Keeps the processes of one host running: starts them, restarts one that dies, and stops them together."""

from __future__ import annotations

import ctypes
import logging
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from common.priority import stand_back

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0
# Longer than gunicorn's graceful_timeout, within which running requests are finished.
STOP_SECONDS = 25.0
STABLE_SECONDS = 10.0
MAX_DELAY_SECONDS = 10.0
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class CannotGoOn(Exception):
    """An essential process keeps dying; says which and how."""


@dataclass(slots=True)
class Child:
    """``failures_allowed`` early deaths in a row end the service; None for a process it can live without.

    ``reloads`` says that it understands SIGHUP; others are ended by it, and are spared. ``niceness`` is how far it
    stands back when there is more to do than the processors can.
    """

    name: str
    command: Sequence[str]
    failures_allowed: int | None = None
    reloads: bool = False
    niceness: int = 0
    pass_fds: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    failures: int = 0
    started_at: float = 0.0
    start_at: float = 0.0

    def start(self) -> None:
        self.started_at = time.monotonic()
        # A session of its own, so that Ctrl-C in the terminal reaches the supervisor alone, which stops in order.
        self.process = subprocess.Popen(
            self.command,
            pass_fds=self.pass_fds,
            start_new_session=True,
            preexec_fn=partial(_begin, os.getpid(), self.niceness),  # noqa: PLW1509 # the supervisor has no other thread
        )

    def note_death(self) -> None:
        """Decides when to start again. Raises CannotGoOn."""
        if self.process is None or (status := self.process.poll()) is None:
            return
        # What it leaves behind goes, too: workers of a killed gunicorn would keep their connections until they are
        # cut off, where on SIGTERM they answer what is under way and let each client know that it must reconnect.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process = None
        lived = time.monotonic() - self.started_at
        self.failures = 1 if lived >= STABLE_SECONDS else self.failures + 1
        if self.failures_allowed is not None and self.failures > self.failures_allowed:
            raise CannotGoOn(f"the {self.name} keeps dying: {_describe(status)}")
        delay = 0.0 if self.failures == 1 else min(0.25 * 2**self.failures, MAX_DELAY_SECONDS)
        self.start_at = time.monotonic() + delay
        logger.error("The %s died: %s. Starting it again in %.1f s.", self.name, _describe(status), delay)

    def start_if_due(self) -> None:
        if self.process is None and time.monotonic() >= self.start_at:
            self.start()


@dataclass(slots=True)
class Supervisor:
    """Runs in the main thread until SIGTERM or SIGINT, then stops its children and returns.

    SIGHUP is forwarded to those that reload. ``tick`` is called about once a second; what it raises ends the service.
    ``close`` is called before the children are stopped.
    """

    children: list[Child]
    tick: Callable[[], None]
    close: Callable[[], None] = lambda: None
    _signals: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Raises CannotGoOn, with every child stopped."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, lambda number, _frame: self._signals.append(number))
        try:
            self._supervise(reader)
        finally:
            self._stop()
            signal.set_wakeup_fd(-1)
            os.close(reader)
            os.close(writer)

    def _supervise(self, wakeups: int) -> None:
        while True:
            for child in self.children:
                child.note_death()
                child.start_if_due()
            self.tick()
            ready, _, _ = select.select([wakeups], [], [], TICK_SECONDS)
            if ready:
                os.read(wakeups, 4096)
            # One by one: another may arrive at any time, and must not be thrown away unread.
            received = {self._signals.pop() for _ in range(len(self._signals))}
            # A terminal that is closed says SIGHUP, too.
            stops = {signal.SIGTERM, signal.SIGINT} | (
                {signal.SIGHUP} if sys.stdin and sys.stdin.isatty() else set()
            )
            if received & stops:
                return
            if signal.SIGHUP in received:
                _signal([child for child in self.children if child.reloads], signal.SIGHUP)

    def _stop(self) -> None:
        self.close()
        _signal(self.children, signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        for child in self.children:
            if child.process is None:
                continue
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                logger.error("The %s does not stop; killing it.", child.name)
                os.killpg(child.process.pid, signal.SIGKILL)
                child.process.wait()


def _signal(children: list[Child], number: int) -> None:
    for child in children:
        if child.process is not None and child.process.poll() is None:
            child.process.send_signal(number)


def _begin(parent: int, niceness: int) -> None:
    """Between fork and exec: a supervisor that is killed outright must not leave a web server behind."""
    if niceness:
        stand_back(niceness)
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it was killed meanwhile
            os._exit(1)


def _describe(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
