from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from testing.analytics.clicks import drain
from testing.links.calls import address
from testing.links.routing_fields import DEFAULTS
from tests.links.updating.single import FULL, URL, read, row_of, update
from tests.links.updating.single import link as link

MakeLink = Callable[..., dict[str, Any]]
WHOLE_KEYS = {
    "_id", "originalUrl", "shortCode", "shortUrl", "customCode", "title", "description", "tags", "clickCount",
    "isActive", "expiresAt", "hasPassword", "domainId", "externalId", "isArchived", "utm", "restrictions",
    "redirectType", "creator", "createdAt",
    "updatedAt", "status", "health",
}  # fmt: skip


# Read


def test_a_link_in_full(api: APIClient, link: dict[str, Any], alice: NewAccount) -> None:
    assert read(api, link) == {
        **FULL,
        **DEFAULTS,
        "health": {"status": "unknown", "checkedAt": None, "problem": None, "failingSince": None},
        "_id": link["_id"],
        "externalId": None,
        "isArchived": False,
        "originalUrl": URL,
        "shortCode": link["shortCode"],
        "shortUrl": "http://sho.rt/spring",
        "clickCount": 0,
        "isActive": True,
        "status": "active",
        "hasPassword": True,
        "domainId": "base",
        "creator": {
            "_id": str(alice.user.public_id),
            "firstName": "Ada",
            "lastName": "Lovelace",
            "email": "alice@example.com",
        },
        "createdAt": link["createdAt"],
        "updatedAt": link["createdAt"],
    }


def test_a_minimal_link_has_every_key(api: APIClient, make_link: MakeLink) -> None:
    assert read(api, make_link()).keys() == WHOLE_KEYS | DEFAULTS.keys()


def test_a_link_on_a_domain_names_it(api: APIClient, alice: NewAccount, make_link: MakeLink) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="brand.example", host="brand.example", status="active"
    )
    whole = read(api, make_link(domainId=str(domain.public_id), customCode="spring"))
    assert (whole["domainId"], whole["shortUrl"]) == (str(domain.public_id), "https://brand.example/spring")


