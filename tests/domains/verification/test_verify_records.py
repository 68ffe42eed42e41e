"""Which records prove that a domain is an alias: chains, wildcards, apexes."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from testing.domains.dns_server import DnsServer
from testing.domains.domains import as_zone_file, publish, verify
from tests.domains.verification.verifying import CHALLENGE, HOST, Claim, checks, reasons, token_of
from tests.domains.verification.verifying import unlimited as unlimited

# A verification must not run inside a transaction.
pytestmark = pytest.mark.django_db(transaction=True)


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


@pytest.mark.parametrize(
    ("addresses", "advice"),
    [
        (
            ["A 192.0.2.7", "A 203.0.113.9", "AAAA 2001:db8::bad"],
            "Remove the A record 203.0.113.9 and the AAAA record 2001:db8::bad",
        ),
        (
            ["A 203.0.113.9"],
            "Remove the A record 203.0.113.9, and add the A record 192.0.2.7 and the AAAA record 2001:db8::7",
        ),
        (
            ["CNAME other.example."],
            "Remove the CNAME record other.example, and add the A record 192.0.2.7 and the AAAA record 2001:db8::7",
        ),
    ],
)
def test_advice_names_the_records_to_remove_and_to_add(
    api: APIClient, dns: DnsServer, claim: Claim, settings: Settings, addresses: list[str], advice: str
) -> None:
    settings.EDGE_ADDRESSES = ["192.0.2.7", "2001:db8::7"]
    domain = claim("brand.example")
    for address in addresses:
        kind, value = address.split()
        dns.set("brand.example", kind, *dns.records.get(("brand.example", kind), []), value)
    [_, check] = checks(api, domain)
    assert check["advice"].startswith(f"{advice}; ")


def test_another_text_record_may_stay(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim()
    dns.set(CHALLENGE, "TXT", '"something else"')
    [txt, _] = checks(api, domain)
    assert (txt["remove"], txt["add"]) == ([], [{"type": "TXT", "value": token_of(domain)}])


@pytest.mark.parametrize("host", ["go.brand.example", "brand.example"])
def test_a_suffix_that_the_dns_panel_added_is_recognised(
    host: str, api: APIClient, dns: DnsServer, claim: Claim, settings: Settings
) -> None:
    settings.EDGE_ADDRESSES = ["192.0.2.7"]
    domain = claim(host)
    challenge, address = domain["dnsRecords"]
    dns.zones = ["brand.example"]
    for record in domain["dnsRecords"]:
        dns.set(f"{record['name']}.brand.example", record["type"], as_zone_file(record))
    verdicts = checks(api, domain)
    assert [verdict["reason"] for verdict in verdicts] == ["doubled", "doubled"]
    names = [record["relativeName"] for record in domain["dnsRecords"]]
    assert names == (
        ["_shortener-challenge.go", "go"] if host.startswith("go") else ["_shortener-challenge", "@"]
    )
    assert verdicts[0]["advice"].startswith(
        f"The record is at {challenge['name']}.brand.example, as the DNS panel adds the domain itself: enter"
        f" {names[0]}"
    )
    assert address["name"] == host
