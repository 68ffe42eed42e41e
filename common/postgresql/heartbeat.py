"""Commits that show that the database is the primary: a server that cannot commit may have been replaced.

A heartbeat needs no table: it writes a message to the log, which PostgreSQL flushes and replicates like any change.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from enum import Enum
from typing import Any, NoReturn

import psycopg

from common.host import primary
from common.postgresql import admission
from common.postgresql.admission import OnFormerPrimary, OnStandby
from common.postgresql.bounded import BoundedConnection, ResponseTimeout

# From the beginning of a check to that of the next. Several of them fit into `state.HEARING_SECONDS`.
PERIOD_SECONDS = 1.5
RESPONSE_SECONDS = 2.0
# The server's own limit, which ends what waits for an earlier heartbeat.
_LIMITS = "SET statement_timeout = '1500ms'"
# The lock keeps commits that wait for a lost standby from accumulating. The function's rows exceed its memory, so that
# the server writes them to a temporary file, as a change of data may need space on the disk.
_COMMIT = """
SET LOCAL work_mem = '64kB';
SELECT current_setting('transaction_read_only') = 'on', pg_advisory_xact_lock({host}),
    pg_logical_emit_message(true, 'shortener', ''), (SELECT count(*) FROM generate_series(1, 3000))
"""

log = logging.getLogger(__name__)


class ReadOnly(psycopg.OperationalError):
    """The server accepts no writes."""


def confirm(connection: psycopg.Connection[Any]) -> None:
    """Commit a heartbeat. Raises psycopg.OperationalError. Call it outside a transaction."""
    try:
        statement = _COMMIT.format(host=primary.host_number())
    except OSError as error:
        raise psycopg.OperationalError(str(error)) from None
    try:
        cursor = connection.execute(statement, prepare=False)
    except psycopg.errors.InsufficientPrivilege:
        # The role may not write messages. Then only the contact counts.
        pass
    else:
        cursor.nextset()
        if cursor.fetchone()[0]:  # type: ignore[index] # a row
            raise ReadOnly("The server is read-only.")


class _State(Enum):
    FINE = "fine"
    SILENT = "does not commit"
    FORMER = "a former primary lives on"
    GONE_BACK = "only a former primary responds"


class Watch:
    """Checks one server of the URL."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        # A standby and a read-only primary are told apart here, not by libpq.
        self._parameters = {**parameters, "target_session_attrs": "any"}
        self._reported = _State.FINE

    def run(self) -> NoReturn:
        while True:
            began = time.monotonic()
            try:
                self.check()
            except Exception:
                log.exception("The check of a database server failed")
            time.sleep(max(0, began + PERIOD_SECONDS - time.monotonic()))

    def check(self) -> None:
        """Open a new connection, note which server it reaches, and commit there unless it must not be used."""
        state, reason = _State.FINE, ""
        try:
            connection = BoundedConnection.connect_in_autocommit(self._parameters)
        except psycopg.Error:
            # The listener reports that no server is reachable.
            primary.note_failed()
            return
        try:
            with connection:
                connection.response_seconds = RESPONSE_SECONDS
                connection.execute(_LIMITS)
                server = admission.admit(connection)
                confirm(connection)
            if not primary.is_former(server.number):
                primary.note_committed()
        except OnStandby:
            pass
        except OnFormerPrimary as error:
            primary.note_former()
            state, reason = _State.GONE_BACK if primary.has_gone_back() else _State.FORMER, str(error)
        except psycopg.Error as error:
            primary.note_failed()
            if not primary.is_committing():
                state, reason = _State.SILENT, _reason(error)
        self._report(state, reason)

    def _report(self, state: _State, reason: str) -> None:
        if state is self._reported:
            return
        self._reported = state
        match state:
            case _State.SILENT:
                log.error("The database does not commit: %s", reason)
            case _State.FORMER:
                log.error("A former primary still accepts connections. Stop it. %s", reason)
            case _State.GONE_BACK:
                log.error(
                    "The database has gone back to an earlier timeline: acknowledged writes were discarded. %s Bring"
                    " the later timeline back, or accept the loss with `manage.py accept_database` on every host.",
                    reason,
                )
            case _State.FINE:
                log.info("The database is as it should be again.")


def _reason(error: psycopg.Error) -> str:
    if isinstance(error, psycopg.errors.QueryCanceled | ResponseTimeout):
        return "commits do not end, as if a synchronous standby or the disk did not respond."
    return str(error).strip().partition("\n")[0]


def watch_servers(parameters: Mapping[str, Any]) -> None:
    """Check each server of the URL from now on, in a thread of its own: a server that hangs delays no other."""
    for server in admission.servers_of(parameters):
        threading.Thread(target=Watch(server).run, name="watch", daemon=True).start()
