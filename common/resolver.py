"""Queries to a resolver, bounded in time and in bytes. The responses are untrusted input.

Only time in which this process could have read a response counts towards a timeout. On a busy host the event loop may
get no processor time for seconds; a resolver is not to blame for a response that waits in the socket's buffer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeVar

import dns.asyncquery
import dns.exception
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset
from django.conf import settings

DEADLINE_SECONDS = 3.0
MAX_BYTES = 64 * 1024
MAX_CNAMES = 8
# Query the next resolver after this time, or the same one again: a packet may be lost, a first response may be slow.
TRY_SECONDS = 1.0
# A wait is cut into pieces of this length; the part of a piece that the event loop overslept does not count.
_TICK_SECONDS = 0.1
_MAX_SHOWN = 10
_T = TypeVar("_T")


class Outcome(Enum):
    FOUND = "found"
    NO_RECORD = "no record"
    NO_NAME = "no name"
    LOOP = "loop"
    TIMED_OUT = "timed out"
    FAILED = "failed"
    TOO_LARGE = "too large"


@dataclass(frozen=True, slots=True)
class Answer:
    """``values`` as text; ``cnames`` is the chain from the queried name to the name that has the values.

    ``ttl``: how long the resolver may cache the answer. ``zone``: the zone of a negative answer.
    """

    outcome: Outcome
    resolver: str
    values: tuple[str, ...] = ()
    cnames: tuple[str, ...] = ()
    ttl: int | None = None
    zone: str | None = None
    detail: str = ""

    @property
    def is_definite(self) -> bool:
        """Whether this is the content of DNS rather than a resolver failure."""
        return self.outcome not in (Outcome.TIMED_OUT, Outcome.FAILED, Outcome.TOO_LARGE)

    @property
    def shown(self) -> list[str]:
        return [value[:255] for value in (*self.cnames, *self.values)][:_MAX_SHOWN]


class Lookup:
    """Queries that share a deadline and a byte budget. Create it inside a running loop."""

    def __init__(self, seconds: float | None = None) -> None:
        self._now = asyncio.get_running_loop().time
        self._awake_at = self._now()
        self._deadline = self._awake_at + (DEADLINE_SECONDS if seconds is None else seconds)
        self._bytes_left = MAX_BYTES
        self._resolvers = settings.DNS_RESOLVERS or system_resolvers()

    async def query(self, name: str, kind: str) -> Answer:
        """Query the resolvers in turn. Never raises."""
        query = dns.message.make_query(name, kind, use_edns=0, payload=1232)
        answer = Answer(Outcome.FAILED, "none", detail="no resolver is configured")
        for round_ in range(2):
            for position, (address, port) in enumerate(self._resolvers):
                resolver = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
                remaining = self._seconds_left()
                if remaining <= 0:
                    return Answer(Outcome.TIMED_OUT, resolver)
                # In the second round, the resolvers share the remaining time equally.
                wait = (
                    min(remaining, TRY_SECONDS)
                    if round_ == 0
                    else remaining / (len(self._resolvers) - position)
                )
                answer = await self._query_one(query, address, port, resolver, wait)
                if answer.is_definite or answer.outcome is Outcome.TOO_LARGE:
                    return answer
        return answer

    async def follow_cnames(self, name: str, goal: str) -> Answer:
        """Follow a chain of CNAMEs to its end or to the goal, one query per CNAME. FOUND if there is a CNAME.

        The resolver need not know the goal's addresses, because only the chain matters.
        """
        answer = first = await self.query(name, "CNAME")
        cnames: list[str] = []
        while answer.outcome is Outcome.FOUND:
            [target, *_] = answer.values
            looping = target == name or target in cnames or len(cnames) == MAX_CNAMES
            cnames.append(target)
            if looping or target == goal:
                outcome = Outcome.LOOP if looping else Outcome.FOUND
                return replace(first, outcome=outcome, values=(), cnames=tuple(cnames))
            answer = await self.query(target, "CNAME")
        if cnames and answer.is_definite:
            return replace(first, values=(), cnames=tuple(cnames))
        return answer

    async def _query_one(
        self, query: dns.message.Message, address: str, port: int, resolver: str, wait: float
    ) -> Answer:
        try:
            response, _ = await self._within(
                wait,
                dns.asyncquery.udp_with_fallback(
                    query, address, None, port, ignore_unexpected=True, ignore_errors=True
                ),
            )
        except (TimeoutError, dns.exception.Timeout):
            return Answer(Outcome.TIMED_OUT, resolver)
        except (OSError, EOFError, ValueError, dns.exception.DNSException) as error:
            return Answer(Outcome.FAILED, resolver, detail=type(error).__name__)
        self._bytes_left -= len(response.wire or b"")
        if self._bytes_left < 0:
            return Answer(Outcome.TOO_LARGE, resolver)
        return _read(query.question[0], response, resolver)

    async def _within(self, seconds: float, query: Coroutine[Any, Any, _T]) -> _T:
        """Raises TimeoutError after ``seconds`` in which the event loop was running."""
        task = asyncio.ensure_future(query)
        try:
            while not task.done() and seconds > 0:
                tick = min(seconds, _TICK_SECONDS)
                await asyncio.wait({task}, timeout=tick)
                seconds -= tick
                self._seconds_left()
            if not task.done():
                raise TimeoutError
            return task.result()
        finally:
            task.cancel()

    def _seconds_left(self) -> float:
        """Return the seconds to the deadline, which moves by what the event loop overslept since the last call."""
        now = self._now()
        self._deadline += max(0.0, now - self._awake_at - _TICK_SECONDS)
        self._awake_at = now
        return self._deadline - now


def _read(question: dns.rrset.RRset, response: dns.message.Message, resolver: str) -> Answer:
    """``question`` comes from the query: a hostile response may repeat it any number of times."""
    rcode = response.rcode()
    if rcode not in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
        return Answer(Outcome.FAILED, resolver, detail=dns.rcode.to_text(rcode))
    cnames: list[dns.name.Name] = []
    ttls: list[int] = []
    name = question.name
    while True:
        records = _records(response.answer, name, question.rdtype)
        if records is not None or question.rdtype == dns.rdatatype.CNAME:
            break
        alias = _records(response.answer, name, dns.rdatatype.CNAME)
        if alias is None:
            break
        name = alias[0].target
        ttls.append(alias.ttl)
        if name == question.name or name in cnames or len(cnames) == MAX_CNAMES:
            return Answer(Outcome.LOOP, resolver, cnames=_texts(cnames), ttl=min(ttls))
        cnames.append(name)
    if records is not None:
        values = tuple(_text(record) for record in records)
        return Answer(Outcome.FOUND, resolver, values, _texts(cnames), min([*ttls, records.ttl]))
    outcome = Outcome.NO_NAME if rcode == dns.rcode.NXDOMAIN else Outcome.NO_RECORD
    zone, ttl = _denial(response)
    return Answer(outcome, resolver, cnames=_texts(cnames), ttl=ttl, zone=zone)


def _records(
    section: list[dns.rrset.RRset], name: dns.name.Name, kind: dns.rdatatype.RdataType
) -> dns.rrset.RRset | None:
    return next((rrset for rrset in section if rrset.name == name and rrset.rdtype == kind), None)


def _denial(response: dns.message.Message) -> tuple[str | None, int | None]:
    """Return the zone of a negative answer and how long it may be cached (RFC 2308)."""
    for rrset in response.authority:
        if rrset.rdtype == dns.rdatatype.SOA:
            return _texts([rrset.name])[0], min(rrset.ttl, rrset[0].minimum)
    return None, None


def _text(record: object) -> str:
    strings = getattr(record, "strings", None)
    if strings is not None:
        return b"".join(strings).decode("utf-8", "backslashreplace")
    target = getattr(record, "target", None)
    return str(record) if target is None else _texts([target])[0]


def _texts(names: list[dns.name.Name]) -> tuple[str, ...]:
    return tuple(name.to_text(omit_final_dot=True).lower() for name in names)


def system_resolvers() -> list[tuple[str, int]]:
    try:
        configuration = dns.resolver.Resolver()
    except dns.exception.DNSException:
        return []
    return [(str(address), configuration.port) for address in configuration.nameservers]
