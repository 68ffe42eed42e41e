"""Django's database settings, from a URL and the time limits."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from shortener_project.configuration.database_timeouts import with_timeouts

# The client's statement timeout exceeds the server's by this margin. It covers servers that do not respond at all.
MARGIN_SECONDS = 1.0
_HOSTS = re.compile(r"(?<=//)((?:[^/@]*@)?)([^/@?]*,[^/@?]*)(?=[/?]|$)")
_SERVER = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::(\d+))?")


def database_settings(
    url: str, *, statement_timeout: int, idle_transaction_timeout: int, lock_timeout: int
) -> dict[str, Any]:
    """All timeouts are in milliseconds; 0: no limit. ``statement_timeout`` also limits the client's wait.

    Raises ImproperlyConfigured.
    """
    url, hosts = _split_hosts(url)
    try:
        database: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=None)}
    except (dj_database_url.UnknownSchemeError, dj_database_url.ParseError, ValueError):
        raise ImproperlyConfigured(
            "DATABASE_URL must look like postgres://user:password@host:5432/name."
        ) from None
    if database["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL database: postgres://…")
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
        options.setdefault("target_session_attrs", "read-write")
    if statement_timeout:
        # JIT compilation takes longer than any query of a request.
        options["options"] = (
            f"{options.get('options', '')} -c statement_timeout={statement_timeout} -c jit=off".lstrip()
        )
        # In milliseconds: the kernel closes the connection if the peer does not acknowledge data for this long.
        options.setdefault("tcp_user_timeout", 10_000)
        database["RESPONSE_SECONDS"] = statement_timeout / 1000 + MARGIN_SECONDS
    return with_timeouts(database, idle_transaction=idle_transaction_timeout, lock=lock_timeout)


def _split_hosts(url: str) -> tuple[str, dict[str, str]]:
    """Extracts multiple servers (``host1:5432,host2:5432``) into libpq's format: a list of hosts and one of ports."""
    match = _HOSTS.search(url)
    if match is None:
        return url, {}
    servers = [_SERVER.fullmatch(server) for server in match[2].split(",")]
    parsed = [(unquote(server[1]).strip("[]"), server[2] or "5432") for server in servers if server]
    if len(parsed) != len(servers) or not all(host for host, _ in parsed):
        raise ImproperlyConfigured(
            "DATABASE_URL must look like postgres://user:password@host1:5432,host2:5432/name."
        )
    hosts, ports = zip(*parsed, strict=True)
    return url[: match.start(2)] + "several" + url[match.end(2) :], {
        "HOST": ",".join(hosts),
        "PORT": ",".join(ports),
    }
