"""What a key with scopes may do at each route: its scopes, its limits and the role of its creator."""

from __future__ import annotations

import re
from typing import Any

from django.db.models.functions import Now
from rest_framework.test import APIClient

from accounts.models import Member, ScopedKey, Workspace
from accounts.rights import WORKSPACE_SCOPES, Role, Scope
from domains.models import Domain
from testing.accounts.accounts import key_client
from testing.accounts.keys import scoped_client, scoped_key
from testing.accounts.workspaces import key_client_in
from testing.cases import for_each
from testing.contract.every_route import DOCUMENTATION, WITH_A_TOKEN_ONLY
from tests.accounts.every_role import (
    FOR_EVERY_ROW,
    OWNER,
    TABLE,
    VIEWER,
    Site,
    join,
)
from tests.accounts.every_role import site as site

# They refuse keys that are limited to some links.
FOR_THE_WHOLE_WORKSPACE = {
    "GET /api/views",
    "POST /api/views",
    "GET /api/views/{id}",
    "PATCH /api/views/{id}",
    "DELETE /api/views/{id}",
    "GET /api/domains/{id}/analytics",
    "GET /api/domains/{id}/unknown-codes",
    "GET /api/urls/deleted",
    "GET /api/urls/{id}/history",
    "POST /api/urls/{id}/undelete",
    *(name for name in TABLE if re.search("/(qr-designs|tags|tag-changes|utm-templates)", name)),
}
FOR_EVERY_ROW_WITH_A_SCOPE = for_each(
    "name", [name for name, row in sorted(TABLE.items()) if row.scope is not None]
)


def test_the_description_says_who_may_call_each_operation(anonymous: APIClient) -> None:
    described = anonymous.get("/api/schema").json()["paths"]
    for name, row in TABLE.items():
        method, path = name.split()
        if path in DOCUMENTATION:
            continue
        operation = described[path][method.lower()]
        text = operation["description"].rpartition("\n\n")[2]
        says = [operation.get(f"x-{what}", "") for what in ("required-role", "required-scope")]
        if row.is_public:
            assert (says, text) == (["", ""], "Needs no credential."), name
            continue
        # Every member can leave.
        role = VIEWER if name == "DELETE /api/workspaces/{id}/members/{memberId}" else row.role
        assert says == [role, row.scope], name
        assert role is None or f"`{role}`" in text, name
        assert row.scope is None or f"`{row.scope}`" in text, name
        is_limited = row.scope not in {None, *WORKSPACE_SCOPES} and name not in FOR_THE_WHOLE_WORKSPACE
        assert operation["x-takes-limited-keys"] is is_limited, name


@FOR_EVERY_ROW
def test_each_scope_gets_the_expected_status(name: str, site: Site) -> None:
    row, site = TABLE[name], join(site, OWNER)
    key, text = scoped_key(Workspace.objects.get(name="Team"), site.member.user, Scope.URLS_READ)
    for scope in Scope:
        ScopedKey.objects.filter(pk=key.pk).update(scopes=scope.bit)
        response = site.call(key_client(text), name)
        if row.also is not None and scope == row.scope:
            assert (response.status_code, response.json()["data"]) == (403, {"scope": row.also.value})
        elif row.is_public or scope == row.scope:
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
        elif "{" in name or name in (
            "POST /api/qr-codes",
            "POST /api/qr-codes/sheet",
            "POST /api/urls/check",
        ):
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
