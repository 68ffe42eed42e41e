"""Members of a workspace and their invitations."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount


def path_of(workspace: Workspace, below: str = "") -> str:
    return f"/api/workspaces/{workspace.public_id}{below}"


def path_of_member(workspace: Workspace, member: NewAccount) -> str:
    return path_of(workspace, f"/members/{member.user.public_id}")


def invitation_of(client: APIClient, workspace: Workspace, **fields: str) -> Any:
    response = client.post(path_of(workspace, "/invitations"), {"role": "editor", **fields})
    assert response.status_code == 201, response.content
    return response.json()["data"]["invitation"]


def accept(client: APIClient, token: str) -> Any:
    return client.post(f"/api/invitations/{token}/accept")


def assert_refused(response: Any, status: int, code: str) -> None:
    assert (response.status_code, response.json()["code"]) == (status, code)
