from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dns.rcode
import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from domains import services
from domains.verification import proof, resolver
from testing.dns_server import DnsServer
from testing.domains import publish, status_of, verify

HOST = "go.brand.example"
CHALLENGE = f"_shortener-challenge.{HOST}"
VERIFICATIONS = services.VERIFICATIONS

# A verification must not run inside a transaction.
pytestmark = pytest.mark.django_db(transaction=True)

Claim = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "VERIFICATIONS", services.Limit(attempts=200, seconds=3600))


def token_of(domain: dict[str, Any]) -> str:
    return domain["dnsRecords"][0]["value"]


def checks(client: APIClient, domain: dict[str, Any]) -> list[dict[str, Any]]:
    """The checks of a refused verification. Asserts that the domain is unchanged."""
    response = verify(client, domain)
    assert response.status_code == 400, response.content
    body = response.json()
    assert (body["code"], body["message"]) == (
        "dns_not_configured",
        "The domain's DNS is not configured yet.",
    )
    assert body.keys() == {"success", "message", "code", "data"}
    assert status_of(client, domain) == "pending"
    return body["data"]["checks"]


def reasons(client: APIClient, domain: dict[str, Any]) -> list[str | None]:
    return [check["reason"] for check in checks(client, domain)]


def test_both_records_make_the_domain_active(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim()
    publish(dns, domain)
    response = verify(api, domain)
    assert response.status_code == 200
    assert response.json() == {
        "success": True,
        "message": "Domain verified successfully.",
        "data": {"domain": {"_id": domain["_id"], "fullDomain": HOST, "status": "active", "verified": True}},
    }
    assert sorted(dns.queries) == [(CHALLENGE, "TXT", "UDP"), (HOST, "CNAME", "UDP")]
    assert verify(api, domain).status_code == 200


def test_a_refusal_contains_advice_for_each_record(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim()
    dns.set(HOST, "CNAME", "elsewhere.example.")
    assert checks(api, domain) == [
        {
            "type": "TXT",
            "name": CHALLENGE,
            "ok": False,
            "expected": [token_of(domain)],
            "found": [],
            "resolver": dns.name,
            "reason": "missing",
            "advice": "The record is missing: add it; if you have just done so, the old answer is still cached for 60"
            " seconds.",
        },
        {
            "type": "CNAME",
            "name": HOST,
            "ok": False,
            "expected": ["sho.rt"],
            "found": ["elsewhere.example"],
            "resolver": dns.name,
            "reason": "wrong_value",
            "advice": "The record has another value than the expected one: change it; if you have just done so, the"
            " old answer is still cached for 300 seconds.",
        },
    ]


def test_a_correct_cname_without_txt_is_refused(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim()
    dns.set(HOST, "CNAME", "sho.rt.")
    assert reasons(api, domain) == ["missing", None]


def test_a_correct_txt_without_cname_is_refused(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim()
    publish(dns, domain)
    dns.remove(HOST, "CNAME")
    assert reasons(api, domain) == [None, "missing"]


# The TXT record


def almost(token: str) -> list[str]:
    return [
        token[:-1],
        token + "0",
        token.upper(),
        f" {token}",
        f"'{token}'",
        f"token={token}",
        "",
        "\\255\\000",
    ]


def test_a_wrong_txt_value_is_reported(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim()
    publish(dns, domain)
    wrong = [value for value in almost(token_of(domain)) if value != token_of(domain)]
    for value in wrong:
        dns.set(CHALLENGE, "TXT", f'"{value}"')
        assert reasons(api, domain) == ["wrong_value", None], value
    dns.set(CHALLENGE, "TXT", *[f'"{value}"' for value in wrong])
    [txt, _] = checks(api, domain)
    assert len(txt["found"]) == len(wrong)


def test_the_token_is_found_among_other_values_and_split_strings(
    api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    domain = claim()
    publish(dns, domain)
    token = token_of(domain)
    dns.set(CHALLENGE, "TXT", '"v=spf1 -all"', f'"{token[:10]}" "{token[10:]}"', '"other"')
    assert verify(api, domain).status_code == 200


def test_a_thousand_strings_are_read_over_tcp(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim()
    publish(dns, domain)
    dns.set(CHALLENGE, "TXT", *[f'"{number:020}"' for number in range(1000)])
    [txt, cname] = checks(api, domain)
    assert (txt["reason"], cname["reason"], len(txt["found"])) == ("wrong_value", None, 10)
    dns.set(CHALLENGE, "TXT", *[f'"{number:020}"' for number in range(1000)], f'"{token_of(domain)}"')
    assert verify(api, domain).status_code == 200
    assert (CHALLENGE, "TXT", "TCP") in dns.queries


def test_responses_over_64_kb_are_refused(
    api: APIClient, dns: DnsServer, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = claim()
    publish(dns, domain)
    # Two responses of a thousand strings: one message cannot hold more.
    monkeypatch.setattr("domains.verification.resolver.MAX_BYTES", 20_000)
    dns.set(CHALLENGE, "TXT", *[f'"{number:020}"' for number in range(1000)], f'"{token_of(domain)}"')
    assert reasons(api, domain)[0] == "too_large"


def test_a_wildcard_is_an_alias_and_no_proof(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim()
    dns.set("*.brand.example", "CNAME", "sho.rt.")
    dns.set("sho.rt", "TXT", f'"{token_of(domain)}"')
    [txt, cname] = checks(api, domain)
    assert (txt["reason"], cname["reason"]) == ("alias", None)
    assert txt["found"] == ["sho.rt", token_of(domain)]
    dns.set(CHALLENGE, "TXT", f'"{token_of(domain)}"')
    # The domain's own record exists now, so the wildcard no longer covers the challenge name below it (RFC 4592).
    dns.set(HOST, "CNAME", "sho.rt.")
    assert verify(api, domain).status_code == 200


# The address


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ({HOST: "one.example.", "one.example": "two.example.", "two.example": "sho.rt."}, None),
        ({HOST: "SHO.RT."}, None),
        ({HOST: "one.example."}, "wrong_value"),
        ({HOST: "sho.rt.one.example."}, "wrong_value"),
        ({HOST: "notsho.rt."}, "wrong_value"),
        ({HOST: f"{HOST}."}, "cname_loop"),
        ({HOST: "one.example.", "one.example": "two.example.", "two.example": f"{HOST}."}, "cname_loop"),
        ({HOST: "one.example.", "one.example": "one.example."}, "cname_loop"),
        ({HOST: "n0.example.", **{f"n{i}.example": f"n{i + 1}.example." for i in range(20)}}, "cname_loop"),
        ({HOST: f"{HOST}.cdn.cloudflare.net."}, "proxied"),
        ({HOST: "d1234.cloudfront.net."}, "proxied"),
    ],
)
def test_cname_chains(
    api: APIClient, dns: DnsServer, claim: Claim, records: dict[str, str], reason: str | None
) -> None:
    domain = claim()
    publish(dns, domain)
    for name, target in records.items():
        dns.set(name, "CNAME", target)
    if reason is None:
        assert verify(api, domain).status_code == 200
    else:
        assert reasons(api, domain) == [None, reason]


@pytest.mark.parametrize(
    ("addresses", "reason"),
    [
        (["A 104.16.1.1"], "proxied"),
        (["AAAA 2606:4700::1"], "proxied"),
        (["A 198.51.100.1"], "wrong_value"),
        (["A 192.0.2.7", "A 198.51.100.1"], "wrong_value"),
        (["A 192.0.2.7", "AAAA 2001:db8::bad"], "wrong_value"),
        (["A 192.0.2.7"], None),
        (["AAAA 2001:db8::7"], None),
        (["A 192.0.2.7", "AAAA 2001:db8::7"], None),
        (["CNAME sho.rt."], "cname_at_apex"),
        (["CNAME other.example."], "wrong_value"),
        ([], "missing"),
    ],
)  # fmt: skip
def test_an_apex_needs_the_service_addresses(
    api: APIClient,
    dns: DnsServer,
    claim: Claim,
    settings: Settings,
    addresses: list[str],
    reason: str | None,
) -> None:
    settings.EDGE_ADDRESSES = ["192.0.2.7", "2001:db8::7"]
    domain = claim("brand.example")
    dns.set("_shortener-challenge.brand.example", "TXT", f'"{token_of(domain)}"')
    for address in addresses:
        kind, value = address.split()
        dns.set("brand.example", kind, *dns.records.get(("brand.example", kind), []), value)
    if reason is None:
        assert verify(api, domain).status_code == 200
    else:
        [txt, address_check] = checks(api, domain)
        assert (txt["reason"], address_check["reason"], address_check["type"]) == (None, reason, "A/AAAA")
        assert address_check["expected"] == ["192.0.2.7", "2001:db8::7"]


@pytest.mark.parametrize("addresses", [["192.0.2.7"], []])
def test_a_flattened_cname_is_accepted(
    api: APIClient, dns: DnsServer, claim: Claim, settings: Settings, addresses: list[str]
) -> None:
    settings.EDGE_ADDRESSES = addresses
    domain = claim()
    publish(dns, domain)
    dns.remove(HOST, "CNAME")
    dns.set(HOST, "A", "192.0.2.7")
    if addresses:
        assert verify(api, domain).status_code == 200
    else:
        assert reasons(api, domain) == [None, "wrong_value"]


def test_an_unregistered_domain_is_reported(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim("go.nobody.example")
    [txt, cname] = checks(api, domain)
    assert (txt["reason"], cname["reason"]) == ("no_such_domain", "no_such_domain")
    assert cname["advice"].startswith("The domain nobody.example does not exist in DNS")
    assert txt["advice"].startswith("The domain nobody.example does not exist in DNS")


# Resolver failures


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
    monkeypatch.setattr("domains.verification.resolver._system_resolvers", list)
    for check in checks(api, domain):
        assert (check["reason"], check["resolver"]) == ("resolver_failed", "none")


# Limits


def test_verifications_are_limited_to_ten_per_hour(
    api: APIClient, dns: DnsServer, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "VERIFICATIONS", VERIFICATIONS)
    domain, other = claim(), claim("other.brand.example")
    for _ in range(10):
        assert verify(api, domain).status_code == 400
    query_count = len(dns.queries)
    response = verify(api, domain)
    assert (response.status_code, response.json()["code"]) == (429, "rate_limited")
    assert response["RateLimit-Policy"] == "10;w=3600"
    assert (response["RateLimit-Limit"], response["RateLimit-Remaining"]) == ("10", "0")
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
    monkeypatch.setattr(proof, "_SLOT_SECONDS", 0)
    assert proof.CHECK_SLOTS.acquire(timeout=0)
    assert proof.CHECK_SLOTS.acquire(timeout=0)
    try:
        response = verify(api, domain)
        assert (response.status_code, response["Retry-After"]) == (429, "3")
        assert response["RateLimit-Policy"] == "2;w=3"
        assert dns.queries == []
    finally:
        proof.CHECK_SLOTS.release(2)
    assert verify(api, domain).status_code == 200
