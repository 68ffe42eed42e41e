"""Persistent database connections: recovery after a server restart, retries after deadlocks, and faster statements.

Also what statements share: their execution, arrays as parameters, and changes of tables in use.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import (
    Error,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.db.backends.utils import CursorWrapper

from common.host import primary
from common.postgresql import servers
from common.postgresql.base import DatabaseWrapper, Unreplicated
from common.postgresql.timeouts import BoundedConnection, ResponseTimeout
from common.reports_database import alias, repeats_on_primary

Result = TypeVar("Result")

_READ_ONLY_TRANSACTION = "25006"
_DEADLOCK = "40P01"
_LOCK_TIMEOUT = "55P03"
_FOREIGN_KEY_VIOLATION = "23503"
# The server terminated a session that was idle in a transaction or whose transaction took too long.
_SESSION_TIMEOUTS = {"25P03", "25P04"}
_ATTEMPTS = 4
_COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"


def planner_settings(**methods: str) -> str:
    """Expressions for a SELECT that switch methods of the planner "on" or "off" until the transaction ends."""
    return ", ".join(f"set_config('enable_{method}', '{value}', true)" for method, value in methods.items())


# Statements that change thousands of rows must not read whole tables, and must lock the rows in the order of an index.
# A nested loop looks each sent key up, unless the statistics say that the table has few rows: then it reads all sent
# rows for each stored one. So if a sent row is found by a link alone, it is hashed, and the statement finds the stored
# ones with `= ANY(links)`.
PLAN_BY_KEY = planner_settings(bitmapscan="on", hashjoin="off", mergejoin="off", nestloop="on", seqscan="off")
PLAN_BY_LINK = planner_settings(
    bitmapscan="off", hashjoin="on", mergejoin="off", nestloop="off", seqscan="off"
)


def is_outage(error: BaseException) -> bool:
    """Whether the database, not the request, caused the error, so that a retry can succeed."""
    if isinstance(error, OperationalError | InterfaceError):
        return True
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    if sqlstate in _SESSION_TIMEOUTS:
        return True
    if sqlstate != _READ_ONLY_TRANSACTION:
        return False
    # After a failover, a persistent connection may lead to a server that is now a standby. A new one does not.
    if not connection.in_atomic_block and primary.has_standby():
        connection.close()
    return True


def lacks_standby(error: BaseException) -> bool:
    """Whether a change was refused because a failover could lose it, see REQUIRE_SYNCHRONOUS."""
    is_refused = getattr(error.__cause__, "sqlstate", None) == _READ_ONLY_TRANSACTION
    return isinstance(error, Unreplicated) or (is_refused and not primary.has_standby())


def is_conflict(error: BaseException) -> bool:
    """Whether another transaction held a lock for too long. A retry can succeed once that transaction has ended."""
    return getattr(error.__cause__, "sqlstate", None) in (_DEADLOCK, _LOCK_TIMEOUT)


def is_reference_gone(error: BaseException) -> bool:
    """Whether another transaction has deleted a row to which the written one refers."""
    return getattr(error.__cause__, "sqlstate", None) == _FOREIGN_KEY_VIOLATION


def constraint_of(error: BaseException) -> str:
    """The name of the constraint that refused a statement; empty for other errors."""
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) or ""


def is_storage_full(error: BaseException) -> bool:
    """Whether a trigger has refused to store more than the plan allows."""
    return constraint_of(error) == "storage_limit"


def has_unknown_outcome(error: BaseException) -> bool:
    """Whether the database may have executed the statement although it did not respond in time."""
    return isinstance(error.__cause__, ResponseTimeout)


def prepared_cursor(*, may_lose: bool = False) -> CursorWrapper:
    """A cursor for the statements of hot paths: the server parses and plans each of them once per connection.

    Django's own cursors insert the values into the text, so that the server plans it every time. For a lookup by key
    that takes longer than its execution. The text of a statement must be a constant: a connection keeps 100 of them.

    It fetches values in PostgreSQL's binary format, which Python reads faster: a row with its times takes 2 % of the
    processor time of reading a link less. Queries convert jsonb to text.

    With ``may_lose``, a failover may lose what the statement writes: REQUIRE_SYNCHRONOUS does not apply to it.
    """
    return cast(CursorWrapper, cast(DatabaseWrapper, connections[alias()]).prepared_cursor(may_lose=may_lose))


def fetch(query: str, values: Any = None) -> list[tuple[Any, ...]]:
    """Return the rows of a query that the ORM cannot express."""
    try:
        return _fetch(query, values)
    except Error as error:
        if not repeats_on_primary(error):
            raise
        return _fetch(query, values)


def _fetch(query: str, values: Any) -> list[tuple[Any, ...]]:
    with connections[alias()].cursor() as cursor:
        cursor.execute(query, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def fetch_with(limits: str, query: str, values: Any = None, *, seconds: float = 0.0) -> list[tuple[Any, ...]]:
    """Return the rows of such a query, in a transaction that begins with these settings.

    ``seconds``: how long they let a statement take, if it is longer than usual.
    """
    try:
        with extend_response_timeout(seconds), transaction.atomic(using=alias()):
            execute(limits)
            return _fetch(query, values)
    except Error as error:
        if not repeats_on_primary(error):
            raise
        return fetch_with(limits, query, values, seconds=seconds)


def execute(statement: str, values: Any = None) -> int:
    """Run a statement that the ORM cannot express, and return the number of its rows."""
    with connections[alias()].cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def copy_rows(target: str, rows: Iterable[bytes]) -> None:
    """Copy rows, each with its number of columns and their sizes, to ``target``: a table, and columns if not all.

    In PostgreSQL's binary format the server does not parse numbers, and nothing has to be escaped.
    """
    # Django translates the errors of statements, but not of COPY.
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.copy(f"COPY {target} FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.write(b"".join((_COPY_HEADER, *rows, _COPY_END)))


def read_first(query: Callable[[], Result]) -> Result:
    """Run the first query of a request: a read outside any transaction, and therefore safe to repeat.

    Connections persist between requests. After a server restart, a connection fails on its next use. This replaces it
    once, so that a restart causes no errors and requests need no health check. Raises the error of the second attempt.
    """
    was_connected = connection.connection is not None
    try:
        return query()
    except (OperationalError, InterfaceError):
        if not was_connected or connection.in_atomic_block or connection.is_usable():
            raise
        connection.close()
        return query()


@contextmanager
def extend_response_timeout(seconds: float) -> Iterator[None]:
    """Raise the client's statement timeout for a slow request. The caller sets the server's own timeout."""
    current = connections[alias()]
    current.ensure_connection()
    bounded = current.connection
    if not isinstance(bounded, BoundedConnection):
        yield
        return
    previous, bounded.response_seconds = bounded.response_seconds, max(bounded.response_seconds, seconds + 1)
    try:
        yield
    finally:
        bounded.response_seconds = previous


@contextmanager
def refusing(constraint: str, refusal: Exception) -> Iterator[None]:
    """Raise ``refusal`` if this constraint refuses a statement."""
    try:
        yield
    except IntegrityError as error:
        if constraint_of(error) != constraint:
            raise
        raise refusal from None


@contextmanager
def constraint_savepoint() -> Iterator[None]:
    """A savepoint for statements that may violate a constraint.

    Inside a transaction, a violation rolls back only these statements, and deferred constraints are checked at the end
    of the block. Outside a transaction this does nothing, because each statement is its own transaction.
    """
    if not connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        yield
        connection.check_constraints()


def in_one_transaction(work: Callable[[], Result]) -> Result:
    """Run ``work`` in a transaction. Retry after a deadlock, which PostgreSQL resolves by aborting one side.

    Inside an outer transaction ``work`` joins it, and the caller that started it must retry.
    """
    for attempt in range(_ATTEMPTS):
        try:
            with transaction.atomic():
                return work()
        except OperationalError as error:
            is_deadlock = getattr(error.__cause__, "sqlstate", None) == _DEADLOCK
            if not is_deadlock or connection.in_atomic_block or attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError


def check_connection() -> None:
    """Verify the connection before a write that is a request's first query. Raises the same errors as `read_first`."""

    def ping() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT")

    read_first(ping)


