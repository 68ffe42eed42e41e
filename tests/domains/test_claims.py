from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db.models import F
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import CLAIM_DAYS, PAGES, Domain
from tests.domains.claims import names

# A repeated claim makes a statement fail, which would break the transaction of an ordinary test.
pytestmark = pytest.mark.django_db(transaction=True)

NOT_A_STRING = [5, 0, 1.5, True, False, [], ["go.brand.example"], {}, {"domain": "x"}]


def days_pass(days: int) -> None:
    Domain.objects.update(claimed_until=F("claimed_until") - timedelta(days=days))


def test_a_claim_is_pending_and_says_what_to_enter_into_dns(api: APIClient) -> None:
    response = api.post("/api/domains", {"domain": "Brand.example", "subdomain": "go"})
    assert response.status_code == 201
    body = response.json()
    domain = body["data"]["domain"]
    token = domain["dnsRecords"][0]["value"]
    assert re.fullmatch(r"[0-9a-f]{32}", token)
    assert body == {
        "success": True,
        "message": "Domain added successfully.",
        "data": {
            "domain": {
                "_id": domain["_id"],
                "domain": "brand.example",
                "subdomain": "go",
                "fullDomain": "go.brand.example",
                "status": "pending",
                "verified": False,
                "createdAt": domain["createdAt"],
                "verifyBefore": domain["verifyBefore"],
                "nextCheckAt": None,
                "dnsRecords": [
                    {
                        "type": "TXT",
                        "name": "_shortener-challenge.go.brand.example",
                        "value": token,
                        "relativeName": "_shortener-challenge.go",
                    },
                    {"type": "CNAME", "name": "go.brand.example", "value": "sho.rt", "relativeName": "go"},
                ],
            }
        },
    }
    settings = ("rootUrl", "notFoundUrl", "expiredUrl", "codeLength", "codeAlphabet")
    no_settings = {**dict.fromkeys(settings), "pages": dict.fromkeys(PAGES)}
    no_settings["appLinks"] = {"apple": None, "android": []}
    shown = api.get(f"/api/domains/{domain['_id']}").json()
    assert shown == {"success": True, "data": {"domain": domain | no_settings}}
    listed = {key: value for key, value in domain.items() if key != "dnsRecords"}
    assert api.get("/api/domains").json() == {"success": True, "data": {"domains": [listed]}}


@pytest.mark.parametrize(
    ("base_host", "edge", "host", "records"),
    [
        ("sho.rt", [], "brand.example", [("CNAME", "sho.rt")]),
        ("sho.rt", ["192.0.2.7"], "go.brand.example", [("CNAME", "sho.rt")]),
        (
            "sho.rt",
            ["192.0.2.7", "2001:db8::7"],
            "brand.example",
            [("A", "192.0.2.7"), ("AAAA", "2001:db8::7")],
        ),
        ("192.0.2.8", [], "go.brand.example", [("A", "192.0.2.8")]),
        ("[2001:db8::8]", [], "brand.example", [("AAAA", "2001:db8::8")]),
        ("192.0.2.8", ["192.0.2.7"], "go.brand.example", [("A", "192.0.2.7")]),
    ],
)
def test_required_address_records(
    settings: Settings,
    claim: Callable[..., dict[str, Any]],
    base_host: str,
    edge: list[str],
    host: str,
    records: list[tuple[str, str]],
) -> None:
    settings.BASE_HOST, settings.EDGE_ADDRESSES = base_host, edge
    address_records = claim(host)["dnsRecords"][1:]
    shown = [(record["type"], record["name"], record["value"]) for record in address_records]
    assert shown == [(kind, host, value) for kind, value in records]


def test_every_claim_has_a_token_of_its_own(
    api: APIClient, strange_api: APIClient, claim: Callable[..., dict[str, Any]]
) -> None:
    claims = [claim(), claim("other.brand.example"), claim(client=strange_api)]
    assert api.delete(f"/api/domains/{claims[0]['_id']}").status_code == 200
    claims.append(claim())
    assert len({created["dnsRecords"][0]["value"] for created in claims}) == 4


def test_domains_are_listed_from_the_oldest_and_only_to_their_owner(
    api: APIClient, strange_api: APIClient, claim: Callable[..., dict[str, Any]]
) -> None:
    claim("zebra.example")
    claim("apple.example")
    claim("apple.example", strange_api)
    assert names(api) == ["zebra.example", "apple.example"]
    assert names(strange_api) == ["apple.example"]
    assert api.get("/api/urls/stats").json()["customDomains"] == 2


