"""Who sees and manages keys, and when they end with a membership, an account, a domain or a workspace."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import Member, ScopedKey, User, Workspace
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from testing.accounts.accounts import bearer_client, key_status
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.keys import scoped_client, scoped_key
from testing.accounts.workspaces import add_member, token_client_in
from tests.accounts.scoped_keys.keys_api import UNKNOWN, create, domain, only, refused


def test_a_stranger_reaches_no_key(alice: NewAccount, bearer: APIClient, stranger: NewAccount) -> None:
    key = create(bearer, scopes=["urls:read"])
    client = bearer_client(stranger.user)
    assert client.get("/api/keys").json()["data"]["keys"] == []
    for identifier in (key["_id"], UNKNOWN):
        path = f"/api/keys/{identifier}"
        calls = [client.patch(path, {"name": "x"}), client.delete(path), client.post(f"{path}/rotate")]
        assert [response.status_code for response in calls] == [404, 404, 404]
    assert key_status(key["apiKey"]) == 200


def test_the_keys_of_a_team_are_those_of_its_workspace(
    alice: NewAccount, bearer: APIClient, marketing: Workspace
) -> None:
    there = token_client_in(marketing, alice.user)
    key = create(there, scopes=["urls:read"])
    assert bearer.get("/api/keys").json()["data"]["keys"] == []
    assert bearer.delete(f"/api/keys/{key['_id']}").status_code == 404
    assert only(there)["_id"] == key["_id"]


def test_members_see_their_own_keys_and_admins_all(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    member = add_member(marketing, stranger, Role.EDITOR)
    hers, his = token_client_in(marketing, alice.user), token_client_in(marketing, stranger.user)
    of_alice, of_member = create(hers), create(his)

    def listed(client: APIClient) -> list[str]:
        return [key["_id"] for key in client.get("/api/keys").json()["data"]["keys"]]

    assert listed(hers) == [of_member["_id"], of_alice["_id"]]
    assert listed(his) == [of_member["_id"]]
    assert his.delete(f"/api/keys/{of_alice['_id']}").status_code == 404
    # An admin revokes the keys of others, and cannot act in their names.
    path = f"/api/keys/{of_member['_id']}"
    assert refused(hers.post(f"{path}/rotate"), 403, "key_of_another")
    assert refused(hers.patch(path, {"scopes": ["urls:read"]}), 403, "key_of_another")
    assert hers.delete(path).status_code == 200
    Member.objects.filter(user=member.user, workspace=marketing).update(role=Role.ADMIN)
    assert listed(his) == [of_alice["_id"]]


def test_a_list_takes_the_same_number_of_queries_for_many_keys(alice: NewAccount, bearer: APIClient) -> None:
    counts = []
    for number in range(3):
        scoped_key(alice.workspace, alice.user, domain_id=domain(alice.workspace, f"d{number}.example").pk)
        with CaptureQueriesContext(connection) as queries:
            assert len(bearer.get("/api/keys").json()["data"]["keys"]) == number + 1
        counts.append(len(queries))
    # The credential, the page, its length and the domains.
    assert counts == [4, 4, 4]


def test_a_list_has_pages(alice: NewAccount, bearer: APIClient) -> None:
    names = [str(scoped_key(alice.workspace, alice.user).key.public_id) for _ in range(3)]
    pages = [bearer.get("/api/keys", {"page": page, "limit": 2}).json()["data"] for page in (1, 2, 3)]
    assert [[key["_id"] for key in page["keys"]] for page in pages] == [names[:0:-1], names[:1], []]
    assert [page["pagination"] for page in pages] == [
        {"page": page, "limit": 2, "total": 3, "pages": 2} for page in (1, 2, 3)
    ]
    assert refused(bearer.get("/api/keys", {"limit": 101}), 400, "validation_error")


@pytest.mark.parametrize("method", ["get", "post"])
def test_no_key_manages_keys(method: str, alice: NewAccount, api: APIClient) -> None:
    for client in (api, scoped_client(alice.workspace, alice.user)):
        response = getattr(client, method)("/api/keys")
        assert refused(response, 401, "not_authenticated")
        assert response.json()["message"].startswith("This endpoint takes a Bearer token")


def test_a_key_as_bearer_has_its_scopes(alice: NewAccount) -> None:
    text = scoped_key(alice.workspace, alice.user, Scope.URLS_READ).text
    client = APIClient(headers={"host": "sho.rt", "authorization": f"Bearer {text}"})

    assert client.get("/api/urls").status_code == 200
    assert refused(client.post("/api/urls", {"originalUrl": "https://example.com/"}), 403, "scope_required")
    without_scheme = APIClient(headers={"host": "sho.rt", "authorization": text})
    assert refused(without_scheme.get("/api/urls"), 401, "not_authenticated")


def test_the_end_of_a_membership_deletes_the_keys(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace
) -> None:
    add_member(marketing, stranger, Role.EDITOR)
    text = scoped_key(marketing, stranger.user, Scope.URLS_READ).text
    own = scoped_key(stranger.workspace, stranger.user, Scope.URLS_READ).text
    assert [key_status(text), key_status(own)] == [200, 200]
    path = f"/api/workspaces/{marketing.public_id}/members/{stranger.user.public_id}"
    assert bearer_client(alice.user).delete(path).status_code == 200
    assert [key_status(text), key_status(own)] == [401, 200]
    # A new membership does not bring the key back.
    add_member(marketing, stranger, Role.OWNER)
    assert key_status(text) == 401


def test_a_disabled_account_has_no_key(alice: NewAccount) -> None:
    text = scoped_key(alice.workspace, alice.user, Scope.URLS_READ).text
    User.objects.filter(pk=alice.user.pk).update(is_active=False)
    assert key_status(text) == 401


def test_the_deletion_of_a_domain_deletes_its_keys(alice: NewAccount, bearer: APIClient) -> None:
    of_key = domain(alice.workspace)
    text = scoped_key(alice.workspace, alice.user, Scope.URLS_READ, domain_id=of_key.pk).text
    assert key_status(text) == 200
    assert bearer.delete(f"/api/domains/{of_key.public_id}").status_code == 200
    assert key_status(text) == 401
    assert ScopedKey.objects.count() == 0


def test_the_deletion_of_a_workspace_deletes_its_keys(
    alice: NewAccount, bearer: APIClient, marketing: Workspace
) -> None:
    scoped_key(marketing, alice.user)
    assert bearer.delete(f"/api/workspaces/{marketing.public_id}").status_code == 200
    assert ScopedKey.objects.count() == 0
