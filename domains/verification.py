"""Verifies the DNS records of a domain: proof of ownership (TXT) and its address, with the problem of each record.

The daily recheck of active domains is here, too. Any number of hosts can run it concurrently.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from ipaddress import ip_address, ip_network
from math import ceil
from threading import BoundedSemaphore
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Value, When
from django.db.models.functions import Now

from common.database import execute
from common.errors import TooManyAttempts
from common.host import cache_versions
from common.resolver import DEADLINE_SECONDS, Answer, Lookup, Outcome
from domains.models import Domain, DomainStatus
from domains.names import CHALLENGE, is_apex, registered_domain


class DnsRecord(NamedTuple):
    type: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.type} record {self.value}"

    @property
    def relative_name(self) -> str:
        """The name inside its zone, as DNS panels ask for it."""
        return relative_name(self.name)


def relative_name(name: str) -> str:
    zone = registered_domain(name)
    return "@" if name == zone else name.removesuffix(f".{zone}")


def challenge_record(domain: Domain) -> DnsRecord:
    return DnsRecord("TXT", f"{CHALLENGE}.{domain.host}", domain.token)


def address_records(domain: Domain) -> list[DnsRecord]:
    if requires_addresses(domain.host):
        return [DnsRecord(_type_of(address), domain.host, address) for address in edge_addresses()]
    return [DnsRecord("CNAME", domain.host, settings.BASE_HOST)]


def required_records(domain: Domain) -> list[DnsRecord]:
    return [challenge_record(domain), *address_records(domain)]


def edge_addresses() -> list[str]:
    """The service's IP addresses. If BASE_HOST is an IP address, it is the default."""
    if settings.EDGE_ADDRESSES or not _base_is_address():
        return list(settings.EDGE_ADDRESSES)
    return [settings.BASE_HOST.strip("[]")]


def _type_of(address: str) -> str:
    return "AAAA" if ":" in address else "A"


def requires_addresses(host: str) -> bool:
    """Whether the name needs A/AAAA records: a CNAME cannot exist at an apex or point to an IP address."""
    return _base_is_address() or bool(settings.EDGE_ADDRESSES and is_apex(host))


def _base_is_address() -> bool:
    try:
        ipaddress.ip_address(settings.BASE_HOST.strip("[]"))
    except ValueError:
        return False
    return True


class Problem(Enum):
    MISSING = "missing"
    DOUBLED = "doubled"
    WRONG_VALUE = "wrong_value"
    ALIAS = "alias"
    PROXIED = "proxied"
    CNAME_AT_APEX = "cname_at_apex"
    CNAME_LOOP = "cname_loop"
    NO_SUCH_DOMAIN = "no_such_domain"
    TIMED_OUT = "timed_out"
    RESOLVER_FAILED = "resolver_failed"
    TOO_LARGE = "too_large"


_ADVICE = {
    Problem.MISSING: "The record is missing: add it",
    Problem.DOUBLED: "The record is at {name}.{registered}, as the DNS panel adds the domain itself: enter {relative}",
    Problem.WRONG_VALUE: "{corrections}",
    Problem.ALIAS: "A CNAME, perhaps a wildcard's, answers for this name: add the TXT record itself",
    Problem.PROXIED: "The name is proxied by a CDN: switch the proxy off for this record",
    Problem.CNAME_AT_APEX: "A CNAME at an apex hides the domain's other records: enter the addresses instead",
    Problem.CNAME_LOOP: "The CNAME chain has a loop or is too long: point the name directly to the expected value",
    Problem.NO_SUCH_DOMAIN: "The domain {registered} does not exist in DNS: check its spelling and registration",
    Problem.TIMED_OUT: "The resolver timed out: try again, and check the domain's name servers if it happens again",
    Problem.RESOLVER_FAILED: "The resolver failed ({detail}): check the domain's name servers and DNSSEC",
    Problem.TOO_LARGE: "The answers are larger than 64 KB: remove the records that are not needed",
}


def advice(check: Check) -> str | None:
    """One sentence. None: there is no problem."""
    if check.problem is None:
        return None
    answer, name = check.answer, check.name
    sentence = _ADVICE[check.problem].format(
        name=name,
        registered=registered_domain(name),
        relative=relative_name(name),
        detail=answer.detail,
        corrections=_corrections(check),
    )
    if answer.is_definite and answer.ttl:
        return (
            f"{sentence}; if you have just done so, the old answer is still cached for {answer.ttl} seconds."
        )
    return f"{sentence}."


