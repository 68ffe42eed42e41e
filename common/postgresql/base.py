"""The backend that Django loads. The timeouts apply if ``RESPONSE_SECONDS`` is set in ``DATABASES``.

With REQUIRE_SYNCHRONOUS, sessions are read-only while commits do not wait for a synchronous standby, as for some
seconds after a failover: `DatabaseWrapper._follow_standby`. PostgreSQL itself then refuses changes.

- A commit is acknowledged only if a standby has confirmed a heartbeat (`common.postgresql.servers.Watch`) of the same
  server within the last 5 seconds. After a failover, none of the former server counts.
- If somebody empties ``synchronous_standby_names`` of a running primary, the next heartbeat notices that. Within these
  1.5 seconds, commits can be acknowledged that only the primary has, and those that were waiting for the standby are.
  Patroni does not empty it with ``synchronous_mode_strict``.
- Clicks that were counted in such a commit stay in the journal until a standby has them (`is_replicated`).
- What may be lost is still written: counts of requests, and times of use (``may_lose``).
- Commands without time limits, which a person runs, are not restricted once they have begun
  (`common.changing_commands`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import psycopg
from django.conf import settings
from django.db import OperationalError
from django.db.backends.postgresql import base, operations
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from psycopg.pq import Format, TransactionStatus

from common.host import primary, state
from common.host.cache_versions import Renewal
from common.postgresql import servers, timeouts
from common.postgresql.timeouts import BoundedConnection

# A refused connection costs almost nothing, and the server may accept the next one. An unresponsive server blocks a
# thread for the whole timeout.
SLOW_SECONDS = 1.0
# After a slow failure, no thread connects for this long.
RETRY_SECONDS = 0.5
# While one thread tries, the others do not, for at most this long.
TRIAL_SECONDS = 5.0


class Circuit:
    """A circuit breaker of a process: without it, each request would wait for an unresponsive database."""

    def __init__(self) -> None:
        self._open_until: float | None = None
        self._lock = threading.Lock()

    def allows_attempt(self) -> bool:
        """Whether the caller may try to connect. It must then call ``succeeded`` or ``failed``."""
        with self._lock:
            now = time.monotonic()
            if self._open_until is None:
                return True
            if now < self._open_until:
                return False
            self._open_until = now + TRIAL_SECONDS
            return True

    def succeeded(self) -> None:
        with self._lock:
            self._open_until = None

    def failed(self, seconds: float) -> None:
        """Report a failed attempt and its duration."""
        with self._lock:
            self._open_until = time.monotonic() + RETRY_SECONDS if seconds >= SLOW_SECONDS else None


_circuit = Circuit()


_AS_BEFORE = "RESET default_transaction_read_only"


class Unreplicated(OperationalError):
    """No synchronous standby would have the changes. They have ended without effect."""


class DatabaseOperations(operations.DatabaseOperations):
    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> str:
        """The text for the query log. psycopg does not keep that of a prepared statement."""
        return super().last_executed_query(cursor, sql, params) or self.compose_sql(sql, params)


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._server = primary.UNKNOWN
        self._needs_standby = self._is_read_only = False
        # When a standby confirmed the first heartbeat of this connection that has been followed by no other outcome.
        self._confirmed_since: float | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Raises psycopg.OperationalError at once while the database is known to be unavailable.

        Former primaries and standbys are refused, see `common.postgresql.servers`.
        """
        self._confirmed_since = None
        response_seconds = self.settings_dict.get("RESPONSE_SECONDS")
        if self.settings_dict.get("IS_STANDBY"):
            return self._connect_to_standby(conn_params, response_seconds)
        self._needs_standby = settings.REQUIRE_SYNCHRONOUS and response_seconds is not None
        self._is_read_only = False
        if response_seconds is None:
            connection, server = servers.connect(self._open, conn_params)
            self._server = server.number
            return connection
        if not state.is_prepared():
            raise psycopg.OperationalError("The database is not prepared yet.")
        if timeouts.limit_reached():
            raise psycopg.OperationalError("The database has not finished earlier statements.")
        if not _circuit.allows_attempt():
            raise psycopg.OperationalError("A recent attempt to connect to the database timed out.")
        self.isolation_level = IsolationLevel.READ_COMMITTED
        started = time.monotonic()
        try:
            bounded, server = servers.connect(BoundedConnection.connect_in_autocommit, conn_params)
        except BaseException:
            _circuit.failed(time.monotonic() - started)
            raise
        _circuit.succeeded()
        bounded.response_seconds = response_seconds
        self._server = server.number
        return bounded

    def _connect_to_standby(self, conn_params: dict[str, Any], response_seconds: float | None) -> Any:
        """Connect to a server of reports. Whoever asks it finds out whether it is a standby of the primary."""
        if not state.is_prepared():
            raise psycopg.OperationalError("The database is not prepared yet.")
        self.isolation_level = IsolationLevel.READ_COMMITTED
        bounded = BoundedConnection.connect_in_autocommit(conn_params)
        bounded.is_limited = False
        if response_seconds is not None:
            bounded.response_seconds = response_seconds
        bounded.execute("SET TIME ZONE 'UTC'")
        return bounded

    def _open(self, parameters: Mapping[str, Any]) -> psycopg.Connection[Any]:
        connection: psycopg.Connection[Any] = super().get_new_connection({**parameters})
        connection.autocommit = True
        return connection

    def ensure_connection(self) -> None:
        # Each statement calls this. Within a transaction, the commit checks the server.
        if not self.in_atomic_block:
            self._leave_former_server()
        super().ensure_connection()
        if self._needs_standby:
            self._follow_standby()

    def _follow_standby(self, *, may_lose: bool = False) -> None:
        """Make the session read-only while commits can be lost, and writable again afterwards."""
        if self.in_atomic_block or not self.autocommit:
            return
        must_refuse = not (may_lose or primary.has_standby() or self._confirms_alone())
        if must_refuse is not self._is_read_only:
            change = "SET default_transaction_read_only = on" if must_refuse else _AS_BEFORE
            with self.wrap_database_errors:
                self.connection.execute(change, prepare=False)
            self._is_read_only = must_refuse

    def _confirms_alone(self) -> bool:
        """Commit a heartbeat, unless a process of this host does so regularly."""
        if primary.is_watched():
            return False
        with self.wrap_database_errors:
            try:
                if self._is_read_only:
                    # A heartbeat is a change, too.
                    self.connection.execute(_AS_BEFORE, prepare=False)
                    self._is_read_only = False
                is_replicated = self.confirms()
            except psycopg.OperationalError:
                primary.note_failed()
                raise
        if is_replicated:
            primary.note_standby(self._server)
        # The next request tries again if only the second heartbeat is missing.
        if is_replicated or self._confirmed_since is None:
            primary.note_committed()
        return is_replicated

    def confirms(self, *, waits: bool = False) -> bool:
        """Commit a heartbeat. Return whether a standby has it, and has had one some time before, as `servers.Watch`.

        ``waits``: commit the second one after `servers.PERIOD_SECONDS`. Raises psycopg.OperationalError.
        """
        if not self._confirm() or self._confirmed_since is None:
            return False
        missing = self._confirmed_since + servers.PERIOD_SECONDS - time.monotonic()
        if missing <= 0 or primary.has_standby():
            return True
        if not waits:
            return False
        time.sleep(missing)
        return self._confirm()

    def _confirm(self) -> bool:
        is_replicated = servers.confirm(self.connection)
        if not is_replicated:
            self._confirmed_since = None
        elif self._confirmed_since is None:
            self._confirmed_since = time.monotonic()
        return is_replicated

    def prepared_cursor(self, *, may_lose: bool = False) -> Any:
        """Return a cursor that prepares its statements, see `common.database.prepared_cursor`."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        if may_lose and self._is_read_only:
            self._follow_standby(may_lose=True)
        with self.wrap_database_errors:
            # As psycopg's own cursor() does.
            if self.connection.closed:
                raise psycopg.OperationalError("The connection is closed.")
            cursor: Any = base.ServerBindingCursor(self.connection)  # type: ignore[call-arg] # the stub lacks the argument
            cursor.format = Format.BINARY
            return self._prepare_cursor(cursor)  # type: ignore[attr-defined] # private, as in Django's own cursor()

    def _set_autocommit(self, autocommit: bool) -> None:
        # A signal handler's exception interrupted the COMMIT. The connection is no longer usable, and the error of
        # an attempt would replace the exception.
        if self.connection.pgconn.transaction_status == TransactionStatus.ACTIVE:
            self.close()
        else:
            super()._set_autocommit(autocommit)  # type: ignore[misc] # private, as in Django's own backend

    def close_if_unusable_or_obsolete(self) -> None:
        self._leave_former_server()
        # Before and after each request, outside its error handling. Django asks for the autocommit mode, which must
        # not execute a statement here: the connection may be broken.
        needs_standby, self._needs_standby = self._needs_standby, False
        try:
            super().close_if_unusable_or_obsolete()
        finally:
            self._needs_standby = needs_standby

    def _leave_former_server(self) -> None:
        """Close a connection to the server before a failover, although that server may still respond."""
        if self.connection is None or not primary.is_former(self._server):
            return
        is_in_transaction = not self.autocommit
        self.close()
        if is_in_transaction:
            raise OperationalError("Another server has taken over. The transaction has ended without effect.")

    def _commit(self) -> None:
        self._leave_former_server()
        if self._needs_standby and primary.is_watched() and not (self._is_read_only or primary.has_standby()):
            raise Unreplicated(
                "No synchronous standby confirms commits. The transaction has ended without effect."
            )
        try:
            super()._commit()  # type: ignore[misc] # private, as in Django's own backend
        except BaseException:
            if self._is_outcome_unknown():
                for entry in self.run_on_commit:
                    if isinstance(entry[1], Renewal):
                        entry[1]()
            raise

    def _is_outcome_unknown(self) -> bool:
        """Whether the server may have committed although it has not said so."""
        status = self.connection.pgconn.transaction_status
        return status in (TransactionStatus.ACTIVE, TransactionStatus.UNKNOWN)
