"""Changes of a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from testing.analytics.clicks import drain
from testing.cases import for_each
from tests.links.updating.single import URL, read, row_of, update, without
from tests.links.updating.single import link as link

MakeLink = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "new"},
        {"tags": [], "isActive": False, "description": None},
        {"password": "secret", "redirectType": 301},
        {"utm": {"source": "s"}, "restrictions": {"maxClicks": 3}},
    ],
    ids=" ".join,
)
def test_fields_that_do_not_depend_on_the_link_change_in_one_statement(
    api: APIClient, link: dict[str, Any], django_assert_num_queries: Any, changes: dict[str, Any]
) -> None:
    before = read(api, link)
    with django_assert_num_queries(2):  # the credential, and the update with the codes to invalidate
        updated = update(api, link, changes)
    sent = changes.keys() - {"password"}
    assert {name: updated[name] for name in sent} == {name: changes[name] for name in sent}
    assert updated["updatedAt"] > before["updatedAt"]
    assert read(api, link) == before | updated


@for_each(
    ("field", "value", "stored"),
    [
        ("customCode", "summer", "summer"),
        ("customCode", None, None),
        ("title", "New", "New"),
        ("title", "", ""),
        ("title", None, None),
        ("title", "\N{GRINNING FACE}" * 200, "\N{GRINNING FACE}" * 200),
        ("description", "New", "New"),
        ("description", "x" * 500, "x" * 500),
        ("description", None, None),
        ("tags", ["three"], ["three"]),
        ("tags", [], []),
        ("tags", None, []),
        ("isActive", False, False),
        ("isActive", True, True),
        ("expiresAt", "2031-01-01", "2031-01-01T00:00:00Z"),
        ("expiresAt", "2001-01-01T00:00:00+02:00", "2000-12-31T22:00:00Z"),
        ("expiresAt", None, None),
        ("utm", {"source": "new"}, {"source": "new"}),
        ("utm", {"source": "new", "medium": None}, {"source": "new"}),
        ("utm", {}, {}),
        ("utm", None, {}),
        ("restrictions", {"maxClicks": 1}, {"maxClicks": 1}),
        ("restrictions", {"blockedCountries": ["us", "US"]}, {"blockedCountries": ["US"]}),
        ("restrictions", {"maxClicks": None, "allowedDevices": ["tablet"]}, {"allowedDevices": ["tablet"]}),
        ("restrictions", {}, {}),
        ("restrictions", None, {}),
        ("redirectType", 302, 302),
        ("redirectType", None, 302),
    ],
)
def test_a_field_changes_alone(
    api: APIClient, link: dict[str, Any], field: str, value: object, stored: object
) -> None:
    before = read(api, link)
    changed = update(api, link, {field: value})
    after = read(api, link)
    derived = (field, "status", "updatedAt", "shortUrl")
    assert after[field] == stored
    assert without(after, *derived) == without(before, *derived)
    assert after["shortUrl"] == f"http://sho.rt/{after['customCode'] or after['shortCode']}"
    assert after["updatedAt"] > before["updatedAt"]
    shown = {"_id", "shortUrl", "title", "tags", "isActive", "status", "updatedAt", field}
    assert changed == {name: after[name] for name in shown}


def test_a_password_changes_and_is_removed(api: APIClient, link: dict[str, Any]) -> None:
    def hashed() -> str | None:
        return Link.objects.get(public_id=link["_id"]).password

    before = read(api, link)
    assert check_password("open sesame", hashed())
    changed = update(api, link, {"password": "new"})
    shown = {"_id", "shortUrl", "title", "tags", "isActive", "status", "hasPassword", "updatedAt"}
    assert changed.keys() == shown
    assert changed["hasPassword"] is True
    assert check_password("new", hashed())
    assert not check_password("open sesame", hashed())
    update(api, link, {"title": "Title"})
    assert check_password("new", hashed())
    update(api, link, {"password": None})
    assert hashed() is None
    assert without(read(api, link), "updatedAt") == without(before, "updatedAt") | {"hasPassword": False}
    update(api, link, {"password": "x" * 128})
    assert read(api, link)["hasPassword"] is True


def test_an_update_is_in_force_at_once(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(customCode="spring")

    def followed_status() -> int:
        status = visitor.get("/spring").status_code
        drain()
        return status

    assert followed_status() == 302
    for body, status in (
        ({"isActive": False}, 410),
        ({"isActive": True}, 302),
        ({"expiresAt": "2001-01-01"}, 410),
        ({"expiresAt": None}, 302),
        ({"password": "secret"}, 401),
        ({"password": None}, 302),
        ({"restrictions": {"maxClicks": 3}}, 410),
        ({"restrictions": {"allowedDevices": ["mobile"]}}, 403),
        ({"restrictions": None}, 302),
        ({"redirectType": 301}, 301),
    ):
        update(api, link, body)
        assert followed_status() == status, body


def test_an_empty_update_changes_nothing(api: APIClient, link: dict[str, Any]) -> None:
    before = row_of(link)
    changed = update(api, link, {})
    assert row_of(link) == before
    assert changed == {
        "_id": link["_id"],
        "shortUrl": "http://sho.rt/spring",
        "title": "Title",
        "tags": ["One", "two"],
        "isActive": True,
        "status": "active",
        "updatedAt": link["createdAt"],
    }


def test_the_whole_object_can_be_sent_back(api: APIClient, link: dict[str, Any], make_link: MakeLink) -> None:
    for sent in (link, make_link("  HTTPS://Example.com/\u00fc  ")):
        before = read(api, sent)
        password = Link.objects.get(public_id=sent["_id"]).password
        update(api, sent, before)
        after = read(api, sent)
        assert without(after, "updatedAt") == without(before, "updatedAt")
        assert after["updatedAt"] > before["updatedAt"]
        assert Link.objects.get(public_id=sent["_id"]).password == password


def test_the_whole_object_of_a_link_on_a_domain_can_be_sent_back(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="brand.example", host="brand.example", status="active"
    )
    link = make_link(domainId=str(domain.public_id), customCode="spring")
    before = read(api, link)
    update(api, link, before)
    assert without(read(api, link), "updatedAt") == without(before, "updatedAt")


def test_restrictions_and_utm_are_replaced_as_a_whole(api: APIClient, link: dict[str, Any]) -> None:
    update(api, link, {"restrictions": {"allowedCountries": ["ch"]}, "utm": {"term": "new"}})
    after = read(api, link)
    assert (after["restrictions"], after["utm"]) == ({"allowedCountries": ["CH"]}, {"term": "new"})


def test_immutable_fields_accept_their_current_value(api: APIClient, link: dict[str, Any]) -> None:
    update(api, link, {"originalUrl": URL, "shortCode": link["shortCode"], "title": "New"})
    assert read(api, link)["title"] == "New"
