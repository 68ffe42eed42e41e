"""Keeps the processes of one host running: starts them, restarts one that dies, and stops them together.

A `Child` is a process that the supervisor forks, with the rules for starting it again.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

from common.host import vitals
from common.host.metrics import count_restart
from common.host.processes import lower_priority
from shortener_project.running.commands import reset_hooks

logger = logging.getLogger(__name__)

STABLE_SECONDS = 10.0
MAX_DELAY_SECONDS = 10.0
# After a failed fork. It does not count as an exit of the process.
FORK_DELAY_SECONDS = 1.0
# From SIGTERM to SIGKILL, if the process is silent.
KILL_SECONDS = 5.0
_POLL_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
# Not the other start methods: they would import everything again, and share no memory with the supervisor.
_fork = multiprocessing.get_context("fork")


class ChildKeepsFailing(Exception):
    """An essential process keeps dying. The message names the process and its exit status."""


@dataclass(slots=True)
class Child:
    """A process that the supervisor runs: a fork that calls ``run`` and exits.

    The service stops after more than ``failures_allowed`` early exits in a row. None: the process is not essential.

    ``once``: exit status 0 means that the process is done, so do not restart it. ``after``: start this process only
    when that ``once`` process is done.

    ``silence_allowed``: restart it after so many seconds without a sign of life (`common.host.vitals`). None: never.

    ``reloads``: forward SIGHUP. It would terminate other processes. ``niceness``: priority when the CPU is saturated.
    """

    name: str
    run: Callable[[], object]
    failures_allowed: int | None = None
    silence_allowed: float | None = None
    reloads: bool = False
    niceness: int = 0
    once: bool = False
    after: Child | None = None
    is_done: bool = False
    process: BaseProcess | None = None
    failures: int = 0
    started_at: float = 0.0
    start_at: float = 0.0
    silent_seconds: float = 0.0
    # The supervisor ends it because it is silent.
    is_silent: bool = False
    _beats: int = 0
    _vitals: vitals.Vitals = field(init=False)

    def __post_init__(self) -> None:
        self._vitals = vitals.create(self.name)

    def start(self) -> None:
        """Raises OSError if the system refuses the fork.

        Call it in the main thread, while no other thread runs and no database connection is open.
        """
        self.started_at = time.monotonic()
        self.silent_seconds, self.is_silent, self._beats = 0.0, False, self._vitals.beats
        # Until the child has removed the supervisor's handlers, one of them would swallow its signals.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        before = _open_descriptors()
        process = _fork.Process(target=self._run_in_child, args=(os.getpid(), mask))
        try:
            process.start()
        except OSError:
            # multiprocessing leaves its pipes open.
            for descriptor in _open_descriptors() - before:
                os.close(descriptor)
            raise
        else:
            self.process = process
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def handle_exit(self) -> None:
        """Schedules the restart if the process has exited. Raises ChildKeepsFailing."""
        if self.process is None or (status := self.process.exitcode) is None:
            return
        # Terminate its orphans as well. On SIGTERM, workers of a killed gunicorn finish running requests and close
        # their keep-alive connections properly.
        self._signal_group(signal.SIGTERM)
        # An orphan that is stopped would never see it.
        self._signal_group(signal.SIGCONT)
        self.process = None
        if self.once and status == 0:
            self.is_done = True
            return
        uptime = time.monotonic() - self.started_at
        self.failures = 1 if uptime >= STABLE_SECONDS else self.failures + 1
        self._vitals.report(silent_seconds=0.0, failures=self.failures)
        count_restart(self.name, "silent" if self.is_silent else "died")
        if self.failures_allowed is not None and self.failures > self.failures_allowed:
            raise ChildKeepsFailing(f"the {self.name} keeps dying: {_describe(status)}")
        delay = 0.0 if self.failures == 1 else min(0.25 * 2**self.failures, MAX_DELAY_SECONDS)
        self.start_at = time.monotonic() + delay
        logger.error("The %s died: %s. Starting it again in %.1f s.", self.name, _describe(status), delay)

    def watch(self, seconds: float) -> None:
        """End the process if it has been silent for too long: `handle_exit` then schedules its restart.

        ``seconds``: how long the supervisor has watched it since the last call.
        """
        if self.process is None:
            return
        beats = self._vitals.beats
        self.silent_seconds = 0.0 if beats != self._beats else self.silent_seconds + seconds
        self._beats = beats
        is_stable = time.monotonic() - self.started_at >= STABLE_SECONDS
        self._vitals.report(silent_seconds=self.silent_seconds, failures=0 if is_stable else self.failures)
        if self.silence_allowed is None or self.silent_seconds <= self.silence_allowed:
            return
        if not self.is_silent:
            self.is_silent = True
            logger.error(
                "The %s has shown no sign of life for %.0f s. Ending it.", self.name, self.silent_seconds
            )
            self.send_signal(signal.SIGTERM)
        elif self.silent_seconds > self.silence_allowed + KILL_SECONDS:
            self.send_signal(signal.SIGKILL)

    def start_if_due(self) -> None:
        is_blocked = self.is_done or (self.after is not None and not self.after.is_done)
        if self.process is None and not is_blocked and time.monotonic() >= self.start_at:
            try:
                self.start()
            except OSError as error:
                self.start_at = time.monotonic() + FORK_DELAY_SECONDS
                logger.error(
                    "Cannot start the %s: %s. Trying again in %.1f s.",
                    self.name,
                    error.strerror,
                    FORK_DELAY_SECONDS,
                )

    def send_signal(self, number: int) -> None:
        """Signal the process if it is alive."""
        # The pid stays reserved until `exitcode` has reaped the process.
        if self.process is not None and self.process.exitcode is None and self.process.pid is not None:
            os.kill(self.process.pid, number)

    def wait(self) -> str:
        """Wait for the exit of the process, and describe it if it has failed. Otherwise returns an empty text."""
        if self.process is None:
            return ""
        self.process.join()
        return _describe(self.process.exitcode) if self.process.exitcode else ""

    def stop(self, deadline: float) -> None:
        """Wait for the exit of the process, and kill it at the deadline (`time.monotonic`)."""
        while self.process is not None and self.process.exitcode is None:
            if time.monotonic() >= deadline:
                logger.error("The %s does not stop; killing it.", self.name)
                self._signal_group(signal.SIGKILL)
                self.process.kill()
                self.process.join()
                return
            time.sleep(_POLL_SECONDS)

    def _signal_group(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if self.process is not None and self.process.pid is not None:
                os.killpg(self.process.pid, number)

    def _run_in_child(self, supervisor: int, mask: set[signal.Signals]) -> None:
        # A separate session: Ctrl-C in the terminal reaches only the supervisor, which stops the children in order.
        os.setsid()
        if self.niceness:
            lower_priority(self.niceness)
        _end_with(supervisor)
        _remove_signal_handlers()
        reset_hooks()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        vitals.adopt(self._vitals)
        self.run()


def _end_with(supervisor: int) -> None:
    """Make the kernel stop this process if the supervisor is killed."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != supervisor:  # it died before prctl
            os._exit(1)


def _open_descriptors() -> set[int]:
    # The list contains the descriptor of the listed folder, which is closed by now.
    numbers = [int(path.name) for path in Path("/dev/fd").iterdir()]
    return set(filter(_is_open, numbers))


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _remove_signal_handlers() -> None:
    """Restore the actions of a process that Python has just started."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            if number == signal.SIGINT:
                # Drop a Ctrl-C from before `setsid`: the supervisor has it, too, and stops the children in order.
                signal.signal(number, signal.SIG_IGN)
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _describe(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"


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