def require_confirmed() -> None:
    """Raise OperationalError unless the database has committed for this host within the last seconds.

    Otherwise it may be a former primary, to which revoked keys and ended sessions are valid.
    """
    if primary.is_committing():
        return
    if primary.has_just_failed():
        raise OperationalError("The database does not confirm commits.")
    # The listener of this host, which commits regularly, does not run.
    connection.ensure_connection()
    with connection.wrap_database_errors:
        servers.confirm(connection.connection)
    primary.note_committed()


def is_replicated(committed_with: Any) -> bool:
    """Whether a synchronous standby has what was ``committed_with`` a connection. Always true unless
    REQUIRE_SYNCHRONOUS.

    False if there is a new connection, which may be one to a server without it. Without regular heartbeats, the first
    call for a connection takes `servers.PERIOD_SECONDS`. Raises django.db.Error. Call it outside a transaction.
    """
    if not settings.REQUIRE_SYNCHRONOUS:
        return True
    connection.ensure_connection()
    if connection.connection is not committed_with:
        return False
    with connection.wrap_database_errors:
        return cast(DatabaseWrapper, connection).confirms(waits=True)


# Log offsets above the first bound. Above the second bound, the host is not ready for traffic.
TOLERATED_SECONDS = 5.0
UNREADY_SECONDS = 60.0


