"""A second database for reads: standbys that answer reports and lists (REPORTS_DATABASE_URL).

Inside `reading`, the ORM (by `Router`) and the functions of `common.database` read from there. The primary is used by
whatever uses ``django.db.connection`` itself, by each write of the ORM, and by `on_primary`. Sessions are read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, Error, connections

ALIAS = "reports"
_CANCELED = "57014"

P = ParamSpec("P")
Result = TypeVar("Result")


class Reading:
    """The reads of one request. ``is_over``: the standby has failed, and the primary answers the rest."""

    def __init__(self) -> None:
        self.is_over = False


_current: ContextVar[Reading | None] = ContextVar("reading", default=None)


@contextmanager
def reading(current: Reading) -> Iterator[None]:
    token = _current.set(current)
    try:
        yield
    finally:
        _current.reset(token)


def on_primary(function: Callable[P, Result]) -> Callable[P, Result]:
    """Decorator of functions that write, or must not read what lags behind, although a report or a list calls them."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Result:
        if _current.get() is None:
            return function(*args, **kwargs)
        token = _current.set(None)
        try:
            return function(*args, **kwargs)
        finally:
            _current.reset(token)

    return wrapped


def alias() -> str:
    """The entry of ``DATABASES`` from which to read."""
    current = _current.get()
    return DEFAULT_DB_ALIAS if current is None or current.is_over else ALIAS


def repeats_on_primary(error: Error) -> bool:
    """Whether to repeat what the standby has failed to do. With this call, the request leaves the standby.

    What takes too long there would also on the primary.
    """
    current = _current.get()
    if current is None or current.is_over or connections[ALIAS].in_atomic_block:
        return False
    if getattr(error.__cause__, "sqlstate", None) == _CANCELED:
        return False
    current.is_over = True
    connections[ALIAS].close()
    return True


class Router:
    """Django's ``DATABASE_ROUTERS``."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        return alias()

    def db_for_write(self, model: Any, **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, *objects: Any, **hints: Any) -> bool:
        return True

    def allow_migrate(self, database: str, app_label: str, **hints: Any) -> bool:
        return database == DEFAULT_DB_ALIAS
