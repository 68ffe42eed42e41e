"""Starting and stopping the server of one cluster."""

import os
import shlex
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from . import process
from .account import Account, server_account
from .binaries import Binaries, find_binaries, readable_binaries
from .errors import EmbeddedPostgresError
from .initdb import check_version, has_cluster, make_cluster
from .layout import Layout

SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# Seconds. A recovery replays up to max_wal_size of log, so a start may take long; but a start that fails
# right after a crash succeeds as soon as the children of the old server are gone.
START_TIMEOUT = 300
RETRY_FAILED_START = 10
STOP_TIMEOUT = 60
LARGEST_LOG = 10 * 1024 * 1024


class Cluster:
    """The server of one layout. `start` and `stop` are called under the start/stop lock."""

    def __init__(self, layout: Layout, options: Mapping[str, str]) -> None:
        self._layout = layout
        self._options = options

    @property
    def pid(self) -> int | None:
        """The live postmaster, or None; cheap enough to be asked every second."""
        return process.postmaster(self._layout.data, self._layout.socket)

    def start(self) -> None:
        """Return with a server that takes connections: a running one, or one on the old data, or on new."""
        deadline = time.monotonic() + RETRY_FAILED_START
        failure = None
        while not self._attach():
            if failure is not None:
                if time.monotonic() > deadline:
                    raise EmbeddedPostgresError(f"PostgreSQL did not start: {failure}")
                time.sleep(0.2)
            account = server_account(self._layout.data)
            self._layout.make_home(account)
            failure = self._clear_away(account) or self._start_once(account)

    def stop(self) -> None:
        """Stop the server, if there is one, and wait for its end; open transactions are rolled back."""
        pid = self.pid
        if pid is None:
            return
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
        deadline = time.monotonic() + STOP_TIMEOUT
        while process.is_postmaster(pid, self._layout.data, self._layout.socket):
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(f"PostgreSQL (pid {pid}) did not stop in {STOP_TIMEOUT} s.")
            time.sleep(0.02)
        with suppress(OSError):
            self._layout.server_socket_dir.rmdir()

    def _attach(self) -> bool:
        """Whether there is a live server; waits until it is ready, or gone."""
        deadline = time.monotonic() + START_TIMEOUT
        while (pid := self.pid) is not None:
            if process.is_ready(self._layout.data):
                return True
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(f"PostgreSQL (pid {pid}) was not ready in {START_TIMEOUT} s.")
            time.sleep(0.02)
        return False

    def _clear_away(self, account: Account) -> str | None:
        """Remove what a dead server left behind; or say why that cannot be done yet."""
        leftovers = process.leftovers(self._layout.data, self._layout.cluster_name, account.uid)
        for pid in leftovers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)
        if leftovers:
            return f"processes of an earlier server do not end (pid {', '.join(map(str, leftovers))})."
        if process.accepts_connections(self._layout.socket):
            # Two servers on one folder would destroy the data.
            return f"a server that is invisible from here (in another container?) uses {self._layout.home}."
        # PostgreSQL refuses to start while one of these names a living process, even a zombie or a stranger.
        (self._layout.data / "postmaster.pid").unlink(missing_ok=True)
        self._layout.make_socket_dir(account)
        return None

    def _start_once(self, account: Account) -> str | None:
        """Start the server, on a new cluster if there is none yet; or say why it did not start."""
        data, log = self._layout.data, self._layout.log
        binaries = readable_binaries(find_binaries(), account, data.parent)
        if not has_cluster(data):
            make_cluster(self._layout, binaries, account)
        check_version(data, binaries)
        log_size = _prepare_log(log, account)
        started = account.run(self._command(binaries), cwd=data.parent, env={"PGDATA": str(data)})
        if started.returncode == 0:
            return None
        with log.open(errors="replace") as file:
            file.seek(log_size)
            lines = [line.strip() for line in file if "FATAL:" in line or "PANIC:" in line]
        return f"{(lines or started.stderr.strip().splitlines() or ['no reason given'])[-1]} (see {log})"

    def _command(self, binaries: Binaries) -> list[str | Path]:
        socket_dir = str(self._layout.server_socket_dir).replace('"', '""')
        settings = {
            **SETTINGS,
            "cluster_name": self._layout.cluster_name,
            "unix_socket_directories": f'"{socket_dir}"',
            **self._options,
        }
        # pg_ctl pastes its --pgdata and --log into a shell command without escaping them. So the folder is
        # among the options, which we quote (and in PGDATA for pg_ctl itself), and the log is a plain name.
        server = ["-D", str(self._layout.data)]
        for name, value in settings.items():
            server += ["-c", f"{name}={value}"]
        return [
            binaries.folder / "pg_ctl",
            *("start", "--silent", "--wait", f"--timeout={START_TIMEOUT}"),
            *(f"--log={self._layout.log.name}", f"--options={shlex.join(server)}"),
        ]


def _prepare_log(log: Path, account: Account) -> int:
    """Set an overgrown log aside, let the account write to it, and return its size."""
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.replace(log.with_suffix(".log.1"))
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        account.take(descriptor)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
