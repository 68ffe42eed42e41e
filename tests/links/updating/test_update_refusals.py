"""Changes of a link that are refused, and fields that no client changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from testing.cases import for_each
from testing.links.calls import address
from testing.refusals import broken_rules
from tests.links.updating.single import URL, read, row_of, update, without
from tests.links.updating.single import link as link

MakeLink = Callable[..., dict[str, Any]]


def refused(api: APIClient, link: dict[str, Any], body: dict[str, Any]) -> list[tuple[str, str]]:
    """The errors of an update. Asserts that it changed nothing."""
    before = row_of(link)
    response = api.put(address(link), body)
    assert row_of(link) == before, body
    return broken_rules(response)


def test_a_changed_immutable_field_refuses_the_whole_update(api: APIClient, link: dict[str, Any]) -> None:
    others = {
        "title": "New",
        "isActive": False,
        "customCode": "summer",
        "password": None,
        "restrictions": None,
    }
    addresses = ("https://evil.example/", URL + "/", URL.upper(), f" {URL}", "nonsense", "http://sho.rt/")
    for original_url in addresses:
        assert refused(api, link, {"originalUrl": original_url, **others}) == [("originalUrl", "immutable")]
    for short_code in ("evil123", link["shortCode"].swapcase(), "spring", link["shortCode"] + " "):
        assert refused(api, link, {"shortCode": short_code, **others}) == [("shortCode", "immutable")]
    changes = {"originalUrl": "https://evil.example/", "shortCode": "evil123"}
    assert sorted(refused(api, link, changes)) == [("originalUrl", "immutable"), ("shortCode", "immutable")]
    read_only = [
        refused(api, link, {name: value}) for name in changes for value in (None, "", 5, [], {}, True)
    ]
    assert {field for [(field, _)] in read_only} == {"originalUrl", "shortCode"}


def test_fields_that_are_not_the_clients_are_ignored(
    api: APIClient, link: dict[str, Any], stranger: NewAccount
) -> None:
    foreign = {
        "_id": "019a0000-0000-7000-8000-000000000000", "id": 1, "pk": 1, "public_id": "x", "clickCount": 99,
        "clicks": 99, "createdAt": "2001-01-01T00:00:00Z", "updatedAt": "2001-01-01T00:00:00Z", "shortUrl": "x",
        "creator": {"_id": str(stranger.user.public_id), "email": "mallory@example.com"}, "owner": stranger.user.pk,
        "owner_id": stranger.user.pk, "plan": "enterprise", "hasPassword": False, "domainId": "nonsense", "domain": 1,
        "domain_id": 1, "destination": "https://evil.example/", "tag_keys": ["x"], "is_superuser": True,
        "__class__": "x", "": "x",
    }  # fmt: skip
    assert len(foreign) > 20
    before = row_of(link)
    for name, value in foreign.items():
        update(api, link, {name: value})
        assert row_of(link) == before, name
    whole = read(api, link)
    update(api, link, {**foreign, "title": "New"})
    assert without(read(api, link), "updatedAt", "title") == without(whole, "updatedAt", "title")


def test_a_link_stays_on_its_domain(api: APIClient, alice: NewAccount, link: dict[str, Any]) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="brand.example", host="brand.example", status="active"
    )
    for domain_id in (str(domain.public_id), None, 5, "base", "nonsense", []):
        update(api, link, {"domainId": domain_id, "title": "New"})
        assert read(api, link)["domainId"] == "base"


NOT_A_STRING = (5, 1.5, True, [], {})


@for_each(
    ("field", "values", "code"),
    [
        ("customCode", NOT_A_STRING, "invalid"),
        ("customCode", ("ab", "a" * 51, "a b", "abc\n", "\uff41\uff42\uff43"), "code"),
        ("customCode", ("",), "blank"),
        ("title", NOT_A_STRING, "invalid"),
        ("title", ("x" * 201, "\N{GRINNING FACE}" * 201), "max_length"),
        ("description", NOT_A_STRING, "invalid"),
        ("description", ("x" * 501,), "max_length"),
        ("tags", ("x", "", 5, True, {}), "not_a_list"),
        ("tags", (["x"] * 51,), "max_length"),
        ("isActive", ("true", "false", "", 0, 1, 1.0, [], {}), "invalid"),
        ("isActive", (None,), "null"),
        ("expiresAt", (*NOT_A_STRING, "", "tomorrow", "2030-02-30", 1893456000), "invalid"),
        ("password", NOT_A_STRING, "invalid"),
        ("password", ("",), "blank"),
        ("password", ("x" * 129,), "max_length"),
        ("utm", ("x", 5, True, []), "invalid"),
        ("restrictions", ("x", 5, True, []), "invalid"),
        ("redirectType", ("301", 301.0, True, [], {}), "invalid"),
        ("redirectType", (0, 300, 303, 307, 308), "redirect_type"),
    ],
)
def test_a_wrong_value_is_refused(
    api: APIClient, link: dict[str, Any], field: str, values: tuple[object, ...], code: str
) -> None:
    for value in values:
        assert refused(api, link, {field: value, "title" if field != "title" else "tags": None}) == [
            (field, code)
        ]


def test_all_errors_are_reported_together_and_nothing_changes(api: APIClient, link: dict[str, Any]) -> None:
    body = {
        "title": "Right",
        "customCode": "a b",
        "description": 5,
        "tags": ["fine", 5, None],
        "isActive": "false",
        "expiresAt": "never",
        "password": [],
        "utm": {"source": 5, "term": "x" * 201},
        "restrictions": {"maxClicks": "9", "allowedCountries": ["XX"], "allowedDevices": "mobile"},
        "redirectType": "301",
        "originalUrl": 5,
        "shortCode": None,
    }
    assert sorted(refused(api, link, body)) == [
        ("customCode", "code"),
        ("description", "invalid"),
        ("expiresAt", "invalid"),
        ("isActive", "invalid"),
        ("originalUrl", "invalid"),
        ("password", "invalid"),
        ("redirectType", "invalid"),
        ("restrictions.allowedCountries.0", "country"),
        ("restrictions.allowedDevices", "not_a_list"),
        ("restrictions.maxClicks", "invalid"),
        ("shortCode", "null"),
        ("tags.1", "invalid"),
        ("tags.2", "null"),
        ("utm.source", "invalid"),
        ("utm.term", "max_length"),
    ]


@pytest.mark.parametrize("body", ["null", "[]", '"x"', "{", '{"title": "a", "title": "b"}', '{"title": NaN}'])
def test_a_body_that_is_not_an_object_changes_nothing(
    api: APIClient, link: dict[str, Any], body: str
) -> None:
    before = row_of(link)
    response = api.put(address(link), body, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["success"] is False
    assert row_of(link) == before
