"""A renamed link keeps its former codes."""

from __future__ import annotations

import pytest
from django.test import Client
from rest_framework.test import APIClient

from domains.models import Domain
from testing.links.calls import rename
from tests.links.codes.claims import URL, codes, create, created, destination_of, is_taken, renamed
from tests.links.codes.claims import brand as brand

# A taken code makes a statement fail, which would break the transaction of an ordinary test.
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_rename_keeps_the_old_code_as_an_alias(
    api: APIClient, strange_api: APIClient, visitor: Client
) -> None:
    link = created(api, "first")
    renamed(api, link, "second")
    renamed(api, link, "third")
    assert codes() == [
        (None, link["shortCode"], "short", True),
        (None, "first", "alias", True),
        (None, "second", "alias", True),
        (None, "third", "custom", True),
    ]
    for code in ("first", "second", "third", link["shortCode"]):
        assert destination_of(visitor, code) == URL
        assert is_taken(create(strange_api, code), code)


def test_renaming_back_reuses_the_alias(api: APIClient, visitor: Client) -> None:
    link = created(api, "first")
    renamed(api, link, "second")
    renamed(api, link, "first")
    assert codes() == [
        (None, link["shortCode"], "short", True),
        (None, "first", "custom", True),
        (None, "second", "alias", True),
    ]
    assert destination_of(visitor, "first") == destination_of(visitor, "second") == URL


def test_a_custom_code_can_equal_the_links_own_short_code(api: APIClient, visitor: Client) -> None:
    link = created(api, "first")
    renamed(api, link, link["shortCode"])
    assert codes() == [(None, link["shortCode"], "short", True), (None, "first", "alias", True)]
    renamed(api, link, "second")
    assert codes() == [
        (None, link["shortCode"], "short", True),
        (None, "first", "alias", True),
        (None, "second", "custom", True),
    ]
    for code in ("first", "second", link["shortCode"]):
        assert destination_of(visitor, code) == URL


@pytest.mark.parametrize("renamer", ["owner", "stranger"])
@pytest.mark.parametrize("which", ["custom", "alias", "short", "reserved"])
def test_a_rename_to_a_code_of_another_link_is_refused(
    api: APIClient, strange_api: APIClient, brand: Domain, renamer: str, which: str
) -> None:
    client = api if renamer == "owner" else strange_api
    other = created(api, "first")
    renamed(api, other, "second")
    on_domain = created(api, domainId=str(brand.public_id))
    code = {
        "custom": "second",
        "alias": "first",
        "short": other["shortCode"],
        "reserved": on_domain["shortCode"],
    }[which]
    link = created(client, "mine")
    before = codes()
    assert is_taken(rename(client, link, code), code)
    assert codes() == before
    read = client.get(f"/api/urls/{link['_id']}").json()["data"]["url"]
    assert (read["customCode"], read["updatedAt"]) == ("mine", read["createdAt"])


def test_a_link_without_a_custom_code_can_be_given_one(api: APIClient, visitor: Client) -> None:
    link = created(api)
    renamed(api, link, "spring")
    assert codes() == [(None, link["shortCode"], "short", True), (None, "spring", "custom", True)]
    assert destination_of(visitor, "spring") == URL


def test_clearing_a_custom_code_keeps_it_as_an_alias(
    api: APIClient, strange_api: APIClient, visitor: Client
) -> None:
    link = created(api, "spring")
    renamed(api, link, None)
    assert codes() == [(None, link["shortCode"], "short", True), (None, "spring", "alias", True)]
    assert destination_of(visitor, "spring") == destination_of(visitor, link["shortCode"]) == URL
    assert is_taken(create(strange_api, "spring"), "spring")
    renamed(api, link, None)
    renamed(api, link, "spring")


def test_sending_the_same_code_again_changes_no_code(api: APIClient) -> None:
    link = created(api, "spring")
    before = codes()
    renamed(api, link, "spring")
    assert codes() == before


def test_a_rename_on_a_domain_stays_on_it(
    api: APIClient, strange_api: APIClient, brand: Domain, visitor: Client
) -> None:
    created(strange_api, "second")
    link = created(api, "first", domainId=str(brand.public_id))
    response = rename(api, link, "second")
    assert response.status_code == 200
    assert response.json()["data"]["url"]["shortUrl"] == "https://brand.example/second"
    for code in ("first", "second"):
        assert destination_of(visitor, code, "brand.example") == URL
    assert destination_of(visitor, "first") is None


def test_a_rename_to_a_reserved_word_is_refused(api: APIClient) -> None:
    link = created(api, "first")
    before = codes()
    response = rename(api, link, "Admin")
    assert (response.status_code, response.json()["code"]) == (409, "code_reserved")
    assert codes() == before


def test_a_refused_rename_changes_no_other_field(api: APIClient, strange_api: APIClient) -> None:
    created(strange_api, "taken")
    link = created(api, "mine", title="before")
    before = api.get(f"/api/urls/{link['_id']}").json()
    response = api.put(
        f"/api/urls/{link['_id']}", {"customCode": "taken", "title": "after", "isActive": False}
    )
    assert response.status_code == 409
    assert api.get(f"/api/urls/{link['_id']}").json() == before
