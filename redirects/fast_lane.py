"""The fast lane: a link that is known and asks nothing of its visitor, answered from memory with prepared bytes.

The decisions are those of the Django view, taken by the same functions. Whatever needs more (an unknown code, a
password, a limit on clicks, a refusal, a request that is not simple) is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from email.utils import formatdate
from functools import lru_cache
from http.client import responses
from ipaddress import IPv4Network, IPv6Network
from math import inf
from typing import NamedTuple

from django.db import Error, connection
from django.utils import timezone
from gunicorn import SERVER

from analytics.capture import KINDS
from analytics.records import OPTED_OUT, SCANNED, encoded
from analytics.visitor import Kind, Visitor, is_scan, kind_of
from common.client_address import client_address
from links.codes import is_reserved
from links.destination_cache import Entry
from links.destinations import Found, Target, destinations, find_target
from links.models import RedirectType
from redirects.access import decide
from redirects.answers import redirect_headers
from redirects.request_head import Fields, NotSimple, read_head

# Status, bytes to send, whether the connection closes then, and the record of the visit, which is to be in the journal
# before anything is sent. With names it would take a tenth longer to answer.
Answer = tuple[int, bytes, bool, bytes]


class _Prepared(NamedTuple):
    """``rest`` is what follows the headers that differ between two answers; ``until`` in seconds since 1970."""

    link_id: int
    status: int
    rest: bytes
    until: float
    has_countries: bool


class FastLane:
    """Of one process, for its main thread. ``own_hosts`` are the names of the default domain."""

    def __init__(
        self, own_hosts: frozenset[str], trusted_proxies: Sequence[IPv4Network | IPv6Network]
    ) -> None:
        self._trusted = tuple(trusted_proxies)
        self._own_hosts = own_hosts
        self._known = destinations().get
        self._keeping: dict[int, bytes] = {}
        self._closing: dict[int, bytes] = {}
        self._until = 0.0

    def answer(self, data: bytes, peer: str, now: float, closes: bool = False) -> Answer | None:
        """To a request that ``peer`` (an address) has sent; None: it is not for this lane, and nothing was done.

        ``now`` in seconds since 1970. ``closes`` says that the connection ends with this answer whatever is asked.
        """
        try:
            method, code, query, fields = read_head(data)
        except NotSimple:
            return None
        entry = self._known(("" if fields.host in self._own_hosts else fields.host, code))
        if entry is None:
            return None
        prepared = _prepare(entry) if entry.answer is None else entry.answer
        if not isinstance(prepared, _Prepared) or prepared.until <= now:
            return None
        kind = kind_of(method, fields.is_prefetch, fields.is_crawler)
        if self._trusted or ":" in peer:
            peer = _client_address(peer, fields.forwarded_for, self._trusted)
        if prepared.has_countries and not _is_allowed(entry.found, peer, fields, kind):
            return None
        flags = OPTED_OUT if fields.opted_out else 0
        if query and is_scan(query):
            flags |= SCANNED
        if now >= self._until:
            self._date(now)
        closes = closes or fields.closes
        start = (self._closing if closes else self._keeping)[prepared.status]
        payload = encoded(
            int(now * 1_000_000),
            prepared.link_id,
            KINDS[kind],
            flags,
            peer.encode(),
            fields.agent,
            fields.referrer,
        )
        return prepared.status, start + prepared.rest, closes, payload

    def unknown_to_it(self, data: bytes) -> tuple[str, str] | None:
        """Host and code of a simple request for a link of which nothing is in memory."""
        try:
            _, code, _, fields = read_head(data)
        except NotSimple:
            return None
        host = "" if fields.host in self._own_hosts else fields.host
        if is_reserved(code) or self._known((host, code)) is not None:
            return None
        return fields.host, code

    def _date(self, now: float) -> None:
        """Prepares, once a second, what answers begin with."""
        self._until = int(now) + 1.0
        self._keeping, self._closing = (
            {
                status: (
                    f"HTTP/1.1 {status} {responses[status]}\r\nServer: {SERVER}\r\n"
                    f"Date: {formatdate(int(now), usegmt=True)}\r\nConnection: {connection}\r\n"
                ).encode()
                for status in RedirectType.values
            }
            for connection in ("keep-alive", "close")
        )


def look_up(host: str, code: str) -> None:
    """Brings what the code means into memory, if it may be there. That it fails is for the Django view to say."""
    try:
        find_target(host, code)
    except Error:
        connection.close()


_client_address = lru_cache(maxsize=8192)(client_address)


def _prepare(entry: Entry[Found]) -> _Prepared | bool:
    """Kept with the entry, for as long as that is valid. False: this lane cannot answer for the link."""
    target = entry.found
    if (
        not isinstance(target, Target)
        or not target.is_active
        or target.password is not None
        or target.max_clicks is not None
        or target.allowed_devices
    ):
        entry.answer = False
        return False
    headers = redirect_headers(target) | {"Content-Length": "0"}
    prepared = _Prepared(
        link_id=target.link_id,
        status=target.redirect_type,
        rest="".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode("ascii") + b"\r\n",
        until=inf if target.expires_at is None else target.expires_at.timestamp(),
        has_countries=bool(target.allowed_countries or target.blocked_countries),
    )
    entry.answer = prepared
    return prepared


def _is_allowed(target: Found, address: str, fields: Fields, kind: Kind) -> bool:
    visitor = Visitor(address, fields.agent.decode(), "", kind, opted_out=False)
    return isinstance(target, Target) and decide(target, visitor, timezone.now()) is None
