"""Time limits on the connections, transactions and locks of an unresponsive process.

A process that freezes in a transaction keeps its locks and blocks requests. The database terminates such a session.
TCP keep-alives at both ends detect a host that has disappeared.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

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
    "follow_changes": _BACKGROUND,
    "recheck_domains": _BACKGROUND,
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
