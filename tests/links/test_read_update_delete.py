from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.hashers import check_password
from django.db import DatabaseError, connection, transaction
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from testing.clicks import drain
from testing.refusals import broken_rules
from tests.links.routing.fields import DEFAULTS

URL = "https://example.com/page"
MakeLink = Callable[..., dict[str, Any]]

FULL = {
    "customCode": "spring",
    "title": "Title",
    "description": "Description",
    "tags": ["One", "two"],
    "expiresAt": "2030-12-31T23:59:59.123456Z",
    "utm": {"source": "s", "medium": "m", "campaign": "c", "term": "t", "content": "o"},
    "restrictions": {
        "maxClicks": 9,
        "allowedCountries": ["DE", "AT"],
        "blockedCountries": ["FR"],
        "allowedDevices": ["mobile"],
    },
    "redirectType": 301,
}
WHOLE_KEYS = {
    "_id", "originalUrl", "shortCode", "shortUrl", "customCode", "title", "description", "tags", "clickCount",
    "isActive", "expiresAt", "hasPassword", "domainId", "utm", "restrictions", "redirectType", "creator", "createdAt",
    "updatedAt",
}  # fmt: skip


def address(link: dict[str, Any]) -> str:
    return f"/api/urls/{link['_id']}"


def read(api: APIClient, link: dict[str, Any]) -> dict[str, Any]:
    response = api.get(address(link))
    assert response.status_code == 200, response.content
    assert response.json().keys() == {"success", "data"}
    assert response.json()["data"].keys() == {"url"}
    return response.json()["data"]["url"]


def update(api: APIClient, link: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    response = api.put(address(link), body)
    assert response.status_code == 200, response.content
    body = response.json()
    assert body.keys() - {"warnings"} == {"success", "message", "data"}
    assert (body["success"], body["message"]) == (True, "URL updated successfully.")
    assert body["data"].keys() == {"url"}
    return body["data"]["url"]


def row_of(link: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The link's complete row."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l::text, (SELECT array_agg(c::text ORDER BY c.id) FROM links_code c WHERE c.link_id = l.id)"
            " FROM links_link l WHERE public_id = %s",
            [link["_id"]],
        )
        return cursor.fetchall()


def refused(api: APIClient, link: dict[str, Any], body: dict[str, Any]) -> list[tuple[str, str]]:
    """The errors of an update. Asserts that it changed nothing."""
    before = row_of(link)
    response = api.put(address(link), body)
    assert row_of(link) == before, body
    return broken_rules(response)


def without(link: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in link.items() if name not in names}


@pytest.fixture
def link(make_link: MakeLink) -> dict[str, Any]:
    return make_link(URL, password="open sesame", **FULL)


# Read


def test_a_link_in_full(api: APIClient, link: dict[str, Any], alice: NewAccount) -> None:
    assert read(api, link) == {
        **FULL,
        **DEFAULTS,
        "_id": link["_id"],
        "originalUrl": URL,
        "shortCode": link["shortCode"],
        "shortUrl": "http://sho.rt/spring",
        "clickCount": 0,
        "isActive": True,
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


# Update


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
    with django_assert_num_queries(3):  # the credential, the update, the codes to invalidate
        updated = update(api, link, changes)
    sent = changes.keys() - {"password"}
    assert {name: updated[name] for name in sent} == {name: changes[name] for name in sent}
    assert updated["updatedAt"] > before["updatedAt"]
    assert read(api, link) == before | updated


@pytest.mark.parametrize(
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
    assert after[field] == stored
    assert without(after, field, "updatedAt", "shortUrl") == without(before, field, "updatedAt", "shortUrl")
    assert after["shortUrl"] == f"http://sho.rt/{after['customCode'] or after['shortCode']}"
    assert after["updatedAt"] > before["updatedAt"]
    shown = {"_id", "shortUrl", "title", "tags", "isActive", "updatedAt", field}
    assert changed == {name: after[name] for name in shown}


def test_a_password_changes_and_is_removed(api: APIClient, link: dict[str, Any]) -> None:
    def hashed() -> str | None:
        return Link.objects.get(public_id=link["_id"]).password

    before = read(api, link)
    assert check_password("open sesame", hashed())
    changed = update(api, link, {"password": "new"})
    assert changed.keys() == {"_id", "shortUrl", "title", "tags", "isActive", "hasPassword", "updatedAt"}
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("method", ["patch", "post"])
def test_other_methods_are_not_allowed(api: APIClient, link: dict[str, Any], method: str) -> None:
    before = row_of(link)
    response = getattr(api, method)(address(link), {"title": "patched"})
    assert response.status_code == 405
    assert {"GET", "PUT", "DELETE"} <= set(response["Allow"].split(", "))
    assert method.upper() not in response["Allow"]
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
