"""Hosts that are called: one request in two seconds, whichever host of the installation sends it, and robots.txt.

All hosts of a registered domain or a small network count as one, so that nobody gets more checks by more names.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from typing import Any

from ada_url import URL

from common.database import execute, fetch
from common.http.urls import InvalidDestination, canonical_destination, is_address
from common.outbound import Answer, OutboundError, send
from common.outbound.requests import AGENT
from domains.names import registered_domain
from links.health.robots import allows

PAUSE_SECONDS = 2.0
MAX_REDIRECTS = 5
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
# A check that would wait for longer is put off.
_LONGEST_WAIT_SECONDS = 8.0
_ROBOTS_HOURS = 24
_SECONDS = 10.0

# Nobody may keep the threads of the checks busy with a host that does not answer.
_AFTER_TIMEOUT = timedelta(minutes=10)

_RESERVE = """
INSERT INTO links_checkedhost AS h (name, free_at)
VALUES (%(name)s, clock_timestamp() + %(pause)s * interval '1 s')
ON CONFLICT (name) DO UPDATE
    SET free_at = greatest(h.free_at, clock_timestamp()) + %(pause)s * interval '1 s'
    WHERE h.free_at <= clock_timestamp() + %(longest)s * interval '1 s'
RETURNING extract(epoch FROM free_at - clock_timestamp())::float8 - %(pause)s
"""
_SLOW_DOWN = "UPDATE links_checkedhost SET free_at = clock_timestamp() + %(pause)s WHERE name = %(name)s"
_ROBOTS = "SELECT robots FROM links_checkedhost WHERE name = %(name)s AND free_at > now()"
_REMEMBER = """
INSERT INTO links_checkedhost (name, free_at, robots)
VALUES (%(name)s, now() + %(hours)s * interval '1 hour', %(robots)s)
ON CONFLICT (name) DO UPDATE SET free_at = EXCLUDED.free_at, robots = EXCLUDED.robots
"""
_FORGET = """
DELETE FROM links_checkedhost
WHERE free_at < now() - interval '1 hour' AND coalesce(planned_until, '-infinity') < now()
"""


class HostBusy(Exception):
    """Other checks of this host have the next seconds."""


class Disallowed(Exception):
    """The owner of the host does not want this URL to be called."""


def name_of(host: str) -> str:
    """The name of the row of a canonical host."""
    if not is_address(host):
        return registered_domain(host.rstrip("."))
    if host == "localhost":
        return host
    address = ip_address(host.strip("[]"))
    return str(ip_network((address, 24 if address.version == 4 else 64), strict=False))


def slow_down(host: str) -> None:
    """The host did not answer in time."""
    execute(_SLOW_DOWN, {"name": name_of(host), "pause": _AFTER_TIMEOUT})


def await_turn(host: str) -> None:
    """Wait until the host may be called. Raises HostBusy if that takes long."""
    values = {"name": name_of(host), "pause": PAUSE_SECONDS, "longest": _LONGEST_WAIT_SECONDS}
    turn = fetch(_RESERVE, values)
    if not turn:
        raise HostBusy
    time.sleep(max(0.0, turn[0][0]))


def require_allowed(url: str, host: str) -> None:
    """Raises Disallowed by the host's robots.txt, and OutboundError or HostBusy if it has to be read and cannot be."""
    parts = URL(url)
    known = fetch(_ROBOTS, {"name": parts.origin})
    robots = known[0][0] if known else _remembered(parts.origin, host)
    if not allows(robots, parts.pathname + parts.search, AGENT):
        raise Disallowed


def call(method: str, url: str, host: str, **options: Any) -> Answer:
    """Send a request when it is the host's turn. Raises OutboundError or HostBusy."""
    await_turn(host)
    try:
        return send(method, url, seconds=_SECONDS, allow_http=True, **options)
    except OutboundError as error:
        if error.reason == "timeout":
            slow_down(host)
        raise


def next_url(answer: Answer, url: str) -> str | None:
    """Where the answer of this URL redirects to. None: nowhere."""
    location = answer.headers.get("location")
    if answer.status not in _REDIRECTS or not location:
        return None
    with suppress(UnicodeError):
        # Browsers read it as UTF-8, `http.client` as Latin-1.
        location = location.encode("latin-1").decode()
    try:
        return URL(location, base=url).href
    except ValueError:
        return location


def forget_hosts() -> int:
    return execute(_FORGET)


def _remembered(origin: str, host: str) -> str:
    robots = _read(f"{origin}/robots.txt", host)
    execute(_REMEMBER, {"name": origin, "hours": _ROBOTS_HOURS, "robots": robots})
    return robots


def _read(first: str, host: str) -> str:
    """The robots.txt, empty if there is none."""
    url = first
    for _ in range(MAX_REDIRECTS + 1):
        try:
            answer = call("GET", url, host)
        except OutboundError:
            # What is wrong with another host says nothing of the destination.
            if url == first:
                raise
            raise _unreadable() from None
        if answer.status >= 500:
            raise _unreadable()
        if answer.status == HTTPStatus.OK:
            return answer.body.decode("utf-8", "replace").replace("\0", "")
        following = next_url(answer, url)
        if following is None:
            break
        try:
            url, host = following, canonical_destination(following).host
        except InvalidDestination:
            break
    return ""


def _unreadable() -> OutboundError:
    """Then nobody may call the host (RFC 9309, 2.3.1.4), but its owner has not said so."""
    return OutboundError("protocol", "The host has no readable robots.txt.")
