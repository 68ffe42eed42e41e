"""The database settings of this process: its server, and the time limits of an unresponsive process.

A process that freezes in a transaction keeps its locks and blocks requests. The database terminates such a session.
TCP keep-alives at both ends detect a host that has disappeared.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple
from urllib.parse import unquote

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from common.reports_database import ALIAS
from local_postgres import EmbeddedPostgres
from local_postgres.sizing import settings_for
from shortener_project.configuration import variables

# These prepare the database or wait for a person. The processes that `serve` forks inherit its environment.
WITHOUT_DEFAULTS = frozenset({"serve", "prepare_database", "migrate", "shell", "dbshell"})


class _Timeouts(NamedTuple):
    """Milliseconds, as the environment holds them. A frozen process must not block requests for long."""

    idle_transaction: str = "10000"
    lock: str = "10000"
    statement: str = ""


# Bounds the database time of each request, and how long a frozen worker keeps its locks.
REQUESTS = _Timeouts(lock="0", statement="2000")
# These run alongside the web server and retry after any error. A statement timeout also limits the client's wait for a
# response, for example to a commit that waits for a lost standby.
_BACKGROUND = _Timeouts(lock="2000", statement="60000")
_OF_COMMAND = {
    # A batch of clicks takes about a second. A client that freezes during COPY is not idle, so only the statement
    # timeout ends it.
    "drain_clicks": _BACKGROUND,
    "deliver_events": _BACKGROUND,
    "follow_changes": _BACKGROUND,
    "recheck_domains": _BACKGROUND,
    "check_destinations": _BACKGROUND,
    # Closing a day counts all of its clicks.
    "housekeeping": _BACKGROUND._replace(statement="600000"),
    "gunicorn": REQUESTS,
}

# In seconds, except tcp_user_timeout: milliseconds.
_CLIENT = {
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_SERVER = {
    "tcp_keepalives_idle": 5,
    "tcp_keepalives_interval": 2,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


def set_command_timeouts(command: str) -> None:
    """Set a command's defaults in the environment, which the settings read when they load.

    A fork of a process with loaded settings must also update its database connections (`running.commands.become`).
    """
    if command not in WITHOUT_DEFAULTS:
        timeouts = _OF_COMMAND.get(command, _Timeouts())
        os.environ.setdefault("IDLE_TRANSACTION_TIMEOUT_MS", timeouts.idle_transaction)
        os.environ.setdefault("LOCK_TIMEOUT_MS", timeouts.lock)
        if timeouts.statement:
            os.environ.setdefault("STATEMENT_TIMEOUT_MS", timeouts.statement)


def statement_seconds(command: str) -> float | None:
    """The longest time of one statement of a command that `serve` forks. None: there is no limit."""
    milliseconds = os.environ.get("STATEMENT_TIMEOUT_MS") or _OF_COMMAND[command].statement
    return int(milliseconds) / 1000 or None


def with_timeouts(database: dict[str, Any], *, idle_transaction: int, lock: int) -> dict[str, Any]:
    """``idle_transaction`` and ``lock`` are in milliseconds; 0: no limit. Options in the URL take precedence."""
    parameters = _SERVER | {"idle_in_transaction_session_timeout": idle_transaction, "lock_timeout": lock}
    settings = " ".join(f"-c {name}={value}" for name, value in parameters.items())
    url_options = database["OPTIONS"]
    options = {**_CLIENT, **url_options, "options": f"{settings} {url_options.get('options', '')}".rstrip()}
    return {**database, "OPTIONS": options}


# The client's statement timeout exceeds the server's by this margin. It covers servers that do not respond at all.
MARGIN_SECONDS = 1.0
_HOSTS = re.compile(r"(?<=//)((?:[^/@]*@)?)([^/@?]*,[^/@?]*)(?=[/?]|$)")
_HOST_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::(\d+))?")


def database_settings(
    url: str,
    *,
    statement_timeout: int,
    idle_transaction_timeout: int,
    lock_timeout: int,
    name: str = "DATABASE_URL",
    target: str = "read-write",
) -> dict[str, Any]:
    """All timeouts are in milliseconds; 0: no limit. ``statement_timeout`` also limits the client's wait.

    ``name`` is that of the variable, and ``target`` which of several servers to use. Raises ImproperlyConfigured.
    """
    url, hosts = _split_hosts(url, name)
    try:
        database: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=None)}
    except (dj_database_url.UnknownSchemeError, dj_database_url.ParseError, ValueError):
        raise ImproperlyConfigured(
            f"{name} must look like postgres://user:password@host:5432/name."
        ) from None
    if database["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured(f"{name} must name a PostgreSQL database: postgres://…")
    database["ENGINE"] = "common.postgresql"
    # Cursors that prepare statements do so at the first use; see `common.database.prepared_cursor`.
    options = database["OPTIONS"] = {
        "connect_timeout": 2,
        "prepare_threshold": 0,
        **database.get("OPTIONS", {}),
    }
    if hosts:
        database |= hosts
        # Only one of several servers is writable, and a failover changes which one.
        options.setdefault("target_session_attrs", target)
    if statement_timeout:
        # JIT compilation takes longer than any query of a request.
        options["options"] = (
            f"{options.get('options', '')} -c statement_timeout={statement_timeout} -c jit=off".lstrip()
        )
        # In milliseconds: the kernel closes the connection if the peer does not acknowledge data for this long.
        options.setdefault("tcp_user_timeout", 10_000)
        database["RESPONSE_SECONDS"] = statement_timeout / 1000 + MARGIN_SECONDS
    return with_timeouts(database, idle_transaction=idle_transaction_timeout, lock=lock_timeout)


def _split_hosts(url: str, name: str) -> tuple[str, dict[str, str]]:
    """Extracts multiple servers (``host1:5432,host2:5432``) into libpq's format: a list of hosts and one of ports."""
    match = _HOSTS.search(url)
    if match is None:
        return url, {}
    servers = [_HOST_AND_PORT.fullmatch(server) for server in match[2].split(",")]
    parsed = [(unquote(server[1]).strip("[]"), server[2] or "5432") for server in servers if server]
    if len(parsed) != len(servers) or not all(host for host, _ in parsed):
        raise ImproperlyConfigured(
            f"{name} must look like postgres://user:password@host1:5432,host2:5432/name."
        )
    hosts, ports = zip(*parsed, strict=True)
    return url[: match.start(2)] + "several" + url[match.end(2) :], {
        "HOST": ",".join(hosts),
        "PORT": ",".join(ports),
    }


