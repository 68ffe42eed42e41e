"""The public face: one embedded server per VAR_DIR, shared by all processes of the host."""

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
    """The PostgreSQL server whose data lie under `var_dir`.

    Every method may be called by any number of processes at once, and raises EmbeddedPostgresError.
    `options` are settings of the server for whoever happens to start it, such as {"fsync": "off"} in tests.
    """

    def __init__(self, var_dir: Path, database: str = ROLE, options: Mapping[str, str] | None = None) -> None:
        self._layout = Layout(var_dir.resolve())
        self._database = database
        self._cluster = Cluster(self._layout, options or {})

    @property
    @operator_errors()
    def url(self) -> str:
        """The address of the database, whether or not the server runs; makes the password on first use."""
        host = quote(str(self._layout.client_socket_dir), safe="")
        password = quote(self._layout.password(), safe="")
        # The port is spelled out, or a PGPORT in the environment of the client would choose another socket.
        return f"postgres://{ROLE}:{password}@{host}:5432/{quote(self._database, safe='')}"

    @property
    @operator_errors()
    def pid(self) -> int | None:
        """The process id of the live server, or None."""
        return self._cluster.pid

    @operator_errors()
    def acquire(self) -> Lease:
        """Make sure that the server runs and the database exists, and keep it running until the release.

        Waits for other processes that are starting or stopping it, and for a crash recovery.
        """
        # Makes VAR_DIR too, where the locks are.
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
        """Start the server again if it has died; costs next to nothing if not. For the holder of a lease."""
        if self._cluster.pid is None:
            with exclusive(self._layout.startstop_lock):
                self._cluster.start()

    @operator_errors()
    def stop_unless_used(self) -> bool:
        """Stop the server if nobody on this host has a lease; whether that was so."""
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
            # A server that is killed at this very moment still looks alive to `start`, but not for long.
            self._cluster.start()
            create_database(self._layout, self._database)
