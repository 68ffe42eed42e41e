"""Whether DNS proves that a name is its claimant's and leads here, and what is amiss where it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from threading import BoundedSemaphore

from django.conf import settings

from common.errors import TooManyAttempts
from domains.advice import Amiss
from domains.cdn import is_proxied
from domains.models import Domain
from domains.names import registered_domain
from domains.records import address_records, challenge_record, edge_addresses, wants_addresses
from domains.resolver import DEADLINE_SECONDS, Answer, Lookup, Outcome

# Of a worker's threads so many at most wait for somebody's name servers; the rest go on with their work.
_AT_ONCE = 2
_SLOTS = BoundedSemaphore(_AT_ONCE)
_SLOT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Check:
    """One required record: what was expected, what was found and, unless that is the same, what is amiss."""

    type: str
    name: str
    expected: list[str]
    answer: Answer
    amiss: Amiss | None

    @property
    def is_definite(self) -> bool:
        return self.amiss is None or self.answer.is_definite


def examine(domain: Domain) -> list[Check]:
    """Takes up to three seconds, so that no transaction may be open. Raises TooManyAttempts if others do."""
    if not _SLOTS.acquire(timeout=_SLOT_SECONDS):
        seconds = ceil(DEADLINE_SECONDS)
        raise TooManyAttempts(seconds, limit=_AT_ONCE, window=seconds)
    try:
        [checks] = examine_all([domain])
        return checks
    finally:
        _SLOTS.release()


def examine_all(domains: Iterable[Domain]) -> list[list[Check]]:
    """All at once, each within its own three seconds."""

    async def together() -> list[list[Check]]:
        return await asyncio.gather(*(_examine(domain) for domain in domains))

    return asyncio.run(together())


async def _examine(domain: Domain) -> list[Check]:
    lookup = Lookup()
    answer, address = await asyncio.gather(
        lookup.ask(challenge_record(domain).name, "TXT"), _address(domain, lookup)
    )
    missing = address.answer.outcome is Outcome.NO_NAME and address.amiss is Amiss.NO_SUCH_DOMAIN
    return [_challenge(domain, answer, domain_is_missing=missing), address]


def _challenge(domain: Domain, answer: Answer, *, domain_is_missing: bool) -> Check:
    record = challenge_record(domain)
    if answer.cnames:
        # Perhaps a wildcard's. What stands at another name is in another's hands, and proves nothing of this one.
        amiss: Amiss | None = Amiss.CNAME_LOOP if answer.outcome is Outcome.LOOP else Amiss.ALIAS
    elif answer.outcome is Outcome.FOUND:
        amiss = None if record.value in answer.values else Amiss.WRONG_VALUE
    else:
        amiss = Amiss.NO_SUCH_DOMAIN if domain_is_missing and answer.is_definite else _nothing(answer)
    return Check(record.type, record.name, [record.value], answer, amiss)


async def _address(domain: Domain, lookup: Lookup) -> Check:
    records = address_records(domain)
    kinds = "/".join(sorted({record.type for record in records}))
    expected = [record.value for record in records]
    answer = await lookup.follow(domain.host, settings.BASE_HOST)
    wants = wants_addresses(domain.host)
    leads_here = answer.outcome is Outcome.FOUND and answer.cnames[-1] == settings.BASE_HOST
    if leads_here:
        amiss = Amiss.CNAME_AT_APEX if wants else None
        return Check(kinds, domain.host, expected, answer, amiss)
    if not answer.is_definite or answer.outcome is Outcome.LOOP:
        return Check(kinds, domain.host, expected, answer, _nothing(answer))

    addresses = await _addresses(domain.host, lookup)
    if not addresses.is_definite:
        return Check(kinds, domain.host, expected, addresses, _nothing(addresses))
    if addresses.values and set(addresses.values) <= set(edge_addresses()):
        # Also where a provider answers with the addresses instead of the CNAME that was entered.
        return Check(kinds, domain.host, expected, addresses, None)
    shown = answer if answer.cnames else addresses
    amiss = _wrong_address(domain.host, answer, addresses)
    return Check(kinds, domain.host, expected, shown, amiss)


async def _addresses(host: str, lookup: Lookup) -> Answer:
    """Those of both kinds; a name with none of one kind is a usual one."""
    four, six = await asyncio.gather(lookup.ask(host, "A"), lookup.ask(host, "AAAA"))
    if not (four.is_definite and six.is_definite):
        return six if four.is_definite else four
    either = four if four.values or not six.values else six
    return Answer(
        either.outcome, either.resolver, four.values + six.values, either.cnames, either.ttl, either.zone
    )


def _wrong_address(host: str, path: Answer, addresses: Answer) -> Amiss:
    if is_proxied(addresses.values, path.cnames):
        return Amiss.PROXIED
    if path.cnames or addresses.values:
        return Amiss.WRONG_VALUE
    registered = registered_domain(host)
    zone = path.zone
    exists = zone is not None and (zone == registered or zone.endswith(f".{registered}"))
    if path.outcome is Outcome.NO_NAME and not exists:
        return Amiss.NO_SUCH_DOMAIN
    return Amiss.MISSING


def _nothing(answer: Answer) -> Amiss:
    return {
        Outcome.TIMED_OUT: Amiss.TIMED_OUT,
        Outcome.FAILED: Amiss.RESOLVER_FAILED,
        Outcome.TOO_LARGE: Amiss.TOO_LARGE,
        Outcome.LOOP: Amiss.CNAME_LOOP,
    }.get(answer.outcome, Amiss.MISSING)
