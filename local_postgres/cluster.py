"""One cluster: its creation, and the start and stop of its server."""

import os
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from . import process
from .account import Account, change_owner, initdb_account, private_owner, server_account
from .binaries import Binaries, find_binaries, readable_binaries
from .errors import EmbeddedPostgresError
from .layout import Layout
from .sizing import available_mb, settings_for

ROLE = "shortener"
DRAFT_PREFIX = "initdb-"
# Since PostgreSQL 17, the server has its own C.UTF-8 collation, which does not change with the C library.
BUILTIN_LOCALE_SINCE = 17


def has_cluster(data: Path) -> bool:
    """Whether this folder holds a cluster. Raises EmbeddedPostgresError if it contains anything else."""
    if not data.exists() or not any(data.iterdir()):
        return False
    if not (data / "PG_VERSION").exists():
        raise EmbeddedPostgresError(
            f"{data} is not empty and not a PostgreSQL data folder (PG_VERSION is missing): "
            "move it away, or restore it."
        )
    return True


def check_version(data: Path, binaries: Binaries) -> None:
    """Raise EmbeddedPostgresError if another major version of PostgreSQL created this cluster."""
    data_version = (data / "PG_VERSION").read_text().strip()
    if data_version != str(binaries.major):
        raise EmbeddedPostgresError(
            f"{data} was created by PostgreSQL {data_version}, but the installed server is {binaries.version} "
            f"({binaries.folder}): install PostgreSQL {data_version}, or move the data with pg_dump."
        )


def make_cluster(layout: Layout, binaries: Binaries, account: Account) -> None:
    """Create the cluster of this layout. Hold the start/stop lock; no cluster may exist.

    The data folder appears atomically, complete, under its final name.
    """
    server_dir = layout.data.parent
    for old_draft in server_dir.glob(f"{DRAFT_PREFIX}*"):
        # An initdb whose parent was killed may still write there. The next start removes those files.
        shutil.rmtree(old_draft, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=DRAFT_PREFIX, dir=server_dir))
    initdb_owner = initdb_account(account)
    try:
        if account.switch:
            os.chown(draft, -1, account.gid)
            draft.chmod(0o710)
        data, password_file = draft / "data", draft / "password"
        data.mkdir(mode=0o700)
        initdb_owner.chown(data)
        descriptor = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            initdb_owner.chown(file.fileno())
            file.write(layout.password())
        _initdb(data, password_file, binaries, initdb_owner)
        if initdb_owner.uid != account.uid:
            change_owner(data, former=initdb_owner.uid, uid=account.uid, gid=account.gid)
        data.rename(layout.data)
        _sync(server_dir)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _initdb(data: Path, password_file: Path, binaries: Binaries, account: Account) -> None:
    if binaries.major >= BUILTIN_LOCALE_SINCE:
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    else:
        locale = ["--locale=C.UTF-8"]
    result = account.run(
        [
            binaries.folder / "initdb",
            f"--pgdata={data}",
            f"--username={ROLE}",
            "--auth=scram-sha-256",
            f"--pwfile={password_file}",
            "--encoding=UTF8",
            "--data-checksums",
            *locale,
        ],
        cwd=data.parent,
    )
    if result.returncode != 0:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[0]
        raise EmbeddedPostgresError(
            f"PostgreSQL could not create its data folder in {data.parent.parent}: {reason}"
        )


def _sync(folder: Path) -> None:
    # Make the rename durable. After a power failure, the folder could have its draft name, and drafts are deleted.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