def _corrections(check: Check) -> str:
    """``Remove the A record 203.0.113.9, and add the CNAME record sho.rt``."""
    parts = [
        f"{verb} the {' and the '.join(map(str, records))}"
        for verb, records in (("remove", check.to_remove), ("add", check.to_add))
        if records
    ]
    sentence = ", and ".join(parts)
    return sentence[:1].upper() + sentence[1:]


_CDN_NETWORKS = [
    ip_network(network)
    for network in (
        *("173.245.48.0/20", "103.21.244.0/22", "103.22.200.0/22", "103.31.4.0/22", "141.101.64.0/18"),
        *("108.162.192.0/18", "190.93.240.0/20", "188.114.96.0/20", "197.234.240.0/22", "198.41.128.0/17"),
        *("162.158.0.0/15", "104.16.0.0/13", "104.24.0.0/14", "172.64.0.0/13", "131.0.72.0/22"),
        *("2400:cb00::/32", "2606:4700::/32", "2803:f800::/32", "2405:b500::/32", "2405:8100::/32"),
        *("2a06:98c0::/29", "2c0f:f248::/32"),
    )
]
_CDN_NAMES = (
    *(".cdn.cloudflare.net", ".cloudfront.net", ".fastly.net", ".edgekey.net", ".edgesuite.net"),
    *(".akamaiedge.net", ".azureedge.net", ".azurefd.net", ".b-cdn.net"),
)


def is_proxied(addresses: Iterable[str], cnames: Iterable[str]) -> bool:
    return any(name.endswith(_CDN_NAMES) for name in cnames) or any(
        ip_address(address) in network for address in addresses for network in _CDN_NETWORKS
    )


_MAX_NAME = 253
# At most this many of a worker's threads wait for DNS, so that the others keep serving requests.
MAX_CONCURRENT_CHECKS = 2
CHECK_PLACES = BoundedSemaphore(MAX_CONCURRENT_CHECKS)
# How long a check waits for a place.
PLACE_SECONDS = 0.5


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

    @property
    def to_remove(self) -> list[DnsRecord]:
        """The records that are there instead of the expected ones, or beside them. Other TXT records do no harm."""
        if self.problem is not Problem.WRONG_VALUE or self.type == "TXT":
            return []
        if self.answer.cnames:
            return [DnsRecord("CNAME", self.name, self.answer.cnames[0])]
        addresses = (DnsRecord(_type_of(value), self.name, value) for value in self.answer.values)
        return [record for record in addresses if record.value not in self._accepted]

    @property
    def to_add(self) -> list[DnsRecord]:
        """The expected records that are missing beside wrong ones."""
        if self.problem is not Problem.WRONG_VALUE or self._accepted & set(self.answer.values):
            return []
        is_address = self.type not in ("TXT", "CNAME")
        return [
            DnsRecord(_type_of(value) if is_address else self.type, self.name, value)
            for value in self.expected
        ]

    @property
    def _accepted(self) -> set[str]:
        """Some providers return the addresses instead of a CNAME."""
        return {*self.expected, *edge_addresses()}


def examine(domain: Domain) -> list[Check]:
    """Check a domain's records. Raises TooManyAttempts if too many checks are running.

    It takes up to three seconds, so no transaction may be open.
    """
    if not CHECK_PLACES.acquire(timeout=PLACE_SECONDS):
        seconds = ceil(DEADLINE_SECONDS)
        raise TooManyAttempts(seconds, limit=MAX_CONCURRENT_CHECKS, window=seconds)
    try:
        [checks] = examine_all([domain])
        return checks
    finally:
        CHECK_PLACES.release()


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
    checks = [_challenge(domain, answer, domain_is_missing=missing), address]
    return [await _look_below(check, lookup) for check in checks]


