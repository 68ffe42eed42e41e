"""Creations that return a link that exists already: ``findIfExists``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.rights import Scope
from accounts.services import NewAccount
from domains.models import Domain
from links import existing
from links.models import Link
from testing.accounts.keys import scoped_client
from testing.links.calls import put, whole
from testing.threads import at_once
from tests.links.values import EVERYTHING, OTHERS

MakeLink = Callable[..., dict[str, Any]]
LEADS = "hashtextextended(l.destination"
URL = "https://example.com/spring"


def find(client: APIClient, status: int, **fields: Any) -> dict[str, Any]:
    response = client.post("/api/urls", {"originalUrl": URL, "findIfExists": True, **fields})
    assert response.status_code == status, response.content
    found: dict[str, Any] = response.json()
    return found


def test_a_link_to_the_same_url_is_returned_as_it_is(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(originalUrl=URL, title="a", tags=["x"])
    before = whole(api, link)
    Link.objects.get().counter.__class__.objects.update(clicks=7)
    body = find(api, 200)
    assert body["message"] == "A URL with these values exists already."
    assert body["data"]["url"] == {**link, "clickCount": 7}
    assert body["data"]["domain"]["id"] == "base"
    # In its canonical form.
    assert find(api, 200, originalUrl="HTTPS://EXAMPLE.com:443/spring")["data"]["url"]["_id"] == link["_id"]
    assert whole(api, link) == {**before, "clickCount": 7}
    response = api.post(
        "/api/urls", {"originalUrl": URL, "findIfExists": True}, headers={"prefer": "return=representation"}
    )
    assert response.json()["data"]["url"] == whole(api, link)
    assert response["ETag"] == api.get(f"/api/urls/{link['_id']}")["ETag"]
    assert "Location" not in response


def test_all_given_values_must_be_equal(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(originalUrl=URL, **EVERYTHING)
    assert find(api, 200, **EVERYTHING)["data"]["url"]["_id"] == link["_id"]
    same = {
        "tags": ["SALE", "mail"],
        "restrictions": {"maxClicks": 5, "allowedCountries": ["FR", "DE"]},
        "targetUrl": "https://EXAMPLE.com/target",
    }
    assert find(api, 200, **same)["data"]["url"]["_id"] == link["_id"]
    for name, other in OTHERS.items():
        fields = {"targetUrl": EVERYTHING["targetUrl"], name: other}
        assert find(api, 201, **fields)["data"]["url"]["_id"] != link["_id"], name
        Link.objects.exclude(public_id=link["_id"]).delete()


def test_a_link_that_leads_elsewhere_is_not_found(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(originalUrl=URL)
    put(api, link, targetUrl="https://example.com/elsewhere")
    assert find(api, 201)["data"]["url"]["_id"] != link["_id"]


def test_an_active_link_comes_first_and_then_the_oldest(api: APIClient, make_link: MakeLink) -> None:
    disabled = make_link(originalUrl=URL, isActive=False)
    archived = make_link(originalUrl=URL, isArchived=True)
    older, newer = make_link(originalUrl=URL), make_link(originalUrl=URL)
    found = []
    for link in (older, newer, archived, disabled):
        found.append(find(api, 200)["data"]["url"]["_id"])
        assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert found == [link["_id"] for link in (older, newer, archived, disabled)]
    find(api, 201)


def test_the_domain_counts(api: APIClient, brand: Domain, make_link: MakeLink) -> None:
    on_brand = make_link(originalUrl=URL, domainId=str(brand.public_id))
    on_base = find(api, 201)["data"]["url"]
    assert find(api, 200, domainId="base")["data"]["url"]["_id"] == on_base["_id"]
    found = find(api, 200, domainId=str(brand.public_id))
    assert (found["data"]["url"]["_id"], found["data"]["domain"]["id"]) == (
        on_brand["_id"],
        str(brand.public_id),
    )


def test_nobody_finds_a_strangers_link(api: APIClient, strange_api: APIClient, make_link: MakeLink) -> None:
    link = make_link(originalUrl=URL)
    assert find(strange_api, 201)["data"]["url"]["_id"] != link["_id"]


def test_a_link_that_moves_meanwhile_is_not_returned(
    api: APIClient, stranger: NewAccount, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = make_link(originalUrl=URL)
    read = existing.get_links

    def move_and_read(keys: set[int]) -> list[Link]:
        Link.objects.filter(pk__in=keys).update(owner=stranger.workspace)
        return read(keys)

    monkeypatch.setattr(existing, "get_links", move_and_read)
    assert find(api, 201)["data"]["url"]["_id"] != link["_id"]


def test_keys_find_what_they_may_read(alice: NewAccount, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(originalUrl=URL)
    writer = scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE)
    assert find(writer, 403)["data"]["scope"] == "urls:read"
    only_own = scoped_client(alice.workspace, alice.user, Scope.URLS_READ, Scope.URLS_WRITE, only_own=True)
    own = find(only_own, 201)["data"]["url"]["_id"]
    assert find(only_own, 200)["data"]["url"]["_id"] == own
    assert find(api, 200)["data"]["url"]["_id"] == link["_id"]


@pytest.mark.parametrize(
    ("fields", "field", "code"),
    [
        ({"password": "open sesame"}, "password", "not_comparable"),
        ({"findIfExists": "maybe"}, "findIfExists", "invalid"),
        ({"originalUrl": "ftp://example.com/"}, "originalUrl", "unsupported_scheme"),
    ],
)
def test_bad_searches_create_nothing(fields: dict[str, Any], field: str, code: str, api: APIClient) -> None:
    [error] = find(api, 400, **fields)["errors"]
    assert (error["field"], error["code"], Link.objects.count()) == (field, code, 0)


@pytest.mark.django_db(transaction=True)
def test_parallel_searches_make_one_link(api: APIClient) -> None:
    def status(number: int) -> tuple[int, str]:
        fields = {"originalUrl": URL, "findIfExists": True, "title": f"{number % 2}"}
        response = api.post("/api/urls", fields)
        return response.status_code, response.json()["data"]["url"]["_id"]

    found = at_once([lambda number=number: status(number) for number in range(8)])  # type: ignore[misc] # a lambda
    assert sorted(code for code, _ in found) == [200] * 6 + [201] * 2
    assert len({identifier for _, identifier in found}) == Link.objects.count() == 2


def test_the_index_of_destinations_finds_the_links(api: APIClient, make_link: MakeLink) -> None:
    make_link(originalUrl=URL)
    with CaptureQueriesContext(connection) as captured:
        find(api, 200)
    [statement] = [query["sql"] for query in captured if LEADS in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Index Cond: (hashtextextended(destination, owner_id)" in plan
