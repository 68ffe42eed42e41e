"""Upserts by externalId, and addresses that name a link by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.rights import Scope
from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from testing.accounts.keys import scoped_client
from testing.links.calls import whole
from testing.threads import at_once

MakeLink = Callable[..., dict[str, Any]]
URL, OTHER = "https://example.com/", "https://example.com/other"


def upsert(client: APIClient, **fields: Any) -> dict[str, Any]:
    response = client.put("/api/urls/upsert", {"originalUrl": URL, "externalId": "order 1", **fields})
    assert response.status_code == 200, response.content
    data: dict[str, Any] = response.json()["data"]
    assert response.json()["message"] == f"URL {'created' if data['created'] else 'updated'} successfully."
    return data


def test_the_first_upsert_creates_and_the_next_one_changes(api: APIClient) -> None:
    first = upsert(api, title="a", tags=["x"])
    assert (first["created"], first["url"]["title"], first["url"]["tags"]) == (True, "a", ["x"])
    second = upsert(api, title="b", customCode="spring", restrictions={"maxClicks": 3})
    assert (second["created"], second["url"]) == (False, whole(api, first["url"]))
    changed = {name for name in first["url"] if first["url"][name] != second["url"][name]}
    assert changed == {"title", "customCode", "shortUrl", "restrictions", "updatedAt"}
    assert Link.objects.count() == 1


def test_another_url_becomes_the_target_and_the_first_one_comes_back(api: APIClient) -> None:
    upsert(api)
    shown = [upsert(api, **fields)["url"] for fields in ({"originalUrl": OTHER}, {}, {"targetUrl": OTHER})]
    assert [(url["originalUrl"], url["targetUrl"]) for url in shown] == [
        (URL, OTHER),
        (URL, None),
        (URL, OTHER),
    ]


def test_the_domain_of_a_link_stays(api: APIClient, brand: Domain) -> None:
    on_brand = {"domainId": str(brand.public_id)}
    assert upsert(api, **on_brand)["url"]["domainId"] == str(brand.public_id)
    assert upsert(api, **on_brand, title="a")["created"] is False
    assert upsert(api, title="b")["created"] is False
    refused = api.put("/api/urls/upsert", {"originalUrl": URL, "externalId": "order 1", "domainId": "base"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "domainId")
    assert Link.objects.get().title == "b"


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"originalUrl": URL}, 400, "externalId"),
        ({"externalId": "a"}, 400, "originalUrl"),
        ({"originalUrl": URL, "externalId": ""}, 400, "externalId"),
        ({"originalUrl": URL, "externalId": None}, 400, "externalId"),
        ({"originalUrl": URL, "externalId": "x" * 101}, 400, "externalId"),
        ({"originalUrl": "ftp://example.com/", "externalId": "a"}, 400, "originalUrl"),
        ({"originalUrl": URL, "externalId": "a", "titel": "x"}, 400, "titel"),
    ],
)
def test_bad_upserts_change_nothing(body: dict[str, Any], status: int, field: str, api: APIClient) -> None:
    response = api.put("/api/urls/upsert", body)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (status, field)
    assert Link.objects.count() == 0


def test_a_code_that_is_taken_changes_nothing(api: APIClient, make_link: MakeLink) -> None:
    make_link(customCode="spring")
    link = upsert(api, title="a")["url"]
    refused = api.put(
        "/api/urls/upsert",
        {"originalUrl": URL, "externalId": "order 1", "title": "b", "customCode": "spring"},
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "code_taken")
    assert whole(api, link) == link


def test_workspaces_do_not_share_external_ids(api: APIClient, strange_api: APIClient) -> None:
    assert [upsert(client, title="a")["created"] for client in (api, strange_api)] == [True, True]
    assert Link.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_parallel_upserts_make_one_link(api: APIClient) -> None:
    created = at_once([lambda: upsert(api, title="a")["created"]] * 8)
    assert sorted(created) == [False] * 7 + [True]
    assert Link.objects.count() == 1


def test_an_external_id_names_a_link_in_an_address(api: APIClient, strange_api: APIClient) -> None:
    link = upsert(api, title="a")["url"]
    named = "/api/urls/ext_order%201"
    assert api.get(named).json()["data"]["url"] == link
    assert strange_api.get(named).status_code == 404
    assert api.get("/api/urls/ext_order%202").status_code == 404
    for method in (api.put, api.patch):
        etag = api.get(named)["ETag"]
        assert method(named, {"title": method.__name__}, headers={"if-match": etag}).status_code == 200
        assert whole(api, link)["title"] == method.__name__
    assert strange_api.delete(named).status_code == 404
    assert api.delete(named).status_code == 200
    assert api.get(named).status_code == 404


def test_names_that_no_link_can_have_are_unknown(api: APIClient) -> None:
    for name in ("ext_%00", "ext_", "ext_a%2Fb"):
        for call in (api.get, api.put, api.patch, api.delete):
            assert call(f"/api/urls/{name}", {}).status_code == 404, name


def test_upserts_can_depend_on_the_version(api: APIClient) -> None:
    def conditional(**headers: str) -> tuple[int, str | None]:
        body = {"originalUrl": URL, "externalId": "order 1", "title": "b"}
        response = api.put("/api/urls/upsert", body, headers=headers)
        return response.status_code, response.json().get("code")

    assert conditional(**{"if-match": '"1-a"'}) == (412, "changed_meanwhile")
    assert Link.objects.count() == 0
    assert conditional(**{"if-none-match": "*"}) == (200, None)
    assert conditional(**{"if-none-match": "*"}) == (412, "already_exists")
    etag = api.get("/api/urls/ext_order%201")["ETag"]
    assert conditional(**{"if-match": etag}) == (200, None)
    assert conditional(**{"if-match": etag}) == (412, "changed_meanwhile")


def test_a_key_that_only_writes_does_not_read(alice: NewAccount, api: APIClient) -> None:
    link = upsert(api, title="a", description="secret notes")["url"]
    client = scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE)
    whole_links = {"prefer": "return=representation"}
    body = {"originalUrl": URL, "externalId": "order 1", "title": "b"}
    changes = {"ids": [link["_id"]], "data": {"title": "c"}}
    for response in (
        client.put("/api/urls/upsert", body, headers=whole_links),
        client.patch(f"/api/urls/{link['_id']}", {"title": "b"}, headers=whole_links),
        client.post("/api/urls", {"originalUrl": URL}, headers=whole_links),
        client.post("/api/urls/bulk-update", changes, headers=whole_links),
    ):
        assert response.status_code in (200, 201)
        assert ("secret notes" in response.content.decode(), "Preference-Applied" in response) == (
            False,
            False,
        )
        assert b"creator" not in response.content
