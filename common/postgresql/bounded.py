"""A psycopg connection with a client-side timeout for each statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout  # noqa: PLC2701 # psycopg has no public name for it

from common.postgresql import abandoned

Result = TypeVar("Result")


class ResponseTimeout(psycopg.OperationalError):
    """The server did not respond in time. It may still execute the statement."""


class BoundedConnection(psycopg.Connection[Any]):
    """``response_seconds`` limits the wait for each statement, including COMMIT.

    Raises ResponseTimeout and closes the connection: a late response must not be matched to another statement.
    """

    response_seconds: float = 3.0

    @classmethod
    def connect_in_autocommit(cls, parameters: Mapping[str, Any]) -> Self:
        return cls.connect(**parameters, autocommit=True)

    def wait(self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = None) -> Result:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.response_seconds)
        except _WaitTimeout:
            abandoned.track(self.pgconn.socket)
            self.pgconn.finish()
            raise ResponseTimeout(
                f"The database did not respond within {self.response_seconds:g} s; it may still execute the statement."
            ) from None