def test_clicks_are_shown(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link()
    for _ in range(3):
        visitor.get("/" + link["shortCode"])
    drain()
    assert read(api, link)["clickCount"] == 3


@pytest.mark.parametrize("items", [1, 3])
def test_reading_takes_one_query_beside_the_credentials(
    api: APIClient, make_link: MakeLink, django_assert_num_queries: Any, items: int
) -> None:
    links = [make_link() for _ in range(items)]
    with django_assert_num_queries(2):
        read(api, links[0])


def test_a_token_reads_updates_and_deletes_as_a_key_does(bearer: APIClient, link: dict[str, Any]) -> None:
    assert read(bearer, link)["title"] == "Title"
    assert update(bearer, link, {"title": "new"})["title"] == "new"
    assert bearer.delete(address(link)).status_code == 200


# Ownership


def responses_of(client: APIClient, identifier: object, **options: Any) -> list[HttpResponse]:
    path = f"/api/urls/{identifier}"
    return [
        client.get(path, **options),
        client.put(path, {"title": "hijacked"}, **options),
        client.delete(path, **options),
    ]


def test_a_strangers_link_is_indistinguishable_from_an_unknown_one(
    api: APIClient, strange_api: APIClient, link: dict[str, Any]
) -> None:
    before = row_of(link)
    responses = responses_of(strange_api, link["_id"]) + responses_of(strange_api, uuid4())
    assert [response.status_code for response in responses] == [404] * 6
    assert len({response.content for response in responses}) == 1
    for response in responses:
        del response.headers["X-Request-ID"]
    assert len({str(sorted(response.headers.items())) for response in responses}) == 1
    assert responses[0].json() == {"success": False, "message": "URL not found.", "code": "not_found"}
    assert row_of(link) == before
    assert read(api, link)["title"] == "Title"


MALFORMED = (
    "x", "1", "0", "-1", "null", "undefined", "base", "019a0000-0000-7000-8000-00000000000",
    "019a0000-0000-7000-8000-0000000000000", "019a0000000070008000000000000000", "%00", "%FF", "%0A", "%20",
    "g19a0000-0000-7000-8000-000000000000", "%7B019a0000-0000-7000-8000-000000000000%7D",
    "019a0000-0000-7000-8000-000000000000%00", "\uff10\uff11\uff19a0000-0000-7000-8000-000000000000",
    "'%20OR%201=1", "9223372036854775808", "a" * 5000,
)  # fmt: skip


def test_a_malformed_id_is_not_found(api: APIClient, link: dict[str, Any]) -> None:
    for identifier in MALFORMED:
        for response in responses_of(api, identifier):
            assert response.status_code == 404, identifier
            assert response["Content-Type"] == "application/json"
            assert response.json().keys() == {"success", "message", "code"}
            assert (response.json()["success"], response.json()["code"]) == (False, "not_found")
    assert read(api, link)["title"] == "Title"


def test_malformed_and_unknown_ids_get_the_same_response(api: APIClient) -> None:
    [unknown] = {response.content for response in responses_of(api, uuid4())}
    assert {response.content for response in responses_of(api, "malformed")} == {unknown}


def test_a_wrong_body_for_a_strangers_link_is_no_oracle(strange_api: APIClient, link: dict[str, Any]) -> None:
    for body in (
        {"title": 5},
        {"originalUrl": "https://evil.example/"},
        {"customCode": "spring"},
        {"customCode": "admin"},
    ):
        known = strange_api.put(address(link), body)
        unknown = strange_api.put(f"/api/urls/{uuid4()}", body)
        assert (known.status_code, known.content) == (unknown.status_code, unknown.content)


@pytest.mark.parametrize(
    "headers", [{}, {"x-api-key": "sl_live_" + "0" * 38}, {"authorization": "Bearer nonsense"}]
)
def test_link_endpoints_require_a_credential(
    anonymous: APIClient, link: dict[str, Any], headers: dict[str, str]
) -> None:
    before = row_of(link)
    for response in responses_of(anonymous, link["_id"], headers=headers):
        assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")
        assert response["WWW-Authenticate"] == 'Bearer realm="api"'
    assert row_of(link) == before


# Delete


def test_a_deleted_link_returns_404(
    api: APIClient, link: dict[str, Any], make_link: MakeLink, visitor: Client
) -> None:
    other = make_link(title="other")
    response = api.delete(address(link))
    assert response.status_code == 200
    assert response.json() == {"success": True, "message": "URL deleted successfully."}
    not_found = {"success": False, "message": "URL not found.", "code": "not_found"}
    for response in responses_of(api, link["_id"]):
        assert (response.status_code, response.json()) == (404, not_found)
    assert visitor.get("/spring").status_code == 404
    assert visitor.get("/" + link["shortCode"]).status_code == 404
    assert row_of(link) == []
    assert [url["title"] for url in api.get("/api/urls").json()["data"]["urls"]] == ["other"]
    assert read(api, other)["title"] == "other"


def test_patch_changes_as_put_does(api: APIClient, link: dict[str, Any]) -> None:
    response = api.patch(address(link), {"title": "patched"})
    assert response.status_code == 200
    assert response.json()["message"] == "URL updated successfully."
    assert (read(api, link)["title"], read(api, link)["originalUrl"]) == ("patched", link["originalUrl"])
    assert api.patch(address(link), {"shortCode": "another"}).json()["errors"][0]["code"] == "immutable"


def test_other_methods_are_not_allowed(api: APIClient, link: dict[str, Any]) -> None:
    before = row_of(link)
    response = api.post(address(link), {"title": "patched"})
    assert response.status_code == 405
    assert {"GET", "PUT", "PATCH", "DELETE"} <= set(response["Allow"].split(", "))
    assert "POST" not in response["Allow"]
    assert response.json().keys() == {"success", "message", "code"}
    assert (response.json()["success"], response.json()["code"]) == (False, "method_not_allowed")
    assert row_of(link) == before


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_the_list_itself_cannot_be_replaced_or_deleted(
    api: APIClient, link: dict[str, Any], method: str
) -> None:
    response = getattr(api, method)("/api/urls", {})
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
    assert read(api, link)["title"] == "Title"


# Database constraints


@pytest.mark.parametrize("column", ["original_url", "destination", "short_code"])
def test_the_database_refuses_to_redirect_a_link_elsewhere(link: dict[str, Any], column: str) -> None:
    before = row_of(link)
    with (
        pytest.raises(DatabaseError, match="cannot be changed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE links_link SET {column} = 'https://evil.example/'")
    assert row_of(link) == before
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE links_link SET {column} = {column}, title = 'New'")
    assert Link.objects.get().title == "New"
