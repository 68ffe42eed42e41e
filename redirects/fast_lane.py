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

from django.conf import settings
from django.db import Error, connection
from gunicorn import SERVER

from analytics.capture import KINDS
from analytics.records import SCANNED, encoded
from analytics.visitor import Kind, Visitor, is_scan
from common import versions
from common.client_address import client_address
from common.metrics import count_lookups
from links.codes import is_reserved
from links.destinations import read_target, site_of
from links.models import RedirectType
from redirects.access import is_country_allowed
from redirects.prepared import HEAD_BYTES, holds, prepare, prepared_answers, read_countries, read_head_of
from redirects.request_head import Fields, NotSimple, read_head

# Status, bytes to send, whether the connection closes then, and the record of the visit, which is to be in the journal
# before anything is sent. With names it would take a tenth longer to answer.
Answer = tuple[int, bytes, bool, bytes]


class FastLane:
    """Of one process, for its main thread. ``own_hosts`` are the names of the default domain."""

    def __init__(
        self, own_hosts: frozenset[str], trusted_proxies: Sequence[IPv4Network | IPv6Network]
    ) -> None:
        self._trusted = tuple(trusted_proxies)
        self._own_hosts = own_hosts
        self._prepared = prepared_answers(settings.DESTINATIONS_KEPT, settings.DESTINATIONS_MB * 1024 * 1024)
        self._slots = versions.slots()
        self._keeping: dict[int, bytes] = {}
        self._closing: dict[int, bytes] = {}
        self._now, self._microseconds, self._until = 0.0, 0, 0.0

    def answer(self, data: bytes, peer: str, now: float, closes: bool = False) -> Answer | None:
        """To a request that ``peer`` (an address) has sent; None: it is not for this lane, and nothing was done.

        ``now`` in seconds since 1970. ``closes`` says that the connection ends with this answer whatever is asked.
        """
        try:
            method, code, query, fields = read_head(data)
        except NotSimple:
            return None
        prepared = self._find(fields.host, code)
        if prepared is None:
            return None
        code_number, host_number, link_id, until, code_slot, host_slot, status, countries = read_head_of(
            prepared
        )
        slots = self._slots
        if slots[code_slot] != code_number or slots[host_slot] != host_number or until <= now or status == 0:
            return None
        kind = fields.kind if method == "GET" else "head"
        if self._trusted or ":" in peer:
            peer = _client_address(peer, fields.forwarded_for, self._trusted)
        if countries and not _is_allowed(prepared[-countries:], peer, fields, kind):
            return None
        flags = fields.flags | SCANNED if query and is_scan(query) else fields.flags
        if now != self._now:
            self._tick(now)
        closes = closes or fields.closes
        start = (self._closing if closes else self._keeping)[status]
        payload = encoded(
            self._microseconds,
            link_id,
            KINDS[kind],
            flags,
            peer.encode(),
            fields.agent,
            fields.referrer,
        )
        return status, start + prepared[HEAD_BYTES : len(prepared) - countries], closes, payload

    def asks_for(self, data: bytes, now: float) -> tuple[str, str] | None:
        """Host and code of a simple request for a link of which nothing is known that holds."""
        try:
            _, code, _, fields = read_head(data)
        except NotSimple:
            return None
        prepared = self._find(fields.host, code)
        if is_reserved(code.decode("ascii")) or (prepared is not None and holds(prepared, now)):
            return None
        return fields.host, code.decode("ascii")

    def learn(self, host: str, code: str, prepared: bytes) -> None:
        """What ``look_up`` found."""
        self._prepared.put(_key(site_of(host), code.encode("ascii")), prepared)

    def _find(self, host: str, code: bytes) -> bytes | None:
        key = code if host in self._own_hosts else _key(host, code)
        return self._prepared.young.get(key) or self._prepared.recall(key)

    def _tick(self, now: float) -> None:
        """Once for all requests that came together."""
        self._now, self._microseconds = now, int(now * 1_000_000)
        # A clock can be set back.
        if not self._until - 1.0 <= now < self._until:
            self._date(now)

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


def look_up(host: str, code: str) -> bytes | None:
    """What the database knows of it, prepared. None: it does not answer, which is for the Django view to say."""
    count_lookups(misses=1)
    before = versions.versions_of(site_of(host), code)
    try:
        return prepare(before, read_target(host, code))
    except Error:
        connection.close()
        return None


_client_address = lru_cache(maxsize=8192)(client_address)


def _key(site: str, code: bytes) -> bytes:
    """A code has no "@" in it."""
    return code + b"@" + site.encode() if site else code


def _is_allowed(countries: bytes, address: str, fields: Fields, kind: Kind) -> bool:
    visitor = Visitor(address, fields.agent.decode(), "", kind, opted_out=False)
    return is_country_allowed(visitor.country, *read_countries(countries))
