"""Reading the history of a link, and restoring former values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import Change
from accounts.services import NewAccount
from bans.services import ban_host
from domains.models import Domain
from testing.accounts import bearer_client
from tests.links.history.test_recorded_fields import CHANGED, FORMER

MakeLink = Callable[..., dict[str, Any]]


def address(link: dict[str, Any]) -> str:
    return f"/api/urls/{link['_id']}"


def put(api: APIClient, link: dict[str, Any], **body: Any) -> Any:
    response = api.put(address(link), body)
    assert response.status_code == 200, response.json()
    return response


def page_of(api: APIClient, link: dict[str, Any], **query: Any) -> dict[str, Any]:
    response = api.get(f"{address(link)}/history", query)
    assert response.status_code == 200, response.json()
    return response.json()["data"]


def changes_of(api: APIClient, link: dict[str, Any]) -> list[dict[str, Any]]:
    return page_of(api, link)["changes"]


def restore(api: APIClient, link: dict[str, Any], change: dict[str, Any]) -> Any:
    return api.post(f"{address(link)}/history/{change['_id']}/restore")


def test_a_change_says_who_made_it_how_and_in_which_request(
    alice: NewAccount, api: APIClient, bearer: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    requests = [put(client, link, title=client_name)["X-Request-ID"] for client, client_name in
                ((api, "key"), (bearer, "token"))]  # fmt: skip
    changes = changes_of(api, link)
    actor = {
        "_id": str(alice.user.public_id),
        "firstName": "Ada",
        "lastName": "Lovelace",
        "email": "alice@example.com",
    }
    assert [change["actor"] for change in changes] == [actor, actor]
    assert [(change["via"], change["requestId"]) for change in changes] == [
        ("token", requests[1]),
        ("api_key", requests[0]),
    ]


def test_pages_are_newest_first_and_complete(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    for number in range(5):
        put(api, link, title=str(number))
    titles, cursor = [], None
    while True:
        page = page_of(api, link, limit=2, **({} if cursor is None else {"cursor": cursor}))
        titles += [change["after"]["title"] for change in page["changes"]]
        cursor = page["pagination"]["nextCursor"]
        if cursor is None:
            break
        # Later changes do not move the next page.
        Change.objects.create(
            owner_id=Change.objects.latest("pk").owner_id,
            object_id=uuid4(),
            via="service",
            request_id="",
            action="link.updated",
            before={},
            after={},
        )
    assert titles == ["4", "3", "2", "1", "0"]


@pytest.mark.parametrize("changes", [1, 20])
def test_a_page_takes_one_query_besides_authentication(
    changes: int, api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    link = make_link()
    for number in range(changes):
        put(api, link, title=str(number))
    page_of(api, link)
    with django_assert_num_queries(2):
        assert len(page_of(api, link)["changes"]) == changes


@pytest.mark.parametrize("cursor", ["", "x", "A" * 48, "é" * 48])
def test_a_cursor_of_nobody_is_400(cursor: str, api: APIClient, make_link: MakeLink) -> None:
    response = api.get(f"{address(make_link())}/history", {"cursor": cursor})
    assert (response.status_code, response.json()["code"]) == (400, "validation_error")


def test_a_strangers_cursor_is_400(
    api: APIClient, strange_api: APIClient, stranger: NewAccount, make_link: MakeLink
) -> None:
    theirs = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    for title in ("a", "b"):
        put(strange_api, theirs, title=title)
    cursor = page_of(strange_api, theirs, limit=1)["pagination"]["nextCursor"]
    link = make_link()
    assert api.get(f"{address(link)}/history", {"cursor": cursor}).status_code == 400


def test_a_stranger_neither_reads_nor_restores(
    api: APIClient, stranger: NewAccount, strange_api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(title="a")
    put(api, link, title="b")
    [change] = changes_of(api, link)
    own = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    for client in (strange_api, bearer_client(stranger.user)):
        assert client.get(f"{address(link)}/history").status_code == 404
        assert restore(client, link, change).status_code == 404
        # Another link's change is unknown, too.
        assert restore(client, own, change).status_code == 404
    assert len(changes_of(api, link)) == 1


def test_the_id_of_a_domain_is_no_id_of_a_link(api: APIClient, brand: Domain) -> None:
    assert api.get(f"/api/urls/{brand.public_id}/history").status_code == 404
    assert api.get("/api/urls/unknown/history").status_code == 404


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


@pytest.mark.parametrize("name", FORMER)
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


@pytest.mark.parametrize(
    "name", [name for name in FORMER if name not in {"isActive", "redirectType", "forwardQuery"}]
)
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