async def _look_below(check: Check, lookup: Lookup) -> Check:
    """Whether a missing record is at its name with the domain appended once more: most panels append it themselves."""
    if check.problem is not Problem.MISSING:
        return check
    doubled = f"{check.name}.{registered_domain(check.name)}"
    if len(doubled) > _MAX_NAME:
        return check
    if check.type == "TXT":
        found = (await lookup.query(doubled, "TXT")).values
    elif check.type == "CNAME":
        found = (await lookup.query(doubled, "CNAME")).values
    else:
        found = (await _addresses_of(doubled, lookup)).values
    return replace(check, problem=Problem.DOUBLED) if set(found) & set(check.expected) else check


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

    addresses = await _addresses_of(domain.host, lookup)
    if not addresses.is_definite:
        return Check(kinds, domain.host, expected, addresses, _failure(addresses))
    if addresses.values and set(addresses.values) <= set(edge_addresses()):
        # Some providers flatten a CNAME: they return its addresses instead.
        return Check(kinds, domain.host, expected, addresses, None)
    shown = answer if answer.cnames else addresses
    problem = _wrong_address(domain.host, answer, addresses)
    return Check(kinds, domain.host, expected, shown, problem)


async def _addresses_of(host: str, lookup: Lookup) -> Answer:
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


logger = logging.getLogger(__name__)

STRIKES = 3
PERIOD = timedelta(hours=24)
# A resolver failure does not deactivate a domain; the check is repeated soon.
_RETRY = timedelta(hours=1)
# Longer than a check takes. The domains leased by a host that dies are due again after the lease.
_LEASE_PERIOD = "10 minutes"
_BATCH = 20

LEASE_DUE = f"""
UPDATE domains_domain SET recheck_at = now() + interval '{_LEASE_PERIOD}'
WHERE id IN (
    SELECT id FROM domains_domain WHERE status = 'active' AND recheck_at <= now()
    ORDER BY recheck_at LIMIT {_BATCH} FOR NO KEY UPDATE SKIP LOCKED
)
RETURNING id, host, token, recheck_at
"""  # noqa: S608 # built from constants
_LEASE_ONE = f"""
UPDATE domains_domain SET recheck_at = now() + interval '{_LEASE_PERIOD}' WHERE id = %s AND status = 'active'
RETURNING id, host, token, recheck_at
"""  # noqa: S608 # built from constants
# Delete one row at a time and skip locked rows: each deletion moves the domain's links to the default domain.
_DELETE_EXPIRED = """
DELETE FROM domains_domain WHERE id = (
    SELECT id FROM domains_domain WHERE status = 'pending' AND claimed_until <= now() LIMIT 1 FOR UPDATE SKIP LOCKED
)
"""


def recheck_due() -> int:
    """Check every active domain that is due, and return their number."""
    checked = 0
    while leased := lease_due():
        for domain, checks in zip(leased, examine_all(leased), strict=True):
            record_result(domain, checks)
        checked += len(leased)
    return checked


def recheck_now(domain: Domain) -> list[Check]:
    """Check a domain immediately. For an active domain, this counts as the daily check.

    Raises TooManyAttempts. No transaction may be open.
    """
    leased = list(Domain.objects.raw(_LEASE_ONE, [domain.pk]))
    checks = examine(domain)
    for leased_domain in leased:
        record_result(leased_domain, checks)
    return checks


def delete_expired_claims() -> int:
    deleted = 0
    while execute(_DELETE_EXPIRED):
        deleted += 1
    return deleted


def lease_due() -> list[Domain]:
    return list(Domain.objects.raw(LEASE_DUE))


def record_result(domain: Domain, checks: list[Check]) -> None:
    """Update the domain unless its row has changed since the lease: the owner may have verified or deleted it."""
    problems = {f"{check.type} {check.name}": check for check in checks if check.problem}
    leased = Domain.objects.filter(pk=domain.pk, status=DomainStatus.ACTIVE, recheck_at=domain.recheck_at)
    if not problems:
        leased.update(failed_checks=0, recheck_at=Now() + PERIOD)
    elif not any(check.is_definite for check in problems.values()):
        leased.update(recheck_at=Now() + _RETRY)
    else:
        is_over = When(failed_checks__gte=STRIKES - 1, then=Value(DomainStatus.INACTIVE))
        with transaction.atomic():
            is_changed = leased.update(
                failed_checks=F("failed_checks") + 1,
                recheck_at=Now() + PERIOD,
                status=Case(is_over, default=F("status")),
            )
            statuses = Domain.objects.filter(pk=domain.pk).values_list("status", flat=True)
            status = statuses.first() if is_changed else None
        if is_changed:
            cache_versions.bump(hosts=[domain.host])
            records = ", ".join(f"{record} is {check.answer.shown}" for record, check in problems.items())
            logger.warning("The DNS check of %s failed. Its status is %s: %s.", domain.host, status, records)
