"""Which servers a connection may use: the current primary, and no former one that lives on after a failover."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import psycopg

from common.host import cache_versions, primary
from common.host.primary import UNKNOWN, Verdict

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
    """Connect to the first server of these libpq parameters that may be used.

    The connections are in autocommit mode. Raises psycopg.OperationalError.
    """
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
            return connect(open_connection, others)
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
        # Other hosts may have changed links there. Processes look at the server after the version slots.
        cache_versions.expire_caches()
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
    return {
        **parameters,
        **{name: ",".join(str(server[name]) for server in others) for name in _lists(parameters)},
    }


def _lists(parameters: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: str(parameters[name]).split(",") for name in _LISTS if parameters.get(name)}
