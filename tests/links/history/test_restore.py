"""Restored changes of a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from rest_framework.test import APIClient

from bans.services import ban_host
from domains.models import Domain
from testing.cases import for_each
from testing.links.calls import address, put
from tests.links.history.changes import changes_of, restore
from tests.links.history.recorded import CHANGED, FORMER

MakeLink = Callable[..., dict[str, Any]]


def test_a_restored_change_is_a_new_change(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(title="a", restrictions={"maxClicks": 5}, targetUrl="https://example.com/first")
    put(api, link, title="b", restrictions={}, targetUrl="https://example.com/second", tags=["kept"])
    put(api, link, description="later")
    changes = changes_of(api, link)
    response = restore(api, link, changes[1])
    assert response.status_code == 200, response.json()
    shown = api.get(address(link)).json()["data"]["url"]
    assert response["ETag"] == api.get(address(link))["ETag"]
    assert (shown["title"], shown["tags"], shown["description"]) == ("a", [], "later")
    assert shown["restrictions"] == {"maxClicks": 5}
    assert visitor.get(f"/{link['shortCode']}")["Location"] == "https://example.com/first"
    newest = changes_of(api, link)
    assert newest[1:] == changes
    assert (newest[0]["before"], newest[0]["after"]) == (changes[1]["after"], changes[1]["before"])


@for_each("name", FORMER)
@pytest.mark.slow
def test_every_field_is_restored(name: str, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(**FORMER)
    former = api.get(address(link)).json()["data"]["url"]
    put(api, link, **{name: CHANGED[name]})
    [change] = changes_of(api, link)
    assert restore(api, link, change).status_code == 200
    shown = api.get(address(link)).json()["data"]["url"]
    assert without_ids(shown[name]) == without_ids(former[name])
    others = former.keys() - {name, "updatedAt", "shortUrl"}
    assert {key: shown[key] for key in others} == {key: former[key] for key in others}


def without_ids(value: Any) -> Any:
    """A rule that was removed comes back with a new id."""
    if isinstance(value, list):
        return [without_ids(entry) for entry in value]
    return {key: part for key, part in value.items() if key != "_id"} if isinstance(value, dict) else value


@for_each(
    "name",
    [name for name in FORMER if name not in {"isActive", "isArchived", "redirectType", "forwardQuery"}],
)
@pytest.mark.slow
def test_a_field_that_had_no_value_is_removed(name: str, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    former = api.get(address(link)).json()["data"]["url"]
    put(api, link, **{name: FORMER[name]})
    [change] = changes_of(api, link)
    assert restore(api, link, change).status_code == 200
    assert api.get(address(link)).json()["data"]["url"][name] == former[name]


def test_all_fields_of_a_deletion_are_restored_after_the_undeletion(
    api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(**FORMER, password="secret")
    former = api.get(address(link)).json()["data"]["url"]
    assert api.delete(address(link)).status_code == 200
    assert restore(api, link, changes_of(api, link)[0]).status_code == 404
    assert api.post(f"{address(link)}/undelete").status_code == 200
    undeleted, deleted = changes_of(api, link)
    response = restore(api, link, undeleted)
    assert (response.status_code, response.json()["code"]) == (409, "not_restorable")
    put(api, link, **CHANGED, password=None)
    response = restore(api, link, deleted)
    assert response.status_code == 200
    assert [warning["field"] for warning in response.json()["warnings"]] == [
        *("domainId", "originalUrl", "password", "shortCode")
    ]
    shown = api.get(address(link)).json()["data"]["url"]
    assert {key: without_ids(shown[key]) for key in FORMER} == {
        key: without_ids(former[key]) for key in FORMER
    }
    assert shown["hasPassword"] is False


def test_a_time_that_has_passed_is_restored(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(expiresAt="2020-01-01T00:00:00Z", startsAt="2019-01-01T00:00:00Z")
    put(api, link, expiresAt=None)
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    assert restore(api, link, changes_of(api, link)[0]).status_code == 200
    assert visitor.get(f"/{link['shortCode']}").status_code == 410


def test_a_value_that_contradicts_a_later_one_is_400_and_changes_nothing(
    api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(startsAt="2030-01-01T00:00:00Z", title="a")
    put(api, link, startsAt=None, title="b")
    put(api, link, expiresAt="2029-01-01T00:00:00Z")
    before = api.get(address(link)).json()
    response = restore(api, link, changes_of(api, link)[1])
    assert (response.status_code, response.json()["errors"][0]["field"]) == (400, "startsAt")
    assert api.get(address(link)).json() == before


def test_restoring_twice_changes_nothing_more(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="a")
    put(api, link, title="b")
    [change] = changes_of(api, link)
    assert restore(api, link, change).status_code == 200
    assert restore(api, link, change).status_code == 200
    assert len(changes_of(api, link)) == 2


def test_rules_are_restored(api: APIClient, make_link: MakeLink) -> None:
    rules = [
        {
            "name": "Germany",
            "url": "https://example.com/de",
            "conditions": [{"type": "country", "values": ["DE"], "not": False}],
        }
    ]
    link = make_link(rules=rules)
    put(api, link, rules=[])
    [change] = changes_of(api, link)
    assert restore(api, link, change).status_code == 200
    [restored] = api.get(address(link)).json()["data"]["url"]["rules"]
    assert {name: restored[name] for name in ("name", "url", "conditions")} == rules[0]


def test_a_former_code_is_restored(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(customCode="spring")
    put(api, link, customCode="summer")
    [change] = changes_of(api, link)
    assert restore(api, link, change).status_code == 200
    assert api.get(address(link)).json()["data"]["url"]["customCode"] == "spring"
    assert [visitor.get(f"/{code}").status_code for code in ("spring", "summer")] == [302, 302]


def test_a_code_that_another_link_took_is_409_and_changes_nothing(
    api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    make_link(customCode="spring")
    link = make_link(customCode="spring", domainId=str(brand.public_id), title="a")
    put(api, link, title="b")
    assert api.delete(f"/api/domains/{brand.public_id}").status_code == 200
    before = api.get(address(link)).json()
    response = restore(api, link, changes_of(api, link)[0])
    assert (response.status_code, response.json()["code"]) == (409, "code_taken")
    assert api.get(address(link)).json() == before


def test_a_removed_or_replaced_password_is_not_restored(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(password="secret", title="a")
    put(api, link, password=None)
    put(api, link, password="other")
    put(api, link, password="third", title="b")
    replaced, _, removed = changes_of(api, link)
    response = restore(api, link, removed)
    assert (response.status_code, response.json()["code"]) == (409, "not_restorable")
    response = restore(api, link, replaced)
    assert response.status_code == 200
    assert [(warning["field"], warning["code"]) for warning in response.json()["warnings"]] == [
        ("password", "not_restored")
    ]
    shown = api.get(address(link)).json()["data"]["url"]
    assert (shown["title"], shown["hasPassword"]) == ("a", True)


def test_restoring_the_time_without_a_password_removes_it(
    api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link(title="a")
    put(api, link, password="secret", title="b")
    response = restore(api, link, changes_of(api, link)[0])
    assert response.status_code == 200
    assert "warnings" not in response.json()
    shown = api.get(address(link)).json()["data"]["url"]
    assert (shown["title"], shown["hasPassword"]) == ("a", False)
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    newest = changes_of(api, link)[0]
    assert newest["before"] == {"password": "set", "title": "b"}
    assert newest["after"] == {"password": "removed", "title": "a"}


def test_a_destination_that_is_banned_now_is_not_restored(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(targetUrl="https://evil.example/")
    put(api, link, targetUrl=None)
    ban_host(host="evil.example")
    response = restore(api, link, changes_of(api, link)[0])
    assert (response.status_code, response.json()["code"]) == (400, "validation_error")
    assert api.get(address(link)).json()["data"]["url"]["targetUrl"] is None


def test_an_unknown_change_is_404(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="a")
    put(api, link, title="b")
    for identifier in (str(uuid4()), "x"):
        assert restore(api, link, {"_id": identifier}).status_code == 404
