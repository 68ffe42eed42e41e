"""Failures of resolvers, and the limits on verifications."""

from __future__ import annotations

from typing import Any

import dns.rcode
import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from common import resolver
from domains import services, verification
from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish, verify
from tests.domains.verification.verifying import Claim, checks
from tests.domains.verification.verifying import unlimited as unlimited

VERIFICATIONS = services.VERIFICATIONS
# A verification must not run inside a transaction.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("trouble", "reason", "advice"),
    [
        ({"silent": True}, "timed_out", "The resolver timed out"),
        ({"delay": 60.0}, "timed_out", "The resolver timed out"),
        ({"garbage": True}, "timed_out", "The resolver timed out"),
        ({"rcode": dns.rcode.SERVFAIL}, "resolver_failed", "The resolver failed (SERVFAIL)"),
        ({"rcode": dns.rcode.REFUSED}, "resolver_failed", "The resolver failed (REFUSED)"),
        ({"rcode": dns.rcode.FORMERR}, "resolver_failed", "The resolver failed (FORMERR)"),
        ({"rcode": dns.rcode.NXDOMAIN}, "no_such_domain", "The domain brand.example does not exist"),
        ({"truncate": True, "silent_tcp": True}, "timed_out", "The resolver timed out"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_resolver_failures_are_reported(
    api: APIClient,
    dns: DnsServer,
    claim: Claim,
    monkeypatch: pytest.MonkeyPatch,
    trouble: dict[str, Any],
    reason: str,
    advice: str,
) -> None:
    if reason == "timed_out":
        monkeypatch.setattr(resolver, "DEADLINE_SECONDS", 0.3)
    domain = claim()
    publish(dns, domain)
    for name, value in trouble.items():
        setattr(dns, name, value)
    for check in checks(api, domain):
        assert (check["reason"], check["ok"], check["resolver"]) == (reason, False, dns.name)
        assert check["advice"].startswith(advice)


def test_a_truncated_response_is_retried_over_tcp(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim()
    publish(dns, domain)
    dns.truncate = True
    assert verify(api, domain).status_code == 200
    assert {transport for _, _, transport in dns.queries} == {"UDP", "TCP"}


def test_a_slow_first_response_is_accepted(
    api: APIClient, dns: DnsServer, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "TRY_SECONDS", 0.2)
    domain = claim()
    publish(dns, domain)
    dns.delay = 0.5
    assert verify(api, domain).status_code == 200


def test_the_second_resolver_is_queried_if_the_first_fails(
    api: APIClient, dns: DnsServer, claim: Claim, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "TRY_SECONDS", 0.3)
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", 10.0)
    domain = claim()
    publish(dns, domain)
    settings.DNS_RESOLVERS = [("127.0.0.1", 9), *settings.DNS_RESOLVERS]
    assert verify(api, domain).status_code == 200


@pytest.mark.slow
def test_a_slow_second_resolver_has_time_in_the_second_round(
    api: APIClient, dns: DnsServer, claim: Claim, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "TRY_SECONDS", 0.1)
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", 4.0)
    domain = claim()
    publish(dns, domain)
    dns.delay = 0.5
    settings.DNS_RESOLVERS = [("127.0.0.1", 9), *settings.DNS_RESOLVERS]
    assert verify(api, domain).status_code == 200


def test_verification_without_a_resolver_fails(
    api: APIClient, claim: Claim, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = claim()
    settings.DNS_RESOLVERS = []
    monkeypatch.setattr("common.resolver.system_resolvers", list)
    for check in checks(api, domain):
        assert (check["reason"], check["resolver"]) == ("resolver_failed", "none")


def test_verifications_are_limited_to_sixty_per_hour(
    api: APIClient, dns: DnsServer, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "VERIFICATIONS", VERIFICATIONS)
    domain, other = claim(), claim("other.brand.example")
    for _ in range(60):
        assert verify(api, domain).status_code == 400
    query_count = len(dns.queries)
    response = verify(api, domain)
    assert (response.status_code, response.json()["code"]) == (429, "rate_limited")
    assert response["RateLimit-Policy"] == '"attempts";q=60;w=3600'
    assert (response["RateLimit-Limit"], response["RateLimit-Remaining"]) == ("60", "0")
    assert 3500 < int(response["Retry-After"]) == response.json()["retryAfter"] <= 3600
    assert len(dns.queries) == query_count
    assert verify(api, other).status_code == 400
    # A new claim to the same name shares its limit.
    assert api.delete(f"/api/domains/{domain['_id']}").status_code == 200
    assert verify(api, claim()).status_code == 429


def test_number_of_concurrent_verifications_is_limited(
    api: APIClient, dns: DnsServer, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = claim()
    publish(dns, domain)
    monkeypatch.setattr(verification, "PLACE_SECONDS", 0)
    assert verification.CHECK_PLACES.acquire(timeout=0)
    assert verification.CHECK_PLACES.acquire(timeout=0)
    try:
        response = verify(api, domain)
        assert (response.status_code, response["Retry-After"]) == (429, "3")
        assert response["RateLimit-Policy"] == '"attempts";q=2;w=3'
        assert dns.queries == []
    finally:
        verification.CHECK_PLACES.release(2)
    assert verify(api, domain).status_code == 200
