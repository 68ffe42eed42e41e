"""Nine ways to take over a name, or to keep one that is not one's own any more; in which state each ends.

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
from domains.recheck import forget_lapsed_claims, recheck_due
from tests.domains.conftest import publish, status_of, verify
from tests.domains.dns_server import DnsServer

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
        forget_lapsed_claims()
        recheck_due()


def test_1_who_points_a_name_here_without_proving_it_has_nothing(
    strange_api: APIClient, dns: DnsServer, claim: Claim, visitor: Client
) -> None:
    dns.set(HOST, "CNAME", "sho.rt.")
    theirs = claim(client=strange_api)
    assert verify(strange_api, theirs).status_code == 400
    assert status_of(strange_api, theirs) == "pending"
    assert visitor.get("/anything", headers={"host": HOST}).status_code == 404
    days_pass(7)
    assert not Domain.objects.exists()


def test_2_a_name_that_still_points_here_is_not_the_next_claimants(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim, active: dict[str, Any]
) -> None:
    delete(api, active)
    dns.remove(CHALLENGE, "TXT")
    theirs = claim(client=strange_api)
    assert verify(strange_api, theirs).status_code == 400
    assert status_of(strange_api, theirs) == "pending"


def test_3_a_proof_that_was_left_in_dns_proves_no_new_claim(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim, active: dict[str, Any]
) -> None:
    delete(api, active)
    theirs, again = claim(client=strange_api), claim()
    for client, domain in ((strange_api, theirs), (api, again)):
        [txt, address] = verify(client, domain).json()["data"]["checks"]
        assert (txt["reason"], address["ok"]) == ("wrong_value", True)
        assert status_of(client, domain) == "pending"


def test_4_a_new_proof_lifts_the_quarantine_of_a_deleted_domain(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim, active: dict[str, Any]
) -> None:
    delete(api, active)
    theirs = claim(client=strange_api)
    publish(dns, theirs)
    assert verify(strange_api, theirs).status_code == 200
    assert status_of(strange_api, theirs) == "active"
    again = claim()
    publish(dns, again)
    response = verify(api, again)
    assert (response.status_code, response.json()["code"]) == (409, "domain_taken")
    assert status_of(api, again) == "pending"


def test_5_a_squatters_claim_excludes_nobody_and_lapses(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    theirs = claim(client=strange_api)
    days_pass(1)
    mine = claim()
    publish(dns, mine)
    assert verify(api, mine).status_code == 200
    response = verify(strange_api, theirs)
    assert (response.status_code, response.json()["code"]) == (409, "domain_taken")
    days_pass(6)
    assert strange_api.get(f"/api/domains/{theirs['_id']}").status_code == 404
    assert status_of(api, mine) == "active"


def test_6_an_abandoned_name_is_switched_off_and_stays_so(  # noqa: PLR0917 # fixtures
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
    # Registered anew by somebody who knows that it used to lead here, but has no proof.
    dns.zones.append("brand.example")
    dns.set(HOST, "CNAME", "sho.rt.")
    theirs = claim(client=strange_api)
    assert verify(strange_api, theirs).status_code == 400
    days_pass(2)
    assert (status_of(api, active), status_of(strange_api, theirs)) == ("inactive", "pending")
    assert visitor.get("/anything", headers={"host": HOST}).status_code == 404


def test_7_a_name_that_has_changed_hands_goes_to_whom_dns_names(  # noqa: PLR0917 # fixtures
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
    theirs = claim(client=strange_api)
    publish(dns, theirs)
    # Not at once: DNS may be wrong for a day.
    assert verify(strange_api, theirs).status_code == 409
    days_pass(3)
    assert verify(strange_api, theirs).status_code == 200
    assert (status_of(api, active), status_of(strange_api, theirs)) == ("pending", "active")
    assert visitor.get(f"/{link['shortCode']}", headers={"host": HOST}).status_code == 404
    # Alice's claim is one like any other now; when it lapses, her link comes home.
    assert verify(api, active).status_code == 409
    days_pass(7)
    assert api.get(f"/api/domains/{active['_id']}").status_code == 404
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    assert status_of(strange_api, theirs) == "active"


def test_8_a_name_below_a_proven_one_needs_a_proof_of_its_own(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    parent = claim("brand.example")
    publish(dns, parent)
    assert verify(api, parent).status_code == 200
    # All names of the zone lead here, and hold Alice's token.
    dns.set("*.brand.example", "CNAME", "sho.rt.")
    below, theirs = claim("shop.brand.example"), claim("shop.brand.example", strange_api)
    for client, domain in ((api, below), (strange_api, theirs)):
        assert verify(client, domain).json()["data"]["checks"][0]["reason"] == "alias"
        assert status_of(client, domain) == "pending"
    dns.set("*.brand.example", "TXT", *dns.records["_shortener-challenge.brand.example", "TXT"])
    dns.remove("*.brand.example", "CNAME")
    assert verify(strange_api, theirs).json()["data"]["checks"][0]["reason"] == "wrong_value"
    # Who may write into the zone may give a name away.
    publish(dns, theirs)
    assert verify(strange_api, theirs).status_code == 200
    assert (status_of(api, parent), status_of(strange_api, theirs)) == ("active", "active")


def test_9_a_proof_at_the_end_of_an_alias_is_the_alias_owners(
    strange_api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    """A wildcard that still leads to a name that was let go, and is Mallory's now."""
    dns.set("*.brand.example", "CNAME", "abandoned.example.")
    theirs = claim("any.brand.example", strange_api)
    dns.set("abandoned.example", "TXT", f'"{theirs["dnsRecords"][0]["value"]}"')
    dns.set("any.brand.example", "CNAME", "sho.rt.")
    [txt, address] = verify(strange_api, theirs).json()["data"]["checks"]
    assert (txt["ok"], address["ok"]) == (False, True)
    dns.remove("any.brand.example", "CNAME")
    [txt, _] = verify(strange_api, theirs).json()["data"]["checks"]
    assert txt["reason"] == "alias"
    assert status_of(strange_api, theirs) == "pending"
