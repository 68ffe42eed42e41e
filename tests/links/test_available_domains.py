from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link

URL = "https://example.com/page"
BASE = {
    "id": "base",
    "fullDomain": "sho.rt",
    "domain": "sho.rt",
    "subdomain": None,
    "isDefault": True,
    "shortUrl": "http://sho.rt",
    "status": "active",
    "isSystemDomain": True,
}


def available(api: APIClient) -> list[dict[str, Any]]:
    response = api.get("/api/urls/domains/available")
    assert response.status_code == 200, response.content
    assert response.json().keys() == {"success", "data"}
    assert response.json()["success"] is True
    assert response.json()["data"].keys() == {"domains"}
    return response.json()["data"]["domains"]


def domain_of(account: NewAccount, host: str, status: str = "active", subdomain: str | None = None) -> Domain:
    name = host.removeprefix(f"{subdomain}.") if subdomain else host
    return Domain.objects.create(
        owner=account.workspace, domain=name, subdomain=subdomain, host=host, status=status
    )


def create(api: APIClient, domain_id: object, **fields: Any) -> Any:
    return api.post("/api/urls", {"originalUrl": URL, "domainId": domain_id, **fields})


# The list


def test_the_default_domain_is_always_listed(api: APIClient) -> None:
    assert available(api) == [BASE]


def test_active_domains_follow_the_default_domain_in_creation_order(
    api: APIClient, alice: NewAccount
) -> None:
    apex = domain_of(alice, "zebra.example")
    sub = domain_of(alice, "go.brand.example", subdomain="go")
    assert available(api) == [
        BASE,
        {
            "id": str(apex.public_id),
            "fullDomain": "zebra.example",
            "domain": "zebra.example",
            "subdomain": None,
            "isDefault": False,
            "shortUrl": "https://zebra.example",
            "status": "active",
            "isSystemDomain": False,
        },
        {
            "id": str(sub.public_id),
            "fullDomain": "go.brand.example",
            "domain": "brand.example",
            "subdomain": "go",
            "isDefault": False,
            "shortUrl": "https://go.brand.example",
            "status": "active",
            "isSystemDomain": False,
        },
    ]


@pytest.mark.parametrize("status", ["pending", "inactive"])
def test_a_domain_that_is_not_active_is_not_available(api: APIClient, alice: NewAccount, status: str) -> None:
    domain = domain_of(alice, "brand.example", status)
    assert available(api) == [BASE]
    Domain.objects.filter(pk=domain.pk).update(status="active")
    assert [entry["id"] for entry in available(api)] == ["base", str(domain.public_id)]


def test_a_strangers_domain_is_not_available(
    api: APIClient, strange_api: APIClient, stranger: NewAccount
) -> None:
    domain = domain_of(stranger, "brand.example")
    assert available(api) == [BASE]
    assert [entry["id"] for entry in available(strange_api)] == ["base", str(domain.public_id)]


def test_a_token_lists_as_a_key_does(bearer: APIClient) -> None:
    assert available(bearer) == [BASE]


