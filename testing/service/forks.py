"""Starts `manage.py` as a fork of a process that has imported the libraries: it needs a third less processor time."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

_REPOSITORY = Path(__file__).parents[2]
# For the longest command line and environment of a fork.
_PADDING = 4096 * "x"
_PR_SET_CHILD_SUBREAPER = 36
_POLL_SECONDS = 0.01
# These variables take effect before a program runs.
_OF_THE_INTERPRETER = ("PYTHON", "LD_", "LC_", "LANG")
# Whether orphans come to this process is a property of the process, so one thread forks at a time.
_lock = threading.Lock()


class Fork:
    """A child process, with those methods of subprocess.Popen that tests use."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        with self._lock:
            if self.returncode is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float = float("inf")) -> int:
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("manage.py", timeout)
            time.sleep(_POLL_SECONDS)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class _Forker:
    def __init__(self) -> None:
        self._channel, its_end = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with its_end:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "testing.service.forker", str(its_end.fileno()), _PADDING],
                cwd=_REPOSITORY,
                env={"PATH": os.environ["PATH"], "PADDING": _PADDING},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[its_end.fileno()],
                start_new_session=True,
                preexec_fn=restore_sigint,  # noqa: PLW1509 # takes no lock that a thread could hold
            )
        atexit.register(self._end)

    def fork(self, request: bytes, descriptors: Sequence[int]) -> Fork:
        """Called with `_lock`. Returns once the fork shows its own arguments."""
        # The fork of its fork is an orphan: let it become a child of this process.
        _set_reaper(1)
        try:
            socket.send_fds(self._channel, [request], descriptors)
            pid = int(self._channel.recv(32) or 0)
        finally:
            _set_reaper(0)
        if not pid:
            raise RuntimeError("The forker failed, see its traceback.")
        return Fork(pid)

    def _end(self) -> None:
        # If this process is killed, the end of the channel ends the forker.
        self._channel.close()
        self._process.terminate()
        self._process.wait()


@cache
def _forker() -> _Forker:
    return _Forker()


def can_fork(environment: Mapping[str, str]) -> bool:
    """Whether a fork with this environment acts like a new process, and this system can make it a child."""
    return sys.platform == "linux" and not any(name.startswith(_OF_THE_INTERPRETER) for name in environment)


def fork(arguments: Sequence[str], environment: Mapping[str, str], stdout: int, stderr: int) -> Fork:
    """Start `manage.py` in a new session, with these descriptors and no input."""
    request = json.dumps({"arguments": arguments, "environment": dict(environment)}).encode()
    with Path(os.devnull).open("rb") as nothing, _lock:
        return _forker().fork(request, [nothing.fileno(), stdout, stderr])


def run(
    arguments: Sequence[str], environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Wait for the end of the command, and return its output."""
    with TemporaryFile("w+") as stdout, TemporaryFile("w+") as stderr:
        process = fork(arguments, environment, stdout.fileno(), stderr.fileno())
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            raise
        outputs = [(file.seek(0), file.read())[1] for file in (stdout, stderr)]
    return subprocess.CompletedProcess(arguments, status, *outputs)


def restore_sigint() -> None:
    """Background jobs of a shell ignore SIGINT, and their children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _set_reaper(value: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)
