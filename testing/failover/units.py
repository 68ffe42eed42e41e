"""Programs that are started again when they end, as systemd does with ``Restart=always``."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from testing.failover.network import Host
from testing.polling import eventually

POLL_SECONDS = 0.2


class Unit:
    """One program on a host. ``restart_seconds`` is the pause before it is started again."""

    def __init__(
        self,
        name: str,
        host: Host,
        command: list[str],
        folder: Path,
        *,
        environment: Mapping[str, str],
        account: tuple[int, int] | None = None,
        restart_seconds: float = 1,
        cwd: Path = Path("/"),
    ) -> None:
        self.name, self.host, self.command, self.environment = name, host, command, dict(environment)
        self.log = folder / f"{name}.log"
        self._account, self._cwd, self._restart_seconds = account, cwd, restart_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._is_wanted = False
        self._ended_at: float | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        with self._lock:
            self._is_wanted = True
            self._start()

    def kill(self, *, for_good: bool = False) -> None:
        """SIGKILL. ``for_good``: it stays down until `start`."""
        with self._lock:
            self._is_wanted = self._is_wanted and not for_good
            if self._process is not None and self._process.poll() is None:
                self._process.kill()
                self._process.wait()

    def stop(self) -> None:
        """SIGTERM, and wait. It stays down until `start`."""
        with self._lock:
            self._is_wanted = False
            if self._process is not None:
                self._process.terminate()
                self._process.wait()

    def send(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def keep_running(self) -> None:
        """Start it again if it has ended for long enough."""
        with self._lock:
            if not self._is_wanted or self._process is None or self._process.poll() is None:
                self._ended_at = None
            elif self._ended_at is None:
                self._ended_at = time.monotonic()
            elif time.monotonic() - self._ended_at >= self._restart_seconds:
                self._start()

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        with self.log.open("ab") as log:
            # nsenter needs the rights that the account lacks.
            words = self.host.command(*self._as_account(), *self.command)
            self._process = subprocess.Popen(
                words,
                cwd=self._cwd,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._ended_at = None

    def _as_account(self) -> list[str]:
        if self._account is None:
            return []
        uid, gid = self._account
        return ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--"]


class Keeper:
    """Starts the units again that have ended."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        threading.Thread(target=self._keep, name="keeper", daemon=True).start()

    def _keep(self) -> None:
        while True:
            for unit in list(self.units):
                unit.keep_running()
            time.sleep(POLL_SECONDS)


def send_all(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def kill_all(host: Host, pids: list[int]) -> None:
    """SIGKILL, and wait until none of them is on the host."""
    send_all(pids, signal.SIGKILL)
    eventually(lambda: not {*pids} & {*host.pids()}, every=0.02)