@pytest.mark.django_db
def test_listing_requires_a_credential(anonymous: APIClient) -> None:
    for headers in ({}, {"x-api-key": "sl_live_" + "0" * 38}, {"authorization": "Bearer x"}):
        response = anonymous.get("/api/urls/domains/available", headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_the_list_is_only_read(api: APIClient, method: str) -> None:
    response = getattr(api, method)("/api/urls/domains/available", {})
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("domains", [1, 3])
def test_the_list_takes_one_query_beside_the_credentials(
    api: APIClient, alice: NewAccount, django_assert_num_queries: Any, domains: int
) -> None:
    for number in range(domains):
        domain_of(alice, f"brand{number}.example")
    with django_assert_num_queries(2):
        assert len(available(api)) == 1 + domains


# A link on a domain


@pytest.mark.parametrize(
    ("host", "subdomain"),
    [("brand.example", None), ("go.brand.example", "go"), ("xn--bcher-kva.example", None)],
)
def test_a_link_on_an_own_domain(
    api: APIClient, alice: NewAccount, visitor: Client, host: str, subdomain: str | None
) -> None:
    domain = domain_of(alice, host, subdomain=subdomain)
    response = create(api, str(domain.public_id), customCode="spring")
    assert response.status_code == 201
    data = response.json()["data"]
    assert data["domain"] == {
        "id": str(domain.public_id),
        "fullDomain": host,
        "shortUrl": f"https://{host}",
    }
    assert data["url"]["shortUrl"] == f"https://{host}/spring"
    whole = api.get(f"/api/urls/{data['url']['_id']}").json()["data"]["url"]
    assert (whole["domainId"], whole["shortUrl"]) == (str(domain.public_id), f"https://{host}/spring")
    for code in ("spring", data["url"]["shortCode"]):
        assert visitor.get(f"/{code}", headers={"host": host})["Location"] == URL
        assert visitor.get(f"/{code}").status_code == 404
        assert visitor.get(f"/{code}", headers={"host": "unknown.example"}).status_code == 404


def test_without_a_custom_code_the_short_code_makes_the_address(api: APIClient, alice: NewAccount) -> None:
    domain = domain_of(alice, "brand.example")
    data = create(api, str(domain.public_id)).json()["data"]
    assert data["url"]["shortUrl"] == f"https://brand.example/{data['url']['shortCode']}"


@pytest.mark.parametrize("domain_id", ["base", None])
def test_the_default_domain_can_be_named_or_omitted(
    api: APIClient, alice: NewAccount, domain_id: str | None
) -> None:
    domain_of(alice, "brand.example")
    data = create(api, domain_id).json()["data"]
    assert data["domain"] == {"id": "base", "fullDomain": "sho.rt", "shortUrl": "http://sho.rt"}
    assert data["url"]["shortUrl"] == f"http://sho.rt/{data['url']['shortCode']}"


def nothing_is_found(api: APIClient, domain_id: str) -> bool:
    response = create(api, domain_id, customCode="spring")
    with connection.cursor() as cursor:
        cursor.execute("SELECT (SELECT count(*) FROM links_link) + (SELECT count(*) FROM links_code)")
        [(written,)] = cursor.fetchall()
    assert written == 0
    return response.status_code == 404 and response.json() == {
        "success": False,
        "message": "Domain not found.",
        "code": "not_found",
    }


@pytest.mark.parametrize("status", ["active", "pending", "inactive"])
def test_a_strangers_domain_is_not_found(api: APIClient, stranger: NewAccount, status: str) -> None:
    assert nothing_is_found(api, str(domain_of(stranger, "brand.example", status).public_id))


@pytest.mark.parametrize("status", ["pending", "inactive"])
def test_an_own_domain_that_is_not_active_is_named(api: APIClient, alice: NewAccount, status: str) -> None:
    domain_id = str(domain_of(alice, "brand.example", status).public_id)
    row = {"originalUrl": URL, "domain": "brand.example"}
    refusals = [
        create(api, domain_id).json(),
        api.post("/api/urls/import", {"content": f"originalUrl\n{URL}\n", "domainId": domain_id}).json(),
        *api.post("/api/urls/bulk", {"urls": [{"originalUrl": URL, "domainId": domain_id}]}).json()["data"][
            "results"
        ],
        *api.post("/api/urls/import", {"content": json.dumps([row])}).json()["data"]["results"],
    ]
    assert [{key: refusal[key] for key in ("success", "code", "message")} for refusal in refusals] == [
        {
            "success": False,
            "code": "domain_not_active",
            "message": "The domain brand.example is not active. Verify it before you create links on it.",
        }
    ] * 4
    assert [refusal["status"] for refusal in refusals if "status" in refusal] == [409, 409]
    assert create(api, domain_id).status_code == 409
    assert not Link.objects.exists()


def test_a_lapsed_claim_is_not_found(api: APIClient, alice: NewAccount) -> None:
    domain = domain_of(alice, "brand.example", "pending")
    Domain.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert nothing_is_found(api, str(domain.public_id))


def test_a_link_of_another_service_on_a_domain_that_is_not_active_moves_to_the_default_domain(
    api: APIClient, alice: NewAccount
) -> None:
    domain_of(alice, "brand.example", "pending")
    row = {"longUrl": URL, "shortCode": "spring", "shortUrl": "https://brand.example/spring"}
    body = {"content": json.dumps([row]), "dryRun": False}
    [result] = api.post("/api/urls/import", body).json()["data"]["results"]
    assert result["url"]["shortUrl"] == "http://sho.rt/spring"


def test_an_unknown_or_malformed_domain_is_not_found(api: APIClient, alice: NewAccount) -> None:
    domain = domain_of(alice, "brand.example")
    for domain_id in (
        str(uuid4()), "nonsense", "Base", "BASE", "base ", " base", "brand.example", str(domain.pk), "0", "-1", " ",
        str(domain.public_id) + "0", str(domain.public_id)[:-1], f"{domain.public_id} ", f"{domain.public_id}\n",
        "9223372036854775808", "' OR 1=1 --", "\uff10" * 32, "x" * 5000, "null", "../base",
    ):  # fmt: skip
        assert nothing_is_found(api, domain_id), domain_id
