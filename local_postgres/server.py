"""The package's public API: one embedded server per VAR_DIR, shared by all processes of the host."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from .cluster import Cluster
from .database import create_database
from .errors import EmbeddedPostgresError, operator_errors
from .initdb import ROLE
from .layout import Layout
from .lease import Lease, exclusive


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
