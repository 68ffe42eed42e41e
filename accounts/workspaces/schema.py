"""The OpenAPI description of workspaces, members and invitations."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_serializer

from accounts.models import INVITATION_DAYS
from accounts.rights import Role
from accounts.workspaces.invitations import (
    MAX_MEMBERS,
    MAX_PENDING,
    AlreadyMember,
    InvitationForAnother,
    InvitationNotFound,
    TooManyInvitations,
    TooManyMembers,
)
from accounts.workspaces.serializers import (
    CreateWorkspaceSerializer,
    InviteSerializer,
    UpdateMemberSerializer,
    UpdateWorkspaceSerializer,
)
from accounts.workspaces.services import (
    MAX_MEMBERSHIPS,
    LastOwner,
    PersonalWorkspace,
    TooManyWorkspaces,
    WorkspaceNotEmpty,
)
from common.errors import RoleRequired
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.rest.fields import DIRECTION_REFUSED

name_choices("Role", Role.values)
for _name, _serializer in {
    "CreateWorkspace": CreateWorkspaceSerializer,
    "UpdateWorkspace": UpdateWorkspaceSerializer,
    "UpdateMember": UpdateMemberSerializer,
    "Invite": InviteSerializer,
}.items():
    extend_schema_serializer(component_name=_name)(_serializer)

_ROLES = (
    "A viewer reads; an editor also changes links and QR codes; an admin also changes domains and members;"
    " an owner also changes owners and deletes the workspace."
)
_BLANK = invalid("name", "blank", "This field may not be blank.")
_DIRECTION = invalid("name", "direction", DIRECTION_REFUSED)
_OWNER_REQUIRED = RoleRequired(Role.OWNER)
_TOO_MANY_WORKSPACES = TooManyWorkspaces(10)
describe_workspaces = describe(
    "Workspaces",
    of="workspace",
    list=Operation(
        "listWorkspaces",
        "List the workspaces of your account.",
        "The personal workspace, and then the others from the oldest.",
        description="A workspace owns links, domains, QR codes and quotas. Name it in header `X-Workspace` of other"
        f" calls to act in it. {_ROLES}",
    ),
    create=Operation(
        "createWorkspace",
        "Create a workspace for a team.",
        "The workspace. You are its owner.",
        description="It gets the plan of your account. It shares the account's limits on stored data, domains and QR"
        " codes, and on the free plan also those on requests and links per month."
        " An account can create a limited number of workspaces in a day.",
        examples=[{"name": "Marketing"}],
        errors=[_BLANK, _DIRECTION, _TOO_MANY_WORKSPACES],
    ),
    retrieve=Operation(
        "getWorkspace",
        "Read a workspace.",
        "The workspace.",
        description="Its plan, limits and stored bytes, and your role.",
    ),
    partial_update=Operation(
        "updateWorkspace",
        "Rename a workspace.",
        "The workspace.",
        description="You can send back the whole object: all fields but the name are ignored.",
        examples=[{"name": "Marketing"}],
        errors=[_BLANK, _DIRECTION],
    ),
    destroy=Operation(
        "deleteWorkspace",
        "Delete an empty workspace.",
        "The workspace is deleted.",
        description="Move or delete its links and domains first.",
        errors=[PersonalWorkspace(), WorkspaceNotEmpty()],
    ),
)

describe_members = describe(
    "Workspaces",
    of="member",
    list=Operation(
        "listMembers",
        "List the members of a workspace.",
        "The members, in the order in which they joined.",
        description=_ROLES,
    ),
    partial_update=Operation(
        "updateMember",
        "Change the role of a member.",
        "The member.",
        description=f"{_ROLES} Pending invitations of the member to a role that the member may no longer offer are"
        " withdrawn.",
        examples=[{"role": "editor"}],
        errors=[
            invalid("role", "invalid_choice", '"x" is not a valid choice.'),
            _OWNER_REQUIRED,
            _TOO_MANY_WORKSPACES,
            LastOwner(),
        ],
    ),
    destroy=Operation(
        "removeMember",
        "Remove a member, or leave.",
        "The account is no longer a member.",
        description="Admins remove others; every member can leave. The member's links stay.",
        errors=[RoleRequired(Role.ADMIN), _OWNER_REQUIRED, LastOwner()],
    ),
)

describe_invitations = describe(
    "Workspaces",
    of="invitation",
    list=Operation(
        "listInvitations",
        "List the pending invitations of a workspace.",
        "The invitations, newest first, without their tokens.",
        description="Invitations that are neither accepted nor expired.",
    ),
    create=Operation(
        "createInvitation",
        "Create an invitation to a workspace.",
        "The invitation with its token.",
        description=f"The token works once and for {INVITATION_DAYS} days. A workspace has at most {MAX_PENDING}"
        f" pending invitations and {MAX_MEMBERS} members, and an account is a member of at most {MAX_MEMBERSHIPS}"
        " workspaces.",
        examples=[{"role": "editor", "email": "grace@example.com"}],
        errors=[
            invalid("role", "invalid_choice", '"x" is not a valid choice.'),
            invalid("email"),
            _OWNER_REQUIRED,
            TooManyInvitations(),
            PersonalWorkspace(),
        ],
    ),
    destroy=Operation(
        "deleteInvitation",
        "Withdraw an invitation.",
        "Its token no longer works.",
        description="The token of a withdrawn invitation is refused like an unknown one.",
    ),
)

describe_acceptance = describe(
    "Workspaces",
    create=Operation(
        "acceptInvitation",
        "Join a workspace.",
        "The workspace.",
        description="Takes an access token only. The invitation works once, and not while the account of its inviter"
        " is disabled.",
        errors=[
            InvitationNotFound(),
            InvitationForAnother(),
            TooManyMembers(),
            _TOO_MANY_WORKSPACES,
            AlreadyMember(),
        ],
    ),
)
