"""The package's public API: one embedded server per VAR_DIR, shared by all processes of the host.

Every process that uses the server holds a lease, and the last one to release it stops the server. Leases are flocks:
the kernel releases them however their holder dies.
"""

import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from .account import minimal_environment
from .binaries import find_binaries
from .cluster import ROLE, Cluster
from .errors import EmbeddedPostgresError, operator_errors
from .layout import Layout

SCRIPT = r"""
SELECT format('CREATE DATABASE %I', :'database')
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
"""


def create_database(layout: Layout, name: str) -> None:
    """Create the database unless it exists. Requires a running server and the start/stop lock."""
    result = subprocess.run(
        [
            find_binaries().folder / "psql",
            *("--no-psqlrc", "--no-password", "--quiet", "--set=ON_ERROR_STOP=1", f"--set=database={name}"),
            *(f"--host={layout.client_socket_dir}", "--port=5432", f"--username={ROLE}", "postgres"),
        ],
        input=SCRIPT,
        env=minimal_environment() | {"PGPASSWORD": layout.password()},
        capture_output=True,
        text=True,
        errors="replace",
        start_new_session=True,
        check=False,
    )
    if result.returncode != 0:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EmbeddedPostgresError(f"PostgreSQL did not create the database {name}: {reason}")


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock of this file. Waits for it without a time limit."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Closing is not enough: if another thread has forked meanwhile, the child shares this open file.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


class Lease:
    """One user of the server, until `release` or until the process and its forks exit.

    Garbage collection does not release it: the server must not stop while the process still uses it.
    """

    def __init__(self, startstop_lock: Path, users_lock: Path, stop_server: Callable[[], None]) -> None:
        """Take a lease. Hold the start/stop lock: otherwise another process could stop the server meanwhile."""
        self._startstop_lock = startstop_lock
        self._stop_server = stop_server
        self._process = os.getpid()
        self._descriptor: int | None = _open(users_lock)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    @operator_errors()
    def release(self) -> None:
        """Release the lease. Releasing the last lease of the host stops the server and waits until it has exited."""
        if self._descriptor is None:
            return
        if os.getpid() != self._process:
            # A forked child shares the parent's flock and would release it for the parent.
            os.close(self._descriptor)
            self._descriptor = None
            return
        with exclusive(self._startstop_lock):
            self.release_under_lock()

    def release_under_lock(self) -> bool:
        """Release the lease for a caller that holds the start/stop lock. Returns whether it was the last one."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return False
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self._stop_server()
            return True
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def __enter__(self) -> "Lease":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _open(path: Path) -> int:
    # Python's descriptors are not inheritable, so the server never holds a lease.
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


class EmbeddedPostgres:
    """The PostgreSQL server whose data are under `var_dir`.

    Any number of processes may call any method concurrently. Every method raises EmbeddedPostgresError. `options` are
    server settings, such as {"fsync": "off"} in tests; they take effect if this instance starts the server.
    """

    def __init__(self, var_dir: Path, database: str = ROLE, options: Mapping[str, str] | None = None) -> None:
        self._layout = Layout(var_dir.resolve())
        self._database = database
        self._cluster = Cluster(self._layout, options or {})

    @property
    @operator_errors()
    def url(self) -> str:
        """The URL of the database, whether or not the server runs. Generates the password on first use."""
        host = quote(str(self._layout.client_socket_dir), safe="")
        password = quote(self._layout.password(), safe="")
        # An explicit port: otherwise PGPORT in the client's environment would select another socket.
        return f"postgres://{ROLE}:{password}@{host}:5432/{quote(self._database, safe='')}"

    @property
    @operator_errors()
    def pid(self) -> int | None:
        """The process id of the live server, or None."""
        return self._cluster.pid

    @operator_errors()
    def acquire(self) -> Lease:
        """Ensure that the server runs and the database exists. The server keeps running until the lease is released.

        Waits for other processes that are starting or stopping the server, and for crash recovery.
        """
        # Also creates VAR_DIR, which contains the locks.
        self._layout.password()
        with exclusive(self._layout.startstop_lock):
            lease = self._lease()
            try:
                self._start_with_database()
            except BaseException:
                lease.release_under_lock()
                raise
        return lease

    @operator_errors()
    def ensure_running(self) -> None:
        """Restart the server if it has died; cheap otherwise. The caller holds a lease."""
        if self._cluster.pid is None:
            with exclusive(self._layout.startstop_lock):
                self._cluster.start()

    @operator_errors()
    def stop_unless_used(self) -> bool:
        """Stop the server if no process of this host holds a lease. Returns whether it did."""
        with exclusive(self._layout.startstop_lock):
            return self._lease().release_under_lock()

    def _lease(self) -> Lease:
        return Lease(self._layout.startstop_lock, self._layout.users_lock, self._cluster.stop)

    def _start_with_database(self) -> None:
        self._cluster.start()
        try:
            create_database(self._layout, self._database)
        except EmbeddedPostgresError:
            if self._cluster.pid is not None:
                raise
            # A server that was being killed still looked alive to `start`.
            self._cluster.start()
            create_database(self._layout, self._database)
