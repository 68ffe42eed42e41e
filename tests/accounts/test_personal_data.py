"""The document about an account has everything that refers to it, and nothing of others."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.db import models
from rest_framework.test import APIClient

from accounts.invitations import invite
from accounts.models import Change, Session, User, Workspace
from accounts.personal_data import EXCLUDED, PARTS
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from analytics.models import ReportMail
from testing.accounts.accounts import bearer_client
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import add_member, key_client_in, team


def export(client: APIClient) -> Any:
    response = client.get("/api/auth/me/export")
    assert response.status_code == 200, response.content
    return response.json()["data"]


def refers_to_people(column: models.Field[Any, Any]) -> bool:
    """Whether it is an account, something that is exported for an account, or an address."""
    own = {part.model for part in PARTS.values()} - {Workspace}
    return column.related_model in own or isinstance(column, models.EmailField) or "email" in column.name


def test_every_model_that_refers_to_an_account_is_exported_or_left_out_with_a_reason() -> None:
    known = {part.model._meta.label for part in PARTS.values()} | set(EXCLUDED)
    models_of_people = {
        model._meta.label
        for model in apps.get_models(include_auto_created=True)
        if any(refers_to_people(column) for column in model._meta.concrete_fields)
    }
    assert models_of_people - known == set()
    # No reason outlives its model.
    assert known - models_of_people - {"accounts.Workspace"} == {
        name for name in EXCLUDED if name.startswith("limits.")
    }
    assert all(apps.get_model(name) for name in EXCLUDED)
    for part in PARTS.values():
        assert set(part.withheld) <= {field.name for field in part.model._meta.concrete_fields}


def test_an_account_gets_everything_that_is_stored_about_it(alice: NewAccount, stranger: NewAccount) -> None:
    user, other = alice.user, stranger.user
    workspace = team(alice)
    add_member(workspace, stranger, Role.EDITOR)
    key = scoped_key(workspace, user, Scope.URLS_READ)
    invite(workspace=workspace, inviter=user, role=Role.VIEWER, email="grace@example.com")
    foreign = team(stranger, "Foreign")
    invite(workspace=foreign, inviter=other, role=Role.ADMIN, email=user.email)
    invite(workspace=foreign, inviter=other, role=Role.ADMIN, email="somebody@example.com")
    SocialAccount.objects.create(user=user, provider="oidc", uid="42", extra_data={"name": "Ada"})
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={"secret": "S3CR3T"})
    user.groups.add(Group.objects.create(name="Support"))
    LogEntry.objects.create(
        user=user,
        content_type=ContentType.objects.get_for_model(User),
        object_id="7",
        object_repr="grace@example.com",
        action_flag=ADDITION,
    )
    for member in (alice, stranger):
        key_client_in(workspace, member.api_key).post("/api/urls", {"originalUrl": "https://example.com/"})
        ReportMail.objects.create(owner=workspace, user=member.user, weekly=member is alice)
    client = bearer_client(user)
    link = key_client_in(workspace, alice.api_key).get("/api/urls").json()["data"]["urls"][0]["_id"]
    key_client_in(workspace, alice.api_key).put(f"/api/urls/{link}", {"title": "Secret plan"})
    key_client_in(workspace, stranger.api_key).put(f"/api/urls/{link}", {"title": "Other plan"})

    data = export(client)
    parts = data["parts"]
    assert {name: len(rows) for name, rows in parts.items()} == {
        **dict.fromkeys(PARTS, 1),
        "memberships": 2,
        "invitations": 2,
        "emailAddresses": 0,
        "permissions": 0,
        "changes": Change.objects.filter(actor=user).count(),
    }
    [account] = parts["account"]
    assert (account["_id"], account["email"], account["isStaff"]) == (str(user.public_id), user.email, False)
    assert sorted(row["workspaceId"] for row in parts["memberships"]) == sorted(
        str(one.public_id) for one in (alice.workspace, workspace)
    )
    assert parts["keys"][0]["scopes"] == ["urls:read"]
    assert parts["keys"][0]["_id"] == str(key.key.public_id)
    assert parts["identities"][0]["extraData"] == {"name": "Ada"}
    assert parts["groups"] == [{"group": "Support"}]
    assert {(row["email"], row["role"]) for row in parts["invitations"]} == {
        ("grace@example.com", "viewer"),
        (user.email, "admin"),
    }
    assert "link.updated" in {row["action"] for row in parts["changes"]}
    assert parts["adminActions"][0]["contentType"] == "user"
    [mails] = parts["reportMails"]
    assert (mails["ownerId"], mails["weekly"], mails["alerts"]) == (str(workspace.public_id), True, False)
    # No secrets, no numbers of the database, and nothing of other people.
    text = str(parts)
    for secret in (
        user.password,
        "S3CR3T",
        alice.api_key,
        "somebody@example.com",
        other.email,
        "Secret plan",
        "Other plan",
        Session.objects.get(user=user).password_fingerprint,
    ):
        assert secret not in text
    assert {"account.password", "apiKey.digest", "links.Link"} <= {one["name"] for one in data["notIncluded"]}
    assert all(one["reason"].endswith(".") for one in data["notIncluded"])


def test_only_a_token_of_the_account_reads_the_document(
    alice: NewAccount, api: APIClient, anonymous: APIClient, django_assert_num_queries: Any
) -> None:
    assert anonymous.get("/api/auth/me/export").status_code == 401
    assert api.get("/api/auth/me/export").status_code == 401
    client = bearer_client(alice.user)
    for number in (1, 3):
        while len(export(client)["parts"]["keys"]) < number:
            scoped_key(alice.workspace, alice.user, Scope.URLS_READ)
        with django_assert_num_queries(len(PARTS) + 4):
            export(client)
