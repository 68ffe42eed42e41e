"""Keeps the processes of one host running: starts them, restarts one that dies, and stops them together."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from common.host.metrics import count_restart
from shortener_project.running.child import Child

TICK_SECONDS = 1.0
# If the supervisor was away for longer, so were the other processes, or it cannot know.
MAX_WATCHED_SECONDS = 2.0
# Longer than gunicorn's graceful_timeout, so that gunicorn can finish running requests.
STOP_SECONDS = 25.0
# The default action of these signals terminates the process. A stray one must not orphan the children.
_IGNORED = (
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF),
    *(
        signal.Signals[name]
        for name in ("SIGIO", "SIGPWR", "SIGSTKFLT")
        if name in signal.Signals.__members__
    ),
    *range(getattr(signal, "SIGRTMIN", 0), getattr(signal, "SIGRTMAX", -1) + 1),
)
_STOPPING = {signal.SIGTERM, signal.SIGINT, signal.SIGQUIT}


@dataclass(slots=True)
class Supervisor:
    """Runs in the main thread until SIGTERM, SIGINT or SIGQUIT, then stops its children and returns.

    Forwards SIGHUP to the children that reload; a SIGHUP from a closed terminal stops the service. Ignores all other
    signals. Calls ``tick`` about once a second; an exception from it stops the service. Calls ``close`` before it
    stops the children.
    """

    children: list[Child]
    tick: Callable[[], None]
    close: Callable[[], None] = lambda: None
    _signals: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Raises ChildKeepsFailing, after stopping every child."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        ignore_stray_signals()
        for number in (*_STOPPING, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, lambda number, _frame: self._signals.append(number))
        for child in self.children:
            # Prometheus sees no increase in a metric that begins with it.
            for reason in ("died", "silent"):
                count_restart(child.name, reason, 0)
        try:
            self._supervise(reader)
        finally:
            self._stop()
            signal.set_wakeup_fd(-1)
            os.close(reader)
            os.close(writer)

    def _supervise(self, wakeups: int) -> None:
        looked_at = time.monotonic()
        while True:
            now = time.monotonic()
            watched, looked_at = min(now - looked_at, MAX_WATCHED_SECONDS), now
            for child in self.children:
                child.handle_exit()
                child.watch(watched)
                child.start_if_due()
            self.tick()
            ready, _, _ = select.select([wakeups], [], [], TICK_SECONDS)
            if ready:
                os.read(wakeups, 4096)
            # Pop one at a time: a signal that arrives meanwhile must stay in the list.
            received = {self._signals.pop() for _ in range(len(self._signals))}
            # A closed terminal also sends SIGHUP.
            stopping = _STOPPING | ({signal.SIGHUP} if sys.stdin and sys.stdin.isatty() else set())
            if received & stopping:
                return
            if signal.SIGHUP in received:
                for child in self.children:
                    if child.reloads:
                        child.send_signal(signal.SIGHUP)

    def _stop(self) -> None:
        self.close()
        for child in self.children:
            child.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        for child in self.children:
            child.stop(deadline)


def ignore_stray_signals() -> None:
    """Call it in the main thread. Unlike SIG_IGN, child programs do not inherit a handler."""
    for number in _IGNORED:
        signal.signal(number, lambda _number, _frame: None)