@pytest.mark.parametrize("domains", [1, 3])
def test_the_list_takes_one_query_beside_the_credentials(
    api: APIClient, claim: Callable[..., dict[str, Any]], django_assert_num_queries: Any, domains: int
) -> None:
    for number in range(domains):
        claim(f"brand{number}.example")
    with django_assert_num_queries(2):
        assert len(names(api)) == domains


@pytest.mark.parametrize("spelling", ["go.brand.example", "GO.brand.example.", "\uff47\uff4f.brand.example"])
def test_a_repeated_claim_is_refused(
    api: APIClient, claim: Callable[..., dict[str, Any]], spelling: str
) -> None:
    claim("brand.example", subdomain="go")
    response = api.post("/api/domains", {"domain": spelling})
    assert (response.status_code, response.json()["code"]) == (409, "domain_exists")
    assert names(api) == ["go.brand.example"]


def test_a_claim_lapses_after_seven_days_and_can_be_made_anew(
    api: APIClient, claim: Callable[..., dict[str, Any]]
) -> None:
    domain = claim()
    days_pass(6)
    assert names(api) == ["go.brand.example"]
    days_pass(1)
    assert names(api) == []
    assert api.get("/api/urls/stats").json()["customDomains"] == 0
    for method, path in [("get", ""), ("post", "/verify"), ("delete", "")]:
        assert getattr(api, method)(f"/api/domains/{domain['_id']}{path}").status_code == 404
    assert claim()["_id"] != domain["_id"]
    assert Domain.objects.count() == 1


# Request bodies


@pytest.mark.parametrize("value", NOT_A_STRING, ids=repr)
def test_both_fields_are_strings(api: APIClient, value: Any) -> None:
    response = api.post("/api/domains", {"domain": value, "subdomain": value})
    assert response.status_code == 400
    errors = response.json()["errors"]
    assert [(error["field"], error["code"]) for error in errors] == [
        ("domain", "invalid"),
        ("subdomain", "invalid"),
    ]
    assert not Domain.objects.exists()


@pytest.mark.parametrize(
    ("body", "code"), [({}, "required"), ({"domain": None}, "null"), ({"subdomain": "go"}, "required")]
)
def test_the_domain_is_required(api: APIClient, body: dict[str, Any], code: str) -> None:
    response = api.post("/api/domains", body)
    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [("domain", code)]


@pytest.mark.parametrize("subdomain", [None, ""])
def test_a_missing_subdomain_is_null(api: APIClient, subdomain: str | None) -> None:
    response = api.post("/api/domains", {"domain": "brand.example", "subdomain": subdomain})
    assert response.status_code == 201
    assert response.json()["data"]["domain"]["subdomain"] is None


def test_read_only_fields_are_ignored(api: APIClient, alice: NewAccount) -> None:
    foreign = {"status": "active", "verified": True, "token": "0" * 32, "host": "x", "owner": 1, "_id": "x"}
    response = api.post("/api/domains", {"domain": "brand.example", **foreign})
    assert response.status_code == 201
    domain = Domain.objects.get()
    assert (domain.status, domain.host, domain.owner_id) == ("pending", "brand.example", alice.user.pk)
    assert domain.token != "0" * 32


def test_pending_domain_has_its_deadline(claim: Callable[..., dict[str, Any]]) -> None:
    domain = claim()
    created = datetime.fromisoformat(domain["createdAt"])
    assert datetime.fromisoformat(domain["verifyBefore"]) == created + timedelta(days=CLAIM_DAYS)
    assert domain["nextCheckAt"] is None


@pytest.mark.parametrize("status", ["active", "inactive"])
def test_only_active_domain_has_a_next_check(api: APIClient, active: dict[str, Any], status: str) -> None:
    Domain.objects.update(status=status)
    stored = Domain.objects.get()
    [listed] = api.get("/api/domains").json()["data"]["domains"]
    read = api.get(f"/api/domains/{active['_id']}").json()["data"]["domain"]
    for shown in (listed, read):
        assert shown["verifyBefore"] is None
        next_check = shown["nextCheckAt"]
        if status == "active":
            assert datetime.fromisoformat(next_check) == stored.recheck_at
        else:
            assert next_check is None
