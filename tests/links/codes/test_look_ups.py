"""Look-ups of codes and short URLs: whether a code is free, and which link a short URL has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from testing.accounts.keys import scoped_client
from testing.links.calls import address, whole

MakeLink = Callable[..., dict[str, Any]]


def check(client: APIClient, code: str, **query: Any) -> dict[str, Any]:
    response = client.get("/api/urls/exists", {"code": code, **query})
    assert response.status_code == 200, response.content
    data: dict[str, Any] = response.json()["data"]
    return data


def test_a_free_code_is_available(api: APIClient, brand: Domain) -> None:
    free = {"available": True, "reason": None, "suggestions": []}
    for query in ({}, {"domainId": "base"}, {"domainId": str(brand.public_id)}):
        assert check(api, "spring", **query) == free
    assert (
        api.post("/api/urls", {"originalUrl": "https://example.com/", "customCode": "spring"}).status_code
        == 201
    )


@pytest.mark.parametrize(
    ("code", "reason"),
    [("ab", "invalid"), ("a b", "invalid"), ("", "invalid"), ("admin", "reserved"), ("LOGIN", "reserved")],
)
def test_a_code_that_no_link_can_have(code: str, reason: str, api: APIClient) -> None:
    response = api.get("/api/urls/exists", {"code": code})
    if code:
        assert response.json()["data"] == {"available": False, "reason": reason, "suggestions": []}
    else:
        assert response.status_code == 400


def test_a_taken_code_comes_with_free_ones_like_it(
    api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    for code in ("spring", "spring3"):
        make_link(customCode=code)
    taken = check(api, "spring")
    assert taken == {"available": False, "reason": "taken", "suggestions": ["spring2", "spring4", "spring5"]}
    for code in taken["suggestions"]:
        make_link(customCode=code)
    # Codes are those of one domain, and may differ in case alone.
    assert check(api, "spring", domainId=str(brand.public_id))["available"] is True
    assert check(api, "Spring")["available"] is True
    assert check(api, "x" * 50)["available"] is True


def test_the_codes_of_a_deleted_link_are_free_for_its_owner_only(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")
    assert api.delete(address(link)).status_code == 200
    assert check(api, "spring")["available"] is True
    assert check(strange_api, "spring")["reason"] == "taken"


def test_codes_of_others_count_as_guesses(
    settings: Settings, api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    settings.UNKNOWN_CODE_LIMIT = 3
    for code in ("spring", "spring2"):
        make_link(customCode=code)
    for _ in range(3):
        assert check(api, "spring")["reason"] == "taken"
    # Each time the code itself, and one that the suggestions leave out.
    for _ in range(2):
        assert check(strange_api, "spring")["suggestions"] == ["spring3", "spring4", "spring5"]
    assert strange_api.get("/api/urls/exists", {"code": "spring"}).status_code == 429
    assert api.get("/api/urls/exists", {"code": "summer"}).status_code == 429


def test_the_domain_must_be_an_active_one_of_the_workspace(
    api: APIClient, strange_api: APIClient, alice: NewAccount, brand: Domain
) -> None:
    pending = Domain.objects.create(owner=alice.workspace, domain="new.example", host="new.example")
    for client, domain, expected in (
        (api, pending, (409, "domain_not_active")),
        (strange_api, brand, (404, "not_found")),
    ):
        response = client.get("/api/urls/exists", {"code": "spring", "domainId": str(domain.public_id)})
        assert (response.status_code, response.json()["code"]) == expected


def test_the_link_of_a_short_url(
    api: APIClient,
    strange_api: APIClient,
    make_link: MakeLink,
    brand: Domain,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    link, branded = make_link(customCode="spring"), make_link(domainId=str(brand.public_id))
    short_url = whole(api, link)["shortUrl"]
    assert api.put(address(link), {"customCode": "summer"}).status_code == 200
    for text in (
        short_url,
        short_url.removeprefix("http://"),
        f"{short_url}/?qr=1#a",
        whole(api, link)["shortUrl"],
    ):
        response = api.get("/api/urls/resolve", {"shortUrl": text})
        assert (response.status_code, response.json()["data"]["url"]) == (200, whole(api, link)), text
        assert response["ETag"] == api.get(address(link))["ETag"]
    with django_assert_max_num_queries(6):
        response = api.get("/api/urls/resolve", {"shortUrl": whole(api, branded)["shortUrl"]})
    assert response.json()["data"]["url"] == whole(api, branded)

    for client, text in (
        (strange_api, short_url),
        (api, "http://sho.rt/unknown"),
        (api, "http://another.example/summer"),
        (api, "summer"),
        (api, "http://"),
    ):
        response = client.get("/api/urls/resolve", {"shortUrl": text})
        assert (response.status_code, response.json()["message"]) == (404, "URL not found."), text


def test_a_limited_key_resolves_only_its_links(
    alice: NewAccount, make_link: MakeLink, brand: Domain, api: APIClient
) -> None:
    client = scoped_client(alice.workspace, alice.user, domain_id=brand.pk)
    own, other = make_link(domainId=str(brand.public_id)), make_link(customCode="spring")
    resolved = [
        client.get("/api/urls/resolve", {"shortUrl": whole(api, link)["shortUrl"]}).status_code
        for link in (own, other)
    ]
    assert resolved == [200, 404]
    assert client.get("/api/urls/exists", {"code": "spring", "domainId": "base"}).status_code == 404
    assert check(client, "spring")["available"] is True
