"""The JSON objects of workspaces as their members see them. Each is made of a membership."""

from __future__ import annotations

from accounts.capacity.storage import stored_bytes
from accounts.rights.plans import Plan
from accounts.rights.representations import limits_of_plan
from accounts.rights.roles import Role
from common.openapi.response_fields import (
    choice,
    flag,
    identifier,
    moment,
    number,
    public_id,
    text,
)
from common.openapi.responses import Representation

WORKSPACE_ID = "01a1fa86-5c3e-7f10-8d44-6a2b9c0e7f81"
TOKEN = "k3TzP9qXw7Jd2mVbN5rLcF8sHgYt4uAeZ1oQi6pKxDs"  # noqa: S105 # an example

workspace_summary = Representation(
    "WorkspaceSummary",
    identifier("_id", "workspace.public_id", WORKSPACE_ID),
    text("name", "workspace.name", "Marketing"),
    flag(
        "isPersonal",
        "workspace.is_personal",
        False,
        "Whether it is the account's own, without other members.",
    ),
    choice("role", "role", Role.values, Role.OWNER.value, "Your role."),
)
workspace_object = Representation(
    "Workspace",
    *workspace_summary.fields,
    choice("plan", "workspace.plan", Plan.values, Plan.PRO.value),
    limits_of_plan.nested("limits", lambda member: limits_of_plan(member.workspace.plan)),
    moment("createdAt", "workspace.created_at", "2026-01-05T09:30:00Z"),
)
read_workspace_object = Representation(
    "WorkspaceWithUsage",
    *workspace_object.fields,
    number(
        "storedBytes",
        lambda member: stored_bytes(member.workspace),
        48_213_700,
        "What its links and QR codes take: their texts and logos, and a fixed part for each. Deleted links count "
        "until they can no longer be brought back.",
    ),
)
member_object = Representation(
    "Member",
    identifier("_id", "user.public_id", "01a1fa86-3c5e-7d21-9f0a-4b6c8d2e1f35"),
    text("email", "user.email", "ada@example.com"),
    text("firstName", "user.first_name", "Ada"),
    text("lastName", "user.last_name", "Lovelace"),
    choice("role", "role", Role.values, Role.OWNER.value),
    moment("joinedAt", "created_at", "2026-01-05T09:30:00Z"),
)
invitation_object = Representation(
    "Invitation",
    public_id("01a1fa86-9e2a-7b53-a1c7-3d8f5b0e6a42"),
    text("email", "email", "grace@example.com", "The account that can accept it. Empty: any account."),
    choice("role", "role", Role.values, Role.EDITOR.value),
    moment("createdAt", "created_at", "2026-01-05T09:30:00Z"),
    moment("expiresAt", "expires_at", "2026-01-12T09:30:00Z"),
)
