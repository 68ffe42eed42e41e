"""Every route with every role and every scope: the expected status of each cell. A new route needs a row."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import EndReason, Member, ScopedKey, Session, User, Workspace
from accounts.rights.roles import Role
from accounts.rights.scopes import WORKSPACE_SCOPES, Scope
from accounts.services import NewAccount
from accounts.sessions.lifecycle import end
from accounts.workspaces.invitations import invite
from domains.models import Domain
from testing.accounts.accounts import account, bearer_client, key_client
from testing.accounts.keys import scoped_client, scoped_key
from testing.accounts.workspaces import add_member, key_client_in, team, token_client_in
from testing.contract.every_route import ROUTES, UNKNOWN_ID, WITH_A_TOKEN_ONLY

LINK = {"originalUrl": "https://example.com/"}
_VALUES = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\\x[0-9a-f]+|\d+")


class Row(NamedTuple):
    """The least role, or None if any account may call the route, and the status that it then gets.

    ``scope`` is required of keys with scopes. None: the route refuses them.
    """

    role: Role | None
    status: int
    body: dict[str, Any] | None = None
    is_public: bool = False
    scope: Scope | None = None


VIEWER, EDITOR, ADMIN, OWNER = Role
# The values of a body are replaced by the ids of the fixture's objects, if they name one.
TABLE = {
    "POST /api/auth/login": Row(None, 400, {}, is_public=True),
    "POST /api/auth/refresh": Row(None, 400, {}, is_public=True),
    "GET /api/schema": Row(None, 200, is_public=True),
    "GET /api/docs": Row(None, 200, is_public=True),
    "GET /api/auth/api-key": Row(None, 200),
    "POST /api/auth/regenerate-api-key": Row(None, 200, {}),
    "GET /api/auth/me": Row(None, 200),
    "PATCH /api/auth/me": Row(None, 200, {}),
    "POST /api/auth/change-password": Row(None, 400, {}),
    "POST /api/auth/logout": Row(None, 200, {}),
    "GET /api/auth/sessions": Row(None, 200),
    "DELETE /api/auth/sessions/{id}": Row(None, 404, {}),
    "GET /api/workspaces": Row(None, 200),
    "POST /api/workspaces": Row(None, 201, {"name": "Another"}),
    "GET /api/workspaces/{id}": Row(VIEWER, 200, scope=Scope.MEMBERS_WRITE),
    "PATCH /api/workspaces/{id}": Row(ADMIN, 200, {"name": "Renamed"}, scope=Scope.MEMBERS_WRITE),
    "DELETE /api/workspaces/{id}": Row(OWNER, 409, {}),
    "GET /api/workspaces/{id}/members": Row(VIEWER, 200, scope=Scope.MEMBERS_WRITE),
    "PATCH /api/workspaces/{id}/members/{memberId}": Row(
        ADMIN, 200, {"role": "viewer"}, scope=Scope.MEMBERS_WRITE
    ),
    "DELETE /api/workspaces/{id}/members/{memberId}": Row(ADMIN, 200, {}, scope=Scope.MEMBERS_WRITE),
    "GET /api/workspaces/{id}/invitations": Row(ADMIN, 200, scope=Scope.MEMBERS_WRITE),
    "POST /api/workspaces/{id}/invitations": Row(ADMIN, 201, {"role": "viewer"}, scope=Scope.MEMBERS_WRITE),
    "DELETE /api/workspaces/{id}/invitations/{invitationId}": Row(ADMIN, 200, {}, scope=Scope.MEMBERS_WRITE),
    "POST /api/invitations/{token}/accept": Row(None, 404, {}),
    "GET /api/keys": Row(VIEWER, 200),
    "POST /api/keys": Row(VIEWER, 201, {"name": "Another", "scopes": ["urls:read"]}),
    "PATCH /api/keys/{id}": Row(VIEWER, 200, {"name": "Renamed"}),
    "DELETE /api/keys/{id}": Row(VIEWER, 200, {}),
    "POST /api/keys/{id}/rotate": Row(VIEWER, 200, {}),
    "GET /api/urls": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/urls": Row(EDITOR, 201, LINK, scope=Scope.URLS_WRITE),
    "GET /api/urls/{id}": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "PUT /api/urls/{id}": Row(EDITOR, 200, {"title": "x"}, scope=Scope.URLS_WRITE),
    "DELETE /api/urls/{id}": Row(EDITOR, 200, {}, scope=Scope.URLS_WRITE),
    "GET /api/audit": Row(ADMIN, 200),
    "GET /api/urls/{id}/history": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/urls/{id}/history/{changeId}/restore": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "POST /api/urls/{id}/undelete": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "POST /api/urls/{id}/simulate": Row(VIEWER, 200, {}, scope=Scope.URLS_READ),
    "POST /api/urls/bulk": Row(EDITOR, 200, {"urls": [LINK]}, scope=Scope.URLS_WRITE),
    "POST /api/urls/bulk-update": Row(
        EDITOR, 200, {"ids": ["link"], "data": {"title": "x"}}, scope=Scope.URLS_WRITE
    ),
    "POST /api/urls/bulk-delete": Row(EDITOR, 200, {"ids": ["link"]}, scope=Scope.URLS_WRITE),
    # Into the personal workspace of the caller.
    "POST /api/urls/move": Row(EDITOR, 200, {"ids": ["link"], "workspaceId": "own"}),
    "POST /api/urls/import": Row(
        EDITOR, 200, {"content": "originalUrl\nhttps://example.com/\n"}, scope=Scope.URLS_WRITE
    ),
    "GET /api/urls/export": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/urls/bulk-export": Row(VIEWER, 200, {"ids": ["link"]}, scope=Scope.URLS_READ),
    "GET /api/urls/stats": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "GET /api/urls/domains/available": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "GET /api/domains": Row(VIEWER, 200, scope=Scope.DOMAINS_READ),
    "POST /api/domains": Row(ADMIN, 201, {"domain": "new.example"}, scope=Scope.DOMAINS_WRITE),
    "GET /api/domains/{id}": Row(VIEWER, 200, scope=Scope.DOMAINS_READ),
    "PATCH /api/domains/{id}": Row(ADMIN, 200, {}, scope=Scope.DOMAINS_WRITE),
    "DELETE /api/domains/{id}": Row(ADMIN, 200, {}, scope=Scope.DOMAINS_WRITE),
    # Another account has verified the name, so there is no DNS query.
    "POST /api/domains/{id}/verify": Row(ADMIN, 409, {}, scope=Scope.DOMAINS_WRITE),
    "GET /api/domains/{id}/analytics": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics/{urlId}": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics/{urlId}/devices": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics/{urlId}/geographic": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics/{urlId}/clicks": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/qr-codes": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/qr-codes": Row(EDITOR, 201, {"urlId": "link"}, scope=Scope.QR_WRITE),
    "GET /api/qr-codes/{id}": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "DELETE /api/qr-codes/{id}": Row(EDITOR, 200, {}, scope=Scope.QR_WRITE),
}
# They refuse keys that are limited to some links.
FOR_THE_WHOLE_WORKSPACE = {
    "GET /api/domains/{id}/analytics",
    "GET /api/urls/{id}/history",
    "POST /api/urls/{id}/undelete",
}


class Site(NamedTuple):
    """A workspace with an object of each kind, and a member of any role."""

    ids: dict[str, str]
    member: NewAccount
    clients: dict[str, APIClient]

    def call(self, client: APIClient, name: str) -> Any:
        """Nothing of the call remains in the database."""
        method, path = name.split()
        for part in ("{id}", "{urlId}", "{memberId}", "{invitationId}", "{token}", "{changeId}"):
            path = path.replace(part, self.ids.get(_kind(path, part), UNKNOWN_ID))
        with transaction.atomic():
            response = client.generic(method, path, _body(TABLE[name].body, self.ids), "application/json")
            transaction.set_rollback(True)
        if response.streaming:
            # An export keeps its slot until its response has been read.
            b"".join(response.streaming_content)
        return response


def _kind(path: str, part: str) -> str:
    if part == "{id}":
        return path.split("/")[2]
    return part


def _body(body: dict[str, Any] | None, ids: dict[str, str]) -> bytes:
    if body is None:
        return b""
    text = json.dumps(body).replace('"link"', json.dumps(ids.get("urls", UNKNOWN_ID)))
    return text.replace('"own"', json.dumps(ids.get("own", UNKNOWN_ID))).encode()


@pytest.fixture
def site(alice: NewAccount, stranger: NewAccount) -> Site:
    workspace = team(alice)
    owner = key_client_in(workspace, alice.api_key)
    link = owner.post("/api/urls", LINK).json()["data"]["url"]["_id"]
    domain = Domain.objects.create(owner=workspace, domain="brand.example", host="brand.example")
    Domain.objects.create(
        owner=stranger.workspace, domain="brand.example", host="brand.example", status="active"
    )
    code = owner.post("/api/qr-codes", {"urlId": link}).json()["data"]["qrCode"]["_id"]
    third = account("third@example.com")
    add_member(workspace, third, Role.EDITOR)
    member = account("member@example.com", plan="pro")
    invitation = invite(workspace=workspace, inviter=alice.user, role=Role.VIEWER).invitation
    return Site(
        {
            "workspaces": str(workspace.public_id),
            "urls": link,
            "{urlId}": link,
            "domains": str(domain.public_id),
            "qr-codes": code,
            "{memberId}": str(third.user.public_id),
            "{invitationId}": str(invitation.public_id),
            "own": str(member.user.public_id),
        },
        member,
        {
            "key": key_client_in(workspace, member.api_key),
            "token": token_client_in(workspace, member.user),
        },
    )


def join(site: Site, role: Role) -> Site:
    """The site with its member in the workspace, who has a key there."""
    workspace = Workspace.objects.get(name="Team")
    add_member(workspace, site.member, role)
    key = scoped_key(workspace, site.member.user, Scope.URLS_READ).key
    return site._replace(ids=site.ids | {"keys": str(key.public_id)})


RowTest = Callable[[str, Site], None]


def for_rows(names: list[str]) -> Callable[[RowTest], Callable[..., None]]:
    """Run the test for each of these rows with the same site: creating it takes longer than the calls of most rows.

    Nothing of a row remains in the database.
    """

    def decorate(test: RowTest) -> Callable[..., None]:
        def test_rows(site: Site, subtests: pytest.Subtests) -> None:
            for name in names:
                with subtests.test(name), transaction.atomic():
                    test(name, site._replace(ids=dict(site.ids)))
                    transaction.set_rollback(True)

        return test_rows

    return decorate


FOR_EVERY_ROW = for_rows(sorted(TABLE))
FOR_EVERY_ROW_WITH_A_SCOPE = for_rows([name for name, row in sorted(TABLE.items()) if row.scope is not None])


def test_every_route_has_a_row() -> None:
    assert {f"{method} {route.path}" for route in ROUTES for method in route.methods} == set(TABLE)


@FOR_EVERY_ROW
def test_each_role_gets_the_expected_status(name: str, site: Site) -> None:
    row = TABLE[name]
    site = join(site, VIEWER)
    for role in Role:
        Member.objects.filter(user=site.member.user, workspace__name="Team").update(role=role)
        for kind, client in site.clients.items():
            response = site.call(client, name)
            if kind == "key" and name.split()[1] in WITH_A_TOKEN_ONLY:
                expected: tuple[int, Any] = (401, None)
            elif row.role is not None and not role.includes(row.role):
                expected = (403, {"role": row.role.value})
                assert response.json()["code"] == "role_required"
            else:
                expected = (row.status, ...)
            got = response.status_code
            assert (role, kind, got) == (role, kind, expected[0]), response.getvalue()
            if expected[1] not in (None, ...):
                assert response.json()["data"] == expected[1]


@FOR_EVERY_ROW
def test_who_is_no_member_gets_404(name: str, site: Site) -> None:
    row = TABLE[name]
    for kind, client in site.clients.items():
        response = site.call(client, name)
        if kind == "key" and name.split()[1] in WITH_A_TOKEN_ONLY:
            assert response.status_code == 401
        elif row.role is None:
            assert response.status_code == row.status
        else:
            assert (response.status_code, response.json()["code"]) == (404, "not_found")


@FOR_EVERY_ROW
def test_an_ended_session_gets_401(name: str, site: Site) -> None:
    row = TABLE[name]
    site = join(site, OWNER)
    assert end(Session.objects.filter(user=site.member.user), EndReason.LOGOUT) == 1
    response = site.call(site.clients["token"], name)
    assert response.status_code == (row.status if row.is_public else 401)


def outcome(site: Site, client: APIClient, name: str) -> tuple[int, bytes, list[str]]:
    """The response, and the statements without ids, numbers, times and digests."""
    with CaptureQueriesContext(connection) as queries:
        response = site.call(client, name)
    return response.status_code, response.content, [_VALUES.sub("?", query["sql"]) for query in queries]


@for_rows([name for name in sorted(TABLE) if "{" in name and TABLE[name].role])
def test_an_object_of_another_workspace_is_unknown(name: str, site: Site) -> None:
    """The same response after the same statements, so that the time is the same, too."""
    unknown = site._replace(ids={})
    if "workspaces" in name:
        site.ids["{memberId}"] = str(User.objects.get(email="alice@example.com").public_id)
    else:
        # A member of both, without the header.
        site = join(site, OWNER)
    takes_keys = name.split()[1] not in WITH_A_TOKEN_ONLY
    client = key_client(site.member.api_key) if takes_keys else bearer_client(site.member.user)
    outcome(unknown, client, name)
    foreign, expected = outcome(site, client, name), outcome(unknown, client, name)
    assert foreign[0] == 404
    assert foreign == expected


@for_rows(["POST /api/qr-codes", "POST /api/urls/bulk-update", "POST /api/urls/bulk-delete"])
def test_ids_in_bodies_are_unknown_without_the_header(name: str, site: Site) -> None:
    site = join(site, OWNER)
    client = key_client(site.member.api_key)
    unknown = site._replace(ids={"urls": UNKNOWN_ID})
    outcome(unknown, client, name)
    foreign, expected = outcome(site, client, name), outcome(unknown, client, name)
    assert foreign == expected
    assert b'"status":404' in foreign[1] or foreign[0] == 404


@FOR_EVERY_ROW
def test_each_scope_gets_the_expected_status(name: str, site: Site) -> None:
    row, site = TABLE[name], join(site, OWNER)
    key, text = scoped_key(Workspace.objects.get(name="Team"), site.member.user, Scope.URLS_READ)
    for scope in Scope:
        ScopedKey.objects.filter(pk=key.pk).update(scopes=scope.bit)
        response = site.call(key_client(text), name)
        if row.is_public or scope == row.scope:
            assert response.status_code == row.status
        elif name.split()[1] in WITH_A_TOKEN_ONLY:
            assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")
        elif row.scope is None:
            assert (response.status_code, response.json()["code"]) == (403, "key_limited")
        else:
            assert (response.status_code, response.json()["code"]) == (403, "scope_required")
            assert response.json()["data"] == {"scope": row.scope.value}


@FOR_EVERY_ROW_WITH_A_SCOPE
def test_a_key_has_at_most_the_role_of_its_creator(name: str, site: Site) -> None:
    row, site = TABLE[name], join(site, VIEWER)
    assert row.role is not None
    client = scoped_client(Workspace.objects.get(name="Team"), site.member.user)
    for role in Role:
        Member.objects.filter(user=site.member.user, workspace__name="Team").update(role=role)
        response = site.call(client, name)
        if role.includes(row.role):
            assert response.status_code == row.status
        else:
            assert (response.status_code, response.json()["code"]) == (403, "role_required")


@FOR_EVERY_ROW
def test_an_expired_key_gets_401(name: str, site: Site) -> None:
    row, site = TABLE[name], join(site, OWNER)
    key, text = scoped_key(Workspace.objects.get(name="Team"), site.member.user)
    ScopedKey.objects.filter(pk=key.pk).update(expires_at=Now())
    response = site.call(key_client(text), name)
    if row.is_public:
        assert response.status_code == row.status
    else:
        takes_keys = name.split()[1] not in WITH_A_TOKEN_ONLY
        assert response.status_code == 401
        assert response.json()["code"] == ("key_expired" if takes_keys else "not_authenticated")


@FOR_EVERY_ROW_WITH_A_SCOPE
def test_a_limited_key_reaches_nothing_outside_its_limits(name: str, site: Site) -> None:
    row, site = TABLE[name], join(site, OWNER)
    workspace = Workspace.objects.get(name="Team")
    other = Domain.objects.create(owner=workspace, domain="x.example", host="x.example", status="active")
    limits: list[dict[str, Any]] = [{"domain_id": other.pk}, {"only_own": True}]
    for limit in limits:
        response = site.call(scoped_client(workspace, site.member.user, **limit), name)
        outcome = response.status_code
        if row.scope in WORKSPACE_SCOPES:
            assert (outcome, response.json()["code"]) == (403, "scope_required")
        elif name in FOR_THE_WHOLE_WORKSPACE:
            assert (outcome, response.json()["code"]) == (403, "key_limited")
        elif name.startswith("GET /api/domains/{id}") and limit == {"only_own": True}:
            assert outcome == 200
        elif "{" in name or name == "POST /api/qr-codes":
            assert (outcome, response.json()["code"]) == (404, "not_found")
        elif name in ("POST /api/urls/bulk-update", "POST /api/urls/bulk-delete"):
            assert b'"status":404' in response.content or outcome == 404
        else:
            assert outcome == row.status
            assert site.ids["urls"].encode() not in response.getvalue()


def test_a_key_reaches_no_other_workspace(site: Site) -> None:
    site = join(site, OWNER)
    workspace = Workspace.objects.get(name="Team")
    text = scoped_key(workspace, site.member.user).text
    personal = site.member.workspace
    named = {"x-workspace": str(personal.public_id)}
    assert key_client(text).get("/api/urls", headers=named).status_code == 404
    assert key_client(text).get(f"/api/workspaces/{personal.public_id}").status_code == 404
    assert key_client_in(workspace, text).get("/api/urls").status_code == 200
    assert key_client(text).get(f"/api/workspaces/{workspace.public_id}").status_code == 200
