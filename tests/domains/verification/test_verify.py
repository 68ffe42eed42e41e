from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish, verify
from tests.domains.verification.verifying import CHALLENGE, HOST, Claim, checks, reasons, token_of
from tests.domains.verification.verifying import unlimited as unlimited

# A verification must not run inside a transaction.
pytestmark = pytest.mark.django_db(transaction=True)


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
            "remove": [],
            "add": [],
        },
        {
            "type": "CNAME",
            "name": HOST,
            "ok": False,
            "expected": ["sho.rt"],
            "found": ["elsewhere.example"],
            "resolver": dns.name,
            "reason": "wrong_value",
            "advice": "Remove the CNAME record elsewhere.example, and add the CNAME record sho.rt; if you have just"
            " done so, the old answer is still cached for 300 seconds.",
            "remove": [{"type": "CNAME", "value": "elsewhere.example"}],
            "add": [{"type": "CNAME", "value": "sho.rt"}],
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
    monkeypatch.setattr("common.resolver.MAX_BYTES", 20_000)
    dns.set(CHALLENGE, "TXT", *[f'"{number:020}"' for number in range(1000)], f'"{token_of(domain)}"')
    assert reasons(api, domain)[0] == "too_large"


def test_an_unregistered_domain_is_reported(api: APIClient, dns: DnsServer, claim: Claim) -> None:
    domain = claim("go.nobody.example")
    [txt, cname] = checks(api, domain)
    assert (txt["reason"], cname["reason"]) == ("no_such_domain", "no_such_domain")
    assert cname["advice"].startswith("The domain nobody.example does not exist in DNS")
    assert txt["advice"].startswith("The domain nobody.example does not exist in DNS")
