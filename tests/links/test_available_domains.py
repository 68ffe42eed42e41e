from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain

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
        owner=account.user, domain=name, subdomain=subdomain, host=host, status=status
    )


def create(api: APIClient, domain_id: object, **fields: Any) -> Any:
    return api.post("/api/urls", {"originalUrl": URL, "domainId": domain_id, **fields})


# The list


def test_the_default_domain_is_always_there(api: APIClient) -> None:
    assert available(api) == [BASE]


def test_active_domains_follow_the_default_one_in_the_order_of_their_creation(
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
def test_nobody_lists_without_a_credential(anonymous: APIClient) -> None:
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
def test_a_link_on_a_domain_of_ones_own(
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
def test_the_default_domain_by_name_or_by_none(
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
def test_a_domain_of_ones_own_that_is_not_active_is_not_found(
    api: APIClient, alice: NewAccount, status: str
) -> None:
    assert nothing_is_found(api, str(domain_of(alice, "brand.example", status).public_id))


def test_an_unknown_or_malformed_domain_is_not_found(api: APIClient, alice: NewAccount) -> None:
    domain = domain_of(alice, "brand.example")
    for domain_id in (
        str(uuid4()), "nonsense", "Base", "BASE", "base ", " base", "brand.example", str(domain.pk), "0", "-1", " ",
        str(domain.public_id) + "0", str(domain.public_id)[:-1], f"{domain.public_id} ", f"{domain.public_id}\n",
        "9223372036854775808", "' OR 1=1 --", "\uff10" * 32, "x" * 5000, "null", "../base",
    ):  # fmt: skip
        assert nothing_is_found(api, domain_id), domain_id
