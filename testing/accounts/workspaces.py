"""Workspaces of teams, and clients that act in them."""

from __future__ import annotations

from rest_framework.test import APIClient

from accounts.models import Member, User, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from accounts.workspaces import create_workspace
from testing.accounts.accounts import log_in


def team(owner: NewAccount, name: str = "Team") -> Workspace:
    """A workspace of a team with one member, its owner."""
    return create_workspace(creator=owner.user, name=name).workspace


def add_member(workspace: Workspace, account: NewAccount, role: Role) -> Member:
    return Member.objects.create(workspace=workspace, user=account.user, role=role)


def key_client_in(workspace: Workspace, api_key: str) -> APIClient:
    headers = {"host": "sho.rt", "x-api-key": api_key, "x-workspace": str(workspace.public_id)}
    return APIClient(headers=headers)


def token_client_in(workspace: Workspace, user: User) -> APIClient:
    headers = {
        "host": "sho.rt",
        "authorization": f"Bearer {log_in(user).access}",
        "x-workspace": str(workspace.public_id),
    }
    return APIClient(headers=headers)