# Each thread of a worker keeps a connection. A redirect worker has a fifth thread for claims of clicks, and an API
# worker one for probes. Without API workers, a redirect worker has both.
_PER_WORKER = 5
# The process that loads links when redirect workers start.
_LOADER = 1
# Background processes, commands that run beside the service, and connections that PostgreSQL reserves for superusers.
_OTHERS = 20
_USUAL_CONNECTIONS = 100


def embedded_database() -> EmbeddedPostgres:
    """Return the embedded PostgreSQL, sized for the processes and the memory. Raises ImproperlyConfigured."""
    redirect_workers = variables.WEB_CONCURRENCY.read()
    api_workers = variables.API_CONCURRENCY.read()
    probes = 0 if api_workers else redirect_workers
    connections = _PER_WORKER * (redirect_workers + api_workers) + probes + _LOADER + _OTHERS
    if not variables.SMALL.read():
        connections = max(connections, _USUAL_CONNECTIONS)
    options = {**settings_for(variables.memory_mb()), "max_connections": str(connections)}
    return EmbeddedPostgres(variables.VAR_DIR.read(), options=options)


def reports_database() -> dict[str, dict[str, Any]]:
    """Return the entry of ``DATABASES`` for reports, if there is one. Raises ImproperlyConfigured."""
    url = variables.REPORTS_DATABASE_URL.read()
    if not url:
        return {}
    database = database_settings(
        url,
        name="REPORTS_DATABASE_URL",
        target="prefer-standby",
        statement_timeout=variables.STATEMENT_TIMEOUT_MS.read() or int(REQUESTS.statement),
        idle_transaction_timeout=variables.IDLE_TRANSACTION_TIMEOUT_MS.read(),
        lock_timeout=variables.LOCK_TIMEOUT_MS.read(),
    )
    # Also if the server is promoted.
    database["OPTIONS"]["options"] += " -c default_transaction_read_only=on"
    return {ALIAS: {**database, "IS_STANDBY": True, "TEST": {"MIRROR": "default"}}}


def configured_database() -> dict[str, Any]:
    """Return the database settings of this process, from its environment. Raises ImproperlyConfigured."""
    return database_settings(
        variables.DATABASE_URL.read() or embedded_database().url,
        statement_timeout=variables.STATEMENT_TIMEOUT_MS.read(),
        idle_transaction_timeout=variables.IDLE_TRANSACTION_TIMEOUT_MS.read(),
        lock_timeout=variables.LOCK_TIMEOUT_MS.read(),
    )
