"""Connections that outlive the server they were opened to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction

Result = TypeVar("Result")

_READ_ONLY_TRANSACTION = "25006"
_DEADLOCK = "40P01"
_ATTEMPTS = 4


def is_outage(error: BaseException) -> bool:
    """Whether the database, not the request, is at fault: worth another try in a moment."""
    if isinstance(error, OperationalError | InterfaceError):
        return True
    if getattr(error.__cause__, "sqlstate", None) != _READ_ONLY_TRANSACTION:
        return False
    # After a failover a kept connection may lead to what is a standby now; the next one will not.
    if not connection.in_atomic_block:
        connection.close()
    return True


def read_first(query: Callable[[], Result]) -> Result:
    """Runs the first query of a request: a read, outside any transaction, and therefore safe to repeat.

    Connections are kept between requests. One that died meanwhile (a restarted server) shows only when it is
    used; it is replaced here, once, so that a restart costs no request an error and no request a health check.
    Raises what the second attempt raises.
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
def apart() -> Iterator[None]:
    """For statements that may break a constraint: inside somebody's transaction they are undone alone, and judged
    now, not at its end. Outside of one there is nothing to do: each statement is a transaction of its own.
    """
    if not connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        yield
        connection.check_constraints()


def in_one_transaction(work: Callable[[], Result]) -> Result:
    """Again if it met another in a deadlock, of which PostgreSQL lets one go on.

    Inside somebody's transaction it is a part of that, and whoever began it begins again.
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
    """Before a write that is the first query of a request and must not be repeated. Raises what `read_first` does."""

    def nothing() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT")

    read_first(nothing)
