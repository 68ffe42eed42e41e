"""The history of all objects of an account: what it contains, its filters, and its deletion."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F
from rest_framework.test import APIClient

from accounts.history import delete_old_changes
from accounts.models import Change
from accounts.services import NewAccount
from domains.models import Domain
from testing.accounts.accounts import PASSWORD, bearer_client, key_client
from testing.accounts.admin import Operator
from testing.accounts.keys import scoped_key

MakeLink = Callable[..., dict[str, Any]]


def audit(client: APIClient, **query: Any) -> list[dict[str, Any]]:
    response = client.get("/api/audit", query)
    assert response.status_code == 200, response.json()
    return response.json()["data"]["changes"]


def values(change: dict[str, Any]) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    return change["action"], change["via"], change["before"], change["after"]


def newest(client: APIClient) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    return values(audit(client, limit=1)[0])


# The author is named until the end of a transaction.
@pytest.mark.django_db(transaction=True)
def test_domains(api: APIClient) -> None:
    domain = api.post("/api/domains", {"domain": "go.brand.example"}).json()["data"]["domain"]
    assert newest(api) == ("domain.created", "api_key", {}, {"fullDomain": "go.brand.example"})
    path = f"/api/domains/{domain['_id']}"
    assert api.patch(path, {"rootUrl": "https://brand.example/"}).status_code == 200
    expected = ({"rootUrl": None}, {"rootUrl": "https://brand.example/"})
    assert newest(api) == ("domain.updated", "api_key", *expected)
    # The times of checks are no settings.
    Domain.objects.update(recheck_at=F("recheck_at") + timedelta(days=1), failed_checks=1)
    Domain.objects.update(status="active")
    assert newest(api) == ("domain.updated", "service", {"status": "pending"}, {"status": "active"})
    assert api.delete(path).status_code == 200
    before = {
        "fullDomain": "go.brand.example",
        "status": "active",
        "rootUrl": "https://brand.example/",
        "notFoundUrl": None,
        "expiredUrl": None,
        "pages": {},
        "appLinks": {},
        "codeLength": None,
        "codeAlphabet": None,
    }
    assert newest(api) == ("domain.deleted", "api_key", before, {})
    assert len(audit(api, object=domain["_id"])) == 4


def test_keys_settings_and_passwords(bearer: APIClient, alice: NewAccount) -> None:
    assert bearer.post("/api/auth/regenerate-api-key").status_code == 200
    assert newest(bearer) == ("key.replaced", "token", {}, {})
    assert bearer.patch("/api/auth/me", {"firstName": "Augusta"}).status_code == 200
    expected = ({"firstName": "Ada"}, {"firstName": "Augusta"})
    assert newest(bearer) == ("account.updated", "token", *expected)
    assert bearer.patch("/api/auth/me", {"firstName": "Augusta"}).status_code == 200
    body = {"currentPassword": PASSWORD, "newPassword": "another good password"}
    token = bearer.post("/api/auth/change-password", body).json()["token"]
    changed = APIClient(headers={"host": "sho.rt", "authorization": f"Bearer {token}"})
    actions = [(change["action"], change["after"]) for change in audit(changed)]
    assert actions == [
        ("account.updated", {"password": "set"}),
        ("account.updated", {"firstName": "Augusta"}),
        ("key.replaced", {}),
        ("key.created", {}),
    ]


def test_an_operator_is_not_named(operator: Operator, api: APIClient, alice: NewAccount) -> None:
    response = operator.act("accounts/user/", "rotate_keys", [alice.user])
    with_key = bearer_client(alice.user)
    [change, *_] = audit(with_key)
    assert (change["action"], change["via"], change["actor"]) == ("key.replaced", "operator", None)
    assert change["requestId"] == response["X-Request-ID"]
    fields = {"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace", "plan": "enterprise"}
    operator.send(f"accounts/user/{alice.user.pk}/change/", **fields)
    assert newest(with_key) == (
        "account.updated",
        "operator",
        {"plan": "pro", "email": None},
        {"plan": "enterprise", "email": "changed"},
    )
    passwords = {"password1": "new pass word", "password2": "new pass word", "usable_password": "true"}
    operator.send(f"accounts/user/{alice.user.pk}/password/", **passwords)
    operator.act("accounts/user/", "disable", [alice.user])
    operator.act("accounts/user/", "enable", [alice.user])
    alice.user.refresh_from_db()
    assert [values(change) for change in audit(bearer_client(alice.user), limit=3)] == [
        ("account.updated", "operator", {"isActive": False}, {"isActive": True}),
        ("account.updated", "operator", {"isActive": True}, {"isActive": False}),
        ("account.updated", "operator", {"password": "set"}, {"password": "set"}),
    ]


@pytest.mark.django_db(transaction=True)
def test_the_actor_of_a_request_is_not_that_of_the_next_one(
    operator: Operator, api: APIClient, make_link: MakeLink
) -> None:
    operator.see("accounts/user/")
    link = make_link()
    Change.objects.all().delete()
    api.put(f"/api/urls/{link['_id']}", {"title": "a"})
    Domain.objects.create(owner_id=Change.objects.get().owner_id, domain="b.example", host="b.example")
    assert [change["via"] for change in audit(api)] == ["service", "api_key"]


def test_filters_combine(api: APIClient, bearer: APIClient, alice: NewAccount, make_link: MakeLink) -> None:
    first, second = make_link(), make_link()
    for link in (first, second):
        assert api.put(f"/api/urls/{link['_id']}", {"title": "a"}).status_code == 200
    assert api.delete(f"/api/urls/{first['_id']}").status_code == 200
    me = str(alice.user.public_id)
    assert [change["action"] for change in audit(api, object=first["_id"])] == [
        "link.deleted",
        "link.updated",
    ]
    assert len(audit(api, action="link.updated")) == 2
    assert len(audit(api, actor=me)) == 3
    assert len(audit(api, actor=me, action="link.updated", object=second["_id"])) == 1
    assert audit(api, actor=str(uuid4())) == []
    assert audit(api, object=str(uuid4())) == []
    assert audit(api, action="link.unknown") == []


@pytest.mark.parametrize(
    ("name", "value"), [("actor", "x"), ("object", "x"), ("cursor", "x"), ("limit", "0"), ("limit", "101")]
)
def test_bad_parameters_are_400(name: str, value: str, api: APIClient) -> None:
    response = api.get("/api/audit", {name: value})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (400, name)


def test_a_stranger_sees_nothing(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, alice: NewAccount
) -> None:
    link = make_link()
    assert api.put(f"/api/urls/{link['_id']}", {"title": "her private title"}).status_code == 200
    Change.objects.exclude(owner=alice.workspace).delete()
    assert audit(strange_api) == []
    assert audit(strange_api, object=link["_id"]) == []
    assert audit(strange_api, actor=str(alice.user.public_id)) == []


@pytest.mark.parametrize("changes", [1, 20])
def test_a_page_takes_one_query_besides_authentication(
    changes: int, api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    link = make_link()
    for number in range(changes):
        api.put(f"/api/urls/{link['_id']}", {"title": str(number)})
    audit(api)
    with django_assert_num_queries(2):
        assert len(audit(api, action="link.updated")) == changes


def test_old_changes_are_deleted(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    Change.objects.all().delete()
    for title in ("a", "b", "c", "d"):
        api.put(f"/api/urls/{link['_id']}", {"title": title})
    old = Change.objects.order_by("pk")[:3].values("pk")
    Change.objects.filter(pk__in=list(old.values_list("pk", flat=True))).update(
        changed_at=F("changed_at") - timedelta(days=400, minutes=1)
    )
    assert delete_old_changes(0) == 0
    assert delete_old_changes(401) == 0
    assert delete_old_changes(400) == 3
    assert [change["after"] for change in audit(api)] == [{"title": "d"}]


def test_the_history_is_deleted_with_its_owner(
    alice: NewAccount, stranger: NewAccount, make_link: MakeLink
) -> None:
    make_link()
    Domain.objects.create(owner=alice.workspace, domain="b.example", host="b.example")
    alice.user.delete()
    assert set(Change.objects.values_list("owner", flat=True)) == {stranger.user.pk}


def test_a_change_has_the_id_of_the_key_with_scopes(
    alice: NewAccount, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    new = scoped_key(alice.workspace, alice.user, "urls:write")
    client = key_client(new.text)
    own = client.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    path = f"/api/urls/{link['_id']}"
    # A statement of its own, a transaction, a bulk call, a restoration, a deletion and an undeletion.
    assert client.put(path, {"title": "a"}).status_code == 200
    assert client.put(path, {"expiresAt": "2090-01-01"}).status_code == 200
    assert (
        client.post("/api/urls/bulk-update", {"ids": [link["_id"]], "data": {"title": "b"}}).status_code
        == 200
    )
    newest = audit(api, object=link["_id"], limit=1)[0]
    assert client.post(f"{path}/history/{newest['_id']}/restore").status_code == 200
    assert client.delete(f"/api/urls/{own['_id']}").status_code == 200
    assert client.post(f"/api/urls/{own['_id']}/undelete").status_code == 200
    assert api.put(path, {"title": "c"}).status_code == 200
    changes = [change for change in audit(api) if change["objectId"] in {link["_id"], own["_id"]}]
    assert [change["keyId"] for change in changes] == [None, *[str(new.key.public_id)] * 6]
    assert {change["via"] for change in changes} == {"api_key"}
    assert {change["actor"]["_id"] for change in changes} == {str(alice.user.public_id)}