def seconds_ahead() -> float:
    """Seconds by which this host's clock is ahead of the database's; negative: behind.

    The round trip adds uncertainty, so the result is the smallest offset that is consistent with the measurement.
    Raises django.db.Error.
    """
    before = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        database: float = cursor.fetchall()[0][0]
    after = time.time()
    if before <= database <= after:
        return 0.0
    return before - database if database < before else after - database


def integer_array(numbers: Iterable[int]) -> str:
    """Format a parameter that is cast to an array of integers."""
    return "{" + ",".join(map(str, numbers)) + "}"


def text_array(values: Iterable[str | None]) -> str:
    """Format a parameter that is cast to an array of texts. None becomes null."""
    texts = list(values)
    joined = "\0".join([text for text in texts if text is not None])
    # Escaping all at once takes a quarter of the time. PostgreSQL refuses texts with NUL.
    if not texts or None in texts or joined.count("\0") >= len(texts):
        return "{" + ",".join(["NULL" if text is None else f'"{_escaped(text)}"' for text in texts]) + "}"
    return '{"' + _escaped(joined).replace("\0", '","') + '"}'


def bytea_array(contents: Iterable[bytes]) -> str:
    """Format a parameter that is cast to bytea[]."""
    return "{" + ",".join([f'"\\\\x{content.hex()}"' for content in contents]) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


log = logging.getLogger(__name__)

LOCK_MILLISECONDS = 200
LOCK_ATTEMPTS = 5
LOCK_PAUSE_SECONDS = 1.0
_LOCK_NOT_AVAILABLE = "55P03"


def change_tables(change: Callable[[], None]) -> None:
    """Runs ``change`` in a separate transaction with a short lock timeout, and retries after a pause.

    So inserts continue while another session, such as pg_dump, holds a lock for hours. Raises OperationalError after
    the last attempt; housekeeping retries in its next run.
    """
    for attempt in range(LOCK_ATTEMPTS):
        try:
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}")
                change()
            return
        except OperationalError as error:
            is_locked = getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE
            if not is_locked or attempt == LOCK_ATTEMPTS - 1:
                raise
            log.info("A table is locked; retrying its change in %.0f s.", LOCK_PAUSE_SECONDS)
        time.sleep(LOCK_PAUSE_SECONDS)
