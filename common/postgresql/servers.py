"""Which servers a connection may use: the current primary, and no former one that lives on after a failover.

Heartbeats are commits that show that a server is the primary: one that cannot commit may have been replaced. A
heartbeat needs no table: it writes a message to the log, which PostgreSQL flushes and replicates like any change.

With REQUIRE_SYNCHRONOUS, heartbeats also find out whether PostgreSQL acknowledges only what a synchronous standby has.
`common.postgresql.base` refuses changes meanwhile and says what is guaranteed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, NoReturn, TypeVar

import psycopg
from django.conf import settings

from common.host import cache_versions, primary
from common.host.primary import UNKNOWN, Verdict
from common.postgresql.timeouts import BoundedConnection, ResponseTimeout

Connection = TypeVar("Connection", bound="psycopg.Connection[Any]")
# With one entry for each server of a URL.
_LISTS = ("host", "hostaddr", "port")
# A new timeline is in the names of the log at once. The control file has it from the next checkpoint on. Setting the
# time zone here saves Django another round trip. Any role may execute these functions unless the operator has revoked
# that, but some providers lack them.
_IDENTITY = """
SELECT system_identifier::text,
    CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END,
    set_config('TimeZone', 'UTC', false)
FROM pg_control_system()
"""


class OnStandby(psycopg.OperationalError):
    """The server is a standby: it may lag behind, and it sends no notifications."""


class OnFormerPrimary(psycopg.OperationalError):
    """A server with a higher timeline has taken over."""


class Server(NamedTuple):
    """``number`` is of `primary.number_of`, or UNKNOWN for the given ``reason``."""

    number: int
    reason: str = ""


def connect(
    open_connection: Callable[[Mapping[str, Any]], Connection], parameters: Mapping[str, Any]
) -> tuple[Connection, Server]:
    """Connect to a server of these libpq parameters, which are those of DATABASE_URL, that may be used.

    The connections are in autocommit mode. Raises psycopg.OperationalError.
    """
    known = list(servers_of(parameters))
    # First the one that another process has found: libpq waits for each one before it that does not respond.
    latest = primary.place() - 1
    if 0 <= latest < len(known):
        parameters = _joined(parameters, [known[latest], *known[:latest], *known[latest + 1 :]])
    connection, server = _connect_to_any(open_connection, parameters)
    host, port = connection.info.host, str(connection.info.port)
    for place, one in enumerate(known, start=1):
        if (one.get("host"), str(one.get("port") or port)) == (host, port):
            primary.note_place(place)
    return connection, server


def _connect_to_any(
    open_connection: Callable[[Mapping[str, Any]], Connection], parameters: Mapping[str, Any]
) -> tuple[Connection, Server]:
    connection = open_connection(parameters)
    host, port = connection.info.host, str(connection.info.port)
    try:
        return connection, admit(connection)
    except psycopg.OperationalError as refusal:
        connection.close()
        if not (others := _without(parameters, host, port)):
            raise
        # libpq stops at the first server that accepts writes, which a former primary does.
        try:
            return _connect_to_any(open_connection, others)
        except psycopg.OperationalError:
            raise refusal from None


def admit(connection: psycopg.Connection[Any]) -> Server:
    """Decide whether this host may use the server. Raises OnStandby, OnFormerPrimary or another OperationalError."""
    try:
        [(system, timeline, _)] = connection.execute(_IDENTITY).fetchall()
    except (psycopg.ProgrammingError, psycopg.NotSupportedError) as error:
        return Server(UNKNOWN, str(error).strip().partition("\n")[0])
    if timeline is None:
        raise OnStandby("The server is a standby.")
    server = Server(primary.number_of(int(system), int(timeline, 16)))
    try:
        verdict = primary.admit(server.number)
    except OSError as error:
        raise psycopg.OperationalError(str(error)) from None
    if verdict is Verdict.FORMER:
        raise OnFormerPrimary(
            f"The server at {connection.info.host}:{connection.info.port} is on timeline {int(timeline, 16)}, but this"
            f" host has used timeline {primary.timeline_of(primary.current())}."
        )
    if verdict is Verdict.OTHER:
        # Other hosts may have changed links there. Processes look at the server after the version counters.
        cache_versions.expire_caches()
    if settings.REQUIRE_SYNCHRONOUS and not awaits_standby(connection):
        primary.note_no_standby()
    return server


def servers_of(parameters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parameters of each server of a URL."""
    lists = _lists(parameters)
    for place in range(max((len(values) for values in lists.values()), default=1)):
        yield {
            **parameters,
            **{name: values[place] if len(values) > 1 else values[0] for name, values in lists.items()},
        }


