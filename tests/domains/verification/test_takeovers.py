"""Nine attempts to take over a name or to keep a lost one, and the resulting states.

Alice had a name first. Mallory wants it, by right or not.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from rest_framework.test import APIClient

from domains.models import Domain
from domains.verification import delete_expired_claims, recheck_due
from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish, status_of, verify

HOST = "go.brand.example"
CHALLENGE = f"_shortener-challenge.{HOST}"

pytestmark = pytest.mark.django_db(transaction=True)

Claim = Callable[..., dict[str, Any]]


def delete(client: APIClient, domain: dict[str, Any]) -> None:
    assert client.delete(f"/api/domains/{domain['_id']}").status_code == 200


def days_pass(days: int) -> None:
    for _ in range(days):
        by = timedelta(days=1)
        Domain.objects.update(recheck_at=F("recheck_at") - by, claimed_until=F("claimed_until") - by)
        delete_expired_claims()
        recheck_due()


def test_1_pointing_a_name_here_without_proof_grants_nothing(
    strange_api: APIClient, dns: DnsServer, claim: Claim, visitor: Client
) -> None:
    dns.set(HOST, "CNAME", "sho.rt.")
    other_claim = claim(client=strange_api)
    assert verify(strange_api, other_claim).status_code == 400
    assert status_of(strange_api, other_claim) == "pending"
    assert visitor.get("/anything", headers={"host": HOST}).status_code == 404
    days_pass(7)
    assert not Domain.objects.exists()


def test_2_a_name_that_still_points_here_does_not_verify_the_next_claim(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim, active: dict[str, Any]
) -> None:
    delete(api, active)
    dns.remove(CHALLENGE, "TXT")
    other_claim = claim(client=strange_api)
    assert verify(strange_api, other_claim).status_code == 400
    assert status_of(strange_api, other_claim) == "pending"


def test_3_an_old_proof_in_dns_does_not_verify_a_new_claim(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim, active: dict[str, Any]
) -> None:
    delete(api, active)
    other_claim, again = claim(client=strange_api), claim()
    for client, domain in ((strange_api, other_claim), (api, again)):
        [txt, address] = verify(client, domain).json()["data"]["checks"]
        assert (txt["reason"], address["ok"]) == ("wrong_value", True)
        assert status_of(client, domain) == "pending"


def test_4_a_new_proof_lifts_the_quarantine_of_a_deleted_domain(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim, active: dict[str, Any]
) -> None:
    delete(api, active)
    other_claim = claim(client=strange_api)
    publish(dns, other_claim)
    assert verify(strange_api, other_claim).status_code == 200
    assert status_of(strange_api, other_claim) == "active"
    again = claim()
    publish(dns, again)
    response = verify(api, again)
    assert (response.status_code, response.json()["code"]) == (409, "domain_taken")
    assert status_of(api, again) == "pending"


def test_5_a_squatters_claim_blocks_no_other_claim_and_lapses(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    other_claim = claim(client=strange_api)
    days_pass(1)
    own_claim = claim()
    publish(dns, own_claim)
    assert verify(api, own_claim).status_code == 200
    response = verify(strange_api, other_claim)
    assert (response.status_code, response.json()["code"]) == (409, "domain_taken")
    days_pass(6)
    assert strange_api.get(f"/api/domains/{other_claim['_id']}").status_code == 404
    assert status_of(api, own_claim) == "active"


def test_6_an_abandoned_name_is_deactivated_permanently(
    api: APIClient,
    strange_api: APIClient,
    dns: DnsServer,
    claim: Claim,
    active: dict[str, Any],
    visitor: Client,
) -> None:
    dns.records.clear()
    dns.zones.remove("brand.example")
    days_pass(3)
    assert status_of(api, active) == "inactive"
    # A new owner without proof. The name used to point here.
    dns.zones.append("brand.example")
    dns.set(HOST, "CNAME", "sho.rt.")
    other_claim = claim(client=strange_api)
    assert verify(strange_api, other_claim).status_code == 400
    days_pass(2)
    assert (status_of(api, active), status_of(strange_api, other_claim)) == ("inactive", "pending")
    assert visitor.get("/anything", headers={"host": HOST}).status_code == 404


def test_7_a_transferred_name_goes_to_the_account_that_dns_proves(
    api: APIClient,
    strange_api: APIClient,
    dns: DnsServer,
    claim: Claim,
    active: dict[str, Any],
    make_link: Callable[..., dict[str, Any]],
    visitor: Client,
) -> None:
    link = make_link(domainId=active["_id"])
    dns.records.clear()
    other_claim = claim(client=strange_api)
    publish(dns, other_claim)
    # Not at once: DNS may be wrong for a day.
    assert verify(strange_api, other_claim).status_code == 409
    days_pass(3)
    assert verify(strange_api, other_claim).status_code == 200
    assert (status_of(api, active), status_of(strange_api, other_claim)) == ("pending", "active")
    assert visitor.get(f"/{link['shortCode']}", headers={"host": HOST}).status_code == 404
    # Alice's domain is now an ordinary claim. When it lapses, her link moves to the default domain.
    assert verify(api, active).status_code == 409
    days_pass(7)
    assert api.get(f"/api/domains/{active['_id']}").status_code == 404
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    assert status_of(strange_api, other_claim) == "active"


def test_8_a_name_below_a_proven_one_needs_a_proof_of_its_own(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    parent = claim("brand.example")
    publish(dns, parent)
    assert verify(api, parent).status_code == 200
    # All names of the zone point here and contain Alice's token.
    dns.set("*.brand.example", "CNAME", "sho.rt.")
    below, other_claim = claim("shop.brand.example"), claim("shop.brand.example", strange_api)
    for client, domain in ((api, below), (strange_api, other_claim)):
        assert verify(client, domain).json()["data"]["checks"][0]["reason"] == "alias"
        assert status_of(client, domain) == "pending"
    dns.set("*.brand.example", "TXT", *dns.records["_shortener-challenge.brand.example", "TXT"])
    dns.remove("*.brand.example", "CNAME")
    assert verify(strange_api, other_claim).json()["data"]["checks"][0]["reason"] == "wrong_value"
    # Control of the zone allows transferring a name.
    publish(dns, other_claim)
    assert verify(strange_api, other_claim).status_code == 200
    assert (status_of(api, parent), status_of(strange_api, other_claim)) == ("active", "active")


def test_9_a_proof_behind_a_cname_does_not_verify_the_claim(
    strange_api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    """A wildcard still points to an abandoned name, which Mallory now owns."""
    dns.set("*.brand.example", "CNAME", "abandoned.example.")
    other_claim = claim("any.brand.example", strange_api)
    dns.set("abandoned.example", "TXT", f'"{other_claim["dnsRecords"][0]["value"]}"')
    dns.set("any.brand.example", "CNAME", "sho.rt.")
    [txt, address] = verify(strange_api, other_claim).json()["data"]["checks"]
    assert (txt["ok"], address["ok"]) == (False, True)
    dns.remove("any.brand.example", "CNAME")
    [txt, _] = verify(strange_api, other_claim).json()["data"]["checks"]
    assert txt["reason"] == "alias"
    assert status_of(strange_api, other_claim) == "pending"
