"""Concurrent changes of keys with scopes. The database decides them."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts import api_keys
from accounts.models import ScopedKey
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from domains.models import Domain
from testing.accounts.accounts import bearer_client, key_client
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import add_member, team, token_client_in
from testing.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_concurrent_creations_do_not_exceed_the_limit(
    bearer: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_keys, "MAX_KEYS", 3)
    body = {"name": "Import", "scopes": ["urls:read"]}
    statuses = at_once([lambda: bearer.post("/api/keys", body).status_code] * 6)
    assert sorted(statuses) == [201, 201, 201, 403, 403, 403]
    assert ScopedKey.objects.count() == 3


def test_of_concurrent_rotations_the_last_one_counts(alice: NewAccount, bearer: APIClient) -> None:
    key, former = scoped_key(alice.workspace, alice.user, Scope.URLS_READ)
    path = f"/api/keys/{key.public_id}/rotate"

    def rotate() -> str:
        text: str = bearer.post(path).json()["data"]["key"]["apiKey"]
        return text

    texts = at_once([rotate] * 4)
    statuses = [key_client(text).get("/api/urls").status_code for text in (*texts, former)]
    assert sorted(statuses) == [200, 401, 401, 401, 401]


def test_no_key_remains_of_a_member_who_is_removed_meanwhile(alice: NewAccount, stranger: NewAccount) -> None:
    workspace = team(alice)
    add_member(workspace, stranger, Role.EDITOR)
    member, owner = token_client_in(workspace, stranger.user), bearer_client(alice.user)
    body = {"name": "Import", "scopes": ["urls:read"]}
    path = f"/api/workspaces/{workspace.public_id}/members/{stranger.user.public_id}"

    def create() -> Any:
        return member.post("/api/keys", body).status_code

    *created, removed = at_once([create, create, lambda: owner.delete(path).status_code])
    assert removed == 200
    assert set(created) <= {201, 404}
    assert ScopedKey.objects.count() == 0


def test_concurrent_requests_of_a_new_key_succeed(alice: NewAccount) -> None:
    client = key_client(scoped_key(alice.workspace, alice.user, Scope.URLS_READ).text)
    assert at_once([lambda: client.get("/api/urls").status_code] * 6) == [200] * 6
    assert ScopedKey.objects.get().last_used_at is not None


def test_no_key_remains_of_a_domain_that_is_deleted_meanwhile(alice: NewAccount, bearer: APIClient) -> None:
    host = "go.example"
    domain = Domain.objects.create(owner=alice.workspace, domain=host, host=host, status="active")
    other = scoped_key(alice.workspace, alice.user, Scope.URLS_READ).key
    limited = {"domainId": str(domain.public_id)}
    body = {"name": "Import", "scopes": ["urls:read"]}
    *limits, deleted = at_once(
        [
            lambda: bearer.post("/api/keys", body | limited).status_code,
            lambda: bearer.patch(f"/api/keys/{other.public_id}", limited).status_code,
            lambda: bearer.delete(f"/api/domains/{domain.public_id}").status_code,
        ]
    )
    assert deleted == 200
    assert set(limits) <= {200, 201, 404}
    # The other key remains if the deletion came first, without a limit.
    assert set(ScopedKey.objects.values_list("pk", "domain_id")) <= {(other.pk, None)}