def _without(parameters: Mapping[str, Any], host: str, port: str) -> dict[str, Any] | None:
    """The parameters of all other servers."""
    others = [
        server
        for server in servers_of(parameters)
        if (server.get("host"), str(server.get("port") or port)) != (host, port)
    ]
    if not others or "," not in str(parameters.get("host", "")):
        return None
    return _joined(parameters, others)


def _joined(parameters: Mapping[str, Any], servers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters that name these servers in this order."""
    return {
        **parameters,
        **{name: ",".join(str(server[name]) for server in servers) for name in _lists(parameters)},
    }


def _lists(parameters: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: str(parameters[name]).split(",") for name in _LISTS if parameters.get(name)}


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


# While no standby of a list is connected, commits wait. The role or the URL may have switched that off.
_AWAITS_STANDBY = """
SELECT current_setting('synchronous_standby_names') <> ''
    AND current_setting('synchronous_commit') NOT IN ('off', 'local')
"""


def awaits_standby(connection: psycopg.Connection[Any]) -> bool:
    """Whether the next commit waits for a synchronous standby. A server that has just started may have none listed."""
    [(is_awaited,)] = connection.execute(_AWAITS_STANDBY, prepare=False).fetchall()
    return bool(is_awaited)


def confirm(connection: psycopg.Connection[Any]) -> bool:
    """Commit a heartbeat. Raises psycopg.OperationalError. Call it outside a transaction.

    Returns whether a synchronous standby has it and all earlier commits; always True unless REQUIRE_SYNCHRONOUS.
    """
    if not settings.REQUIRE_SYNCHRONOUS:
        _commit(connection)
        return True
    is_awaited = awaits_standby(connection)
    # PostgreSQL also releases waiting commits when the list becomes empty.
    return _commit(connection) and is_awaited and awaits_standby(connection)


def _commit(connection: psycopg.Connection[Any]) -> bool:
    """Whether the role may do it."""
    try:
        statement = _COMMIT.format(host=primary.host_number())
    except OSError as error:
        raise psycopg.OperationalError(str(error)) from None
    try:
        cursor = connection.execute(statement, prepare=False)
    except psycopg.errors.InsufficientPrivilege:
        # The role may not write messages. Then only the contact counts.
        return False
    cursor.nextset()
    if cursor.fetchone()[0]:  # type: ignore[index] # a row
        raise ReadOnly("The server is read-only.")
    return True


class _State(Enum):
    FINE = "fine"
    SILENT = "does not commit"
    ALONE = "no synchronous standby"
    FORMER = "a former primary lives on"
    GONE_BACK = "only a former primary responds"


class Watch:
    """Checks one server of the URL."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        # A standby and a read-only primary are told apart here, not by libpq.
        self._parameters = {**parameters, "target_session_attrs": "any"}
        self._reported = _State.FINE
        # The server whose last heartbeat a standby has confirmed.
        self._replicated: int | None = None

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
        replicated, self._replicated = self._replicated, None
        try:
            connection = BoundedConnection.connect_in_autocommit(self._parameters)
        except psycopg.Error:
            # The listener reports that no server is reachable.
            self._note_failed(replicated)
            return
        try:
            with connection:
                connection.response_seconds = RESPONSE_SECONDS
                connection.execute(_LIMITS)
                server = admit(connection)
                is_replicated = confirm(connection)
            if not primary.is_former(server.number):
                primary.note_committed()
                if is_replicated:
                    self._replicated = server.number
                    # Sessions may see the list before PostgreSQL heeds it. So one heartbeat is not enough.
                    if replicated == server.number:
                        primary.note_standby(server.number)
                else:
                    primary.note_no_standby()
                    state = _State.ALONE
        except OnStandby:
            pass
        except OnFormerPrimary as error:
            primary.note_former()
            state, reason = _State.GONE_BACK if primary.has_gone_back() else _State.FORMER, str(error)
        except psycopg.Error as error:
            self._note_failed(replicated)
            if not primary.is_committing():
                state, reason = _State.SILENT, _reason(error)
        self._report(state, reason)

    def _note_failed(self, replicated: int | None) -> None:
        primary.note_failed()
        # It may start again on the same timeline, and heed the list of standbys only after its first commits.
        if replicated is not None and not primary.is_former(replicated):
            primary.note_no_standby()

    def _report(self, state: _State, reason: str) -> None:
        if state is self._reported:
            return
        self._reported = state
        match state:
            case _State.SILENT:
                log.error("The database does not commit: %s", reason)
            case _State.ALONE:
                log.error("The database commits without a synchronous standby. Changes are refused.")
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
    for server in servers_of(parameters):
        threading.Thread(target=Watch(server).run, name="watch", daemon=True).start()
