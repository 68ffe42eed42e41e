"""Starting and stopping the server of one cluster."""

import os
import shlex
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from . import process
from .account import Account, private_owner, server_account
from .binaries import Binaries, find_binaries, readable_binaries
from .errors import EmbeddedPostgresError
from .initdb import check_version, has_cluster, make_cluster
from .layout import Layout
from .memory import available_mb
from .sizing import settings_for

SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "max_connections": "100",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# Seconds. Crash recovery replays up to max_wal_size of WAL, so a start may take long. A start that fails right after a
# crash succeeds as soon as the children of the old server have exited.
START_TIMEOUT = 300
RETRY_FAILED_START = 10
STOP_TIMEOUT = 60
# A postmaster kills children that ignore an immediate shutdown for 5 s.
IMMEDIATE_STOP_TIMEOUT = 60
IO_METHOD_SINCE = 18
LARGEST_LOG = 10 * 1024 * 1024


class Cluster:
    """The server of one layout. Hold the start/stop lock while calling `start` and `stop`."""

    def __init__(self, layout: Layout, options: Mapping[str, str]) -> None:
        self._layout = layout
        self._options = options

    @property
    def pid(self) -> int | None:
        """The live postmaster, or None. Cheap enough to poll every second."""
        return process.postmaster(self._layout.data, self._layout.socket)

    def start(self) -> None:
        """Return once a server accepts connections. Starts it, on a new cluster if necessary, unless it runs."""
        deadline = time.monotonic() + RETRY_FAILED_START
        failure, is_last_attempt = None, False
        while not self._attach():
            if failure is not None:
                if is_last_attempt:
                    raise EmbeddedPostgresError(f"PostgreSQL did not start: {failure}")
                time.sleep(0.2)
            # One attempt begins after the deadline, because this process may have been stopped since the previous one.
            is_last_attempt = time.monotonic() >= deadline
            account = server_account(self._layout.data)
            self._layout.make_server_dir(account)
            failure = self._clean_up(account)
            if failure is None:
                account = private_owner(self._layout.data, account)
                self._layout.make_socket_dir(account)
                failure = self._start_once(account)

    def stop(self) -> None:
        """Stop the server, if it runs, and wait until it has exited. Open transactions are rolled back.

        A session or a standby that does not react delays a fast shutdown without limit. An immediate shutdown ends it;
        the next start then replays the WAL, so nothing committed is lost.
        """
        pid = self.pid
        if pid is None:
            return
        if not (
            self._shut_down(pid, signal.SIGINT, STOP_TIMEOUT)
            or self._shut_down(pid, signal.SIGQUIT, IMMEDIATE_STOP_TIMEOUT)
        ):
            raise EmbeddedPostgresError(f"PostgreSQL (pid {pid}) did not stop.")
        with suppress(OSError):
            self._layout.server_socket_dir.rmdir()

    def _shut_down(self, pid: int, mode: signal.Signals, timeout: float) -> bool:
        """Whether the server exits within ``timeout`` seconds after this signal."""
        with suppress(ProcessLookupError):
            os.kill(pid, mode)
        deadline = time.monotonic() + timeout
        data, socket_path = self._layout.data, self._layout.socket
        while process.is_postmaster(pid, data, socket_path) or process.is_exiting(pid):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def _attach(self) -> bool:
        """Whether a server runs. Waits until it is ready or has exited."""
        deadline = time.monotonic() + START_TIMEOUT
        while (pid := self.pid) is not None:
            if process.is_ready(self._layout.data):
                return True
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(f"PostgreSQL (pid {pid}) was not ready in {START_TIMEOUT} s.")
            time.sleep(0.02)
        return False

    def _clean_up(self, account: Account) -> str | None:
        """Remove the remains of a dead server. Returns the reason if this is not possible yet."""
        leftovers = process.leftover_processes(self._layout.data, self._layout.cluster_name, account.may_own)
        for pid in leftovers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)
        if leftovers:
            return f"processes of an earlier server do not end (pid {', '.join(map(str, leftovers))})."
        if process.accepts_connections(self._layout.socket):
            # Two servers on one data folder would corrupt the data.
            return f"a server that is invisible from here (in another container?) uses {self._layout.server_dir}."
        # PostgreSQL refuses to start if this file names any existing process, even a zombie or an unrelated one.
        (self._layout.data / "postmaster.pid").unlink(missing_ok=True)
        return None

    def _start_once(self, account: Account) -> str | None:
        """Start the server, on a new cluster if necessary. Returns the reason if it did not start."""
        data, log = self._layout.data, self._layout.log
        binaries = readable_binaries(find_binaries(), account, data.parent)
        if not has_cluster(data):
            make_cluster(self._layout, binaries, account)
        check_version(data, binaries)
        log_size = _prepare_log(log, account)
        result = account.run(self._command(binaries), cwd=data.parent, env={"PGDATA": str(data)})
        if result.returncode == 0:
            return None
        with log.open(errors="replace") as file:
            file.seek(log_size)
            lines = [line.strip() for line in file if "FATAL:" in line or "PANIC:" in line]
        return f"{(lines or result.stderr.strip().splitlines() or ['no reason given'])[-1]} (see {log})"

    def _command(self, binaries: Binaries) -> list[str | Path]:
        socket_dir = str(self._layout.server_socket_dir).replace('"', '""')
        settings = {
            **SETTINGS,
            **settings_for(available_mb()),
            # Three processes that read ahead would cost more memory than they save time here.
            **({"io_method": "sync"} if binaries.major >= IO_METHOD_SINCE else {}),
            "cluster_name": self._layout.cluster_name,
            "unix_socket_directories": f'"{socket_dir}"',
            **self._options,
        }
        # pg_ctl inserts --pgdata and --log into a shell command without escaping them. So pass the folder in the
        # quoted options (and in PGDATA for pg_ctl itself), and use a plain name for the log.
        server = ["-D", str(self._layout.data)]
        for name, value in settings.items():
            server += ["-c", f"{name}={value}"]
        return [
            binaries.folder / "pg_ctl",
            *("start", "--silent", "--wait", f"--timeout={START_TIMEOUT}"),
            *(f"--log={self._layout.log.name}", f"--options={shlex.join(server)}"),
        ]


def _prepare_log(log: Path, account: Account) -> int:
    """Rotate the log if it is too large, let the account write to it, and return its size."""
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.replace(log.with_suffix(".log.1"))
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        account.chown(descriptor)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
