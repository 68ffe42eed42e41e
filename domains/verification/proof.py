"""Verifies the DNS records of a domain: proof of ownership (TXT) and its address, with the problem of each record."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from threading import BoundedSemaphore

from django.conf import settings

from common.errors import TooManyAttempts
from domains.models import Domain
from domains.names import registered_domain
from domains.verification.advice import Problem
from domains.verification.cdn import is_proxied
from domains.verification.records import address_records, challenge_record, edge_addresses, requires_addresses
from domains.verification.resolver import DEADLINE_SECONDS, Answer, Lookup, Outcome

# At most this many of a worker's threads wait for DNS, so that the others keep serving requests.
MAX_CONCURRENT_CHECKS = 2
CHECK_SLOTS = BoundedSemaphore(MAX_CONCURRENT_CHECKS)
# How long a check waits for a slot.
SLOT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Check:
    """One required record: the expected values, the DNS answer and the problem, if any."""

    type: str
    name: str
    expected: list[str]
    answer: Answer
    problem: Problem | None

    @property
    def is_definite(self) -> bool:
        return self.problem is None or self.answer.is_definite


def examine(domain: Domain) -> list[Check]:
    """Check a domain's records. Raises TooManyAttempts if too many checks are running.

    It takes up to three seconds, so no transaction may be open.
    """
    if not CHECK_SLOTS.acquire(timeout=SLOT_SECONDS):
        seconds = ceil(DEADLINE_SECONDS)
        raise TooManyAttempts(seconds, limit=MAX_CONCURRENT_CHECKS, window=seconds)
    try:
        [checks] = examine_all([domain])
        return checks
    finally:
        CHECK_SLOTS.release()


def examine_all(domains: Iterable[Domain]) -> list[list[Check]]:
    """Check all domains concurrently, with a deadline of three seconds for each."""

    async def check_all() -> list[list[Check]]:
        return await asyncio.gather(*(_examine(domain) for domain in domains))

    return asyncio.run(check_all())


async def _examine(domain: Domain) -> list[Check]:
    lookup = Lookup()
    answer, address = await asyncio.gather(
        lookup.query(challenge_record(domain).name, "TXT"), _address(domain, lookup)
    )
    missing = address.answer.outcome is Outcome.NO_NAME and address.problem is Problem.NO_SUCH_DOMAIN
    return [_challenge(domain, answer, domain_is_missing=missing), address]


def _challenge(domain: Domain, answer: Answer, *, domain_is_missing: bool) -> Check:
    record = challenge_record(domain)
    if answer.cnames:
        # Possibly a wildcard. Somebody else may control the target of the CNAME, so its records prove nothing.
        problem: Problem | None = Problem.CNAME_LOOP if answer.outcome is Outcome.LOOP else Problem.ALIAS
    elif answer.outcome is Outcome.FOUND:
        problem = None if record.value in answer.values else Problem.WRONG_VALUE
    else:
        problem = Problem.NO_SUCH_DOMAIN if domain_is_missing and answer.is_definite else _failure(answer)
    return Check(record.type, record.name, [record.value], answer, problem)


async def _address(domain: Domain, lookup: Lookup) -> Check:
    records = address_records(domain)
    kinds = "/".join(sorted({record.type for record in records}))
    expected = [record.value for record in records]
    answer = await lookup.follow_cnames(domain.host, settings.BASE_HOST)
    needs_addresses = requires_addresses(domain.host)
    is_correct = answer.outcome is Outcome.FOUND and answer.cnames[-1] == settings.BASE_HOST
    if is_correct:
        problem = Problem.CNAME_AT_APEX if needs_addresses else None
        return Check(kinds, domain.host, expected, answer, problem)
    if not answer.is_definite or answer.outcome is Outcome.LOOP:
        return Check(kinds, domain.host, expected, answer, _failure(answer))

    addresses = await _addresses(domain.host, lookup)
    if not addresses.is_definite:
        return Check(kinds, domain.host, expected, addresses, _failure(addresses))
    if addresses.values and set(addresses.values) <= set(edge_addresses()):
        # Some providers flatten a CNAME: they return its addresses instead.
        return Check(kinds, domain.host, expected, addresses, None)
    shown = answer if answer.cnames else addresses
    problem = _wrong_address(domain.host, answer, addresses)
    return Check(kinds, domain.host, expected, shown, problem)


async def _addresses(host: str, lookup: Lookup) -> Answer:
    """Query A and AAAA records. A name may have only one of the two types."""
    ipv4, ipv6 = await asyncio.gather(lookup.query(host, "A"), lookup.query(host, "AAAA"))
    if not (ipv4.is_definite and ipv6.is_definite):
        return ipv6 if ipv4.is_definite else ipv4
    either = ipv4 if ipv4.values or not ipv6.values else ipv6
    return Answer(
        either.outcome, either.resolver, ipv4.values + ipv6.values, either.cnames, either.ttl, either.zone
    )


def _wrong_address(host: str, path: Answer, addresses: Answer) -> Problem:
    if is_proxied(addresses.values, path.cnames):
        return Problem.PROXIED
    if path.cnames or addresses.values:
        return Problem.WRONG_VALUE
    registered = registered_domain(host)
    zone = path.zone
    exists = zone is not None and (zone == registered or zone.endswith(f".{registered}"))
    if path.outcome is Outcome.NO_NAME and not exists:
        return Problem.NO_SUCH_DOMAIN
    return Problem.MISSING


def _failure(answer: Answer) -> Problem:
    return {
        Outcome.TIMED_OUT: Problem.TIMED_OUT,
        Outcome.FAILED: Problem.RESOLVER_FAILED,
        Outcome.TOO_LARGE: Problem.TOO_LARGE,
        Outcome.LOOP: Problem.CNAME_LOOP,
    }.get(answer.outcome, Problem.MISSING)
