"""Questions to a resolver, bounded in time and in bytes. What it answers is hostile until it is judged."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from enum import Enum

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
# After which the next resolver is asked, or the same again: a packet may be lost, and a first answer take its time.
_TRY_SECONDS = 1.0
_MAX_SHOWN = 10


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
    """``values`` as text; ``cnames`` lead from the name that was asked to the one that has them.

    ``ttl``: how long the resolver may go on answering so. ``zone``: who says that there is nothing.
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
        """Whether this is what DNS holds, and not a resolver's trouble in finding out."""
        return self.outcome not in (Outcome.TIMED_OUT, Outcome.FAILED, Outcome.TOO_LARGE)

    @property
    def shown(self) -> list[str]:
        return [value[:255] for value in (*self.cnames, *self.values)][:_MAX_SHOWN]


class Lookup:
    """The questions of one verification, which share a deadline and a budget of bytes. Made inside a running loop."""

    def __init__(self) -> None:
        self._deadline = asyncio.get_running_loop().time() + DEADLINE_SECONDS
        self._bytes_left = MAX_BYTES
        self._resolvers = settings.DNS_RESOLVERS or _system_resolvers()

    async def ask(self, name: str, kind: str) -> Answer:
        """Never raises, whatever is answered or is not."""
        query = dns.message.make_query(name, kind, use_edns=0, payload=1232)
        answer = Answer(Outcome.FAILED, "none", detail="no resolver is configured")
        for round_ in range(2):
            for address, port in self._resolvers:
                resolver = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
                left = self._deadline - asyncio.get_running_loop().time()
                if left <= 0:
                    return Answer(Outcome.TIMED_OUT, resolver)
                wait = min(left, _TRY_SECONDS) if round_ == 0 else left
                answer = await self._ask_one(query, address, port, resolver, wait)
                if answer.is_definite or answer.outcome is Outcome.TOO_LARGE:
                    return answer
        return answer

    async def follow(self, name: str, goal: str) -> Answer:
        """Along the CNAMEs of a name, asked one by one, as far as they go or to the goal. FOUND if there is any.

        So the goal's own addresses, which are of no interest, need not be known to the resolver.
        """
        answer = first = await self.ask(name, "CNAME")
        cnames: list[str] = []
        while answer.outcome is Outcome.FOUND:
            [target, *_] = answer.values
            looping = target == name or target in cnames or len(cnames) == MAX_CNAMES
            cnames.append(target)
            if looping or target == goal:
                outcome = Outcome.LOOP if looping else Outcome.FOUND
                return replace(first, outcome=outcome, values=(), cnames=tuple(cnames))
            answer = await self.ask(target, "CNAME")
        if cnames and answer.is_definite:
            return replace(first, values=(), cnames=tuple(cnames))
        return answer

    async def _ask_one(
        self, query: dns.message.Message, address: str, port: int, resolver: str, wait: float
    ) -> Answer:
        try:
            async with asyncio.timeout(wait):
                response, _ = await dns.asyncquery.udp_with_fallback(
                    query, address, wait, port, ignore_unexpected=True, ignore_errors=True
                )
        except (TimeoutError, dns.exception.Timeout):
            return Answer(Outcome.TIMED_OUT, resolver)
        except (OSError, EOFError, ValueError, dns.exception.DNSException) as error:
            return Answer(Outcome.FAILED, resolver, detail=type(error).__name__)
        self._bytes_left -= len(response.wire or b"")
        if self._bytes_left < 0:
            return Answer(Outcome.TOO_LARGE, resolver)
        return _read(response, resolver)


def _read(response: dns.message.Message, resolver: str) -> Answer:
    rcode = response.rcode()
    if rcode not in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
        return Answer(Outcome.FAILED, resolver, detail=dns.rcode.to_text(rcode))
    [question] = response.question
    cnames: list[dns.name.Name] = []
    ttls: list[int] = []
    name = question.name
    while True:
        found = _records(response.answer, name, question.rdtype)
        if found is not None or question.rdtype == dns.rdatatype.CNAME:
            break
        alias = _records(response.answer, name, dns.rdatatype.CNAME)
        if alias is None:
            break
        name = alias[0].target
        ttls.append(alias.ttl)
        if name == question.name or name in cnames or len(cnames) == MAX_CNAMES:
            return Answer(Outcome.LOOP, resolver, cnames=_texts(cnames), ttl=min(ttls))
        cnames.append(name)
    if found is not None:
        values = tuple(_text(record) for record in found)
        return Answer(Outcome.FOUND, resolver, values, _texts(cnames), min([*ttls, found.ttl]))
    outcome = Outcome.NO_NAME if rcode == dns.rcode.NXDOMAIN else Outcome.NO_RECORD
    zone, ttl = _denial(response)
    return Answer(outcome, resolver, cnames=_texts(cnames), ttl=ttl, zone=zone)


def _records(
    section: list[dns.rrset.RRset], name: dns.name.Name, kind: dns.rdatatype.RdataType
) -> dns.rrset.RRset | None:
    return next((each for each in section if each.name == name and each.rdtype == kind), None)


def _denial(response: dns.message.Message) -> tuple[str | None, int | None]:
    """The zone that says there is nothing, and for how long that may be kept (RFC 2308)."""
    for each in response.authority:
        if each.rdtype == dns.rdatatype.SOA:
            return _texts([each.name])[0], min(each.ttl, each[0].minimum)
    return None, None


def _text(record: object) -> str:
    strings = getattr(record, "strings", None)
    if strings is not None:
        return b"".join(strings).decode("utf-8", "backslashreplace")
    target = getattr(record, "target", None)
    return str(record) if target is None else _texts([target])[0]


def _texts(names: list[dns.name.Name]) -> tuple[str, ...]:
    return tuple(name.to_text(omit_final_dot=True).lower() for name in names)


def _system_resolvers() -> list[tuple[str, int]]:
    try:
        found = dns.resolver.Resolver()
    except dns.exception.DNSException:
        return []
    return [(str(address), found.port) for address in found.nameservers]
