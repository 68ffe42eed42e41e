from __future__ import annotations

from functools import cached_property
from typing import Any, cast
from uuid import UUID

from rest_framework.request import Request

from accounts.api_requests.idempotency import idempotent
from accounts.api_requests.token_only import TokenOnlyViewSet
from accounts.callers import Caller, account_of, require_role
from accounts.models import Member, Workspace
from accounts.representations import (
    invitation_object,
    member_object,
    new_invitation,
    read_workspace_object,
    workspace_object,
)
from accounts.rights import Role, Scope
from accounts.workspaces import invitations, selectors, services
from accounts.workspaces.schema import (
    describe_acceptance,
    describe_invitations,
    describe_members,
    describe_workspaces,
)
from accounts.workspaces.serializers import (
    CreateWorkspaceSerializer,
    InviteSerializer,
    UpdateMemberSerializer,
    UpdateWorkspaceSerializer,
)
from common.rest.access import OWN_ACCOUNT, Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns


class _InWorkspace(ApiViewSet):
    has_workspace_in_path = True
    # The caller in the workspace of the path.
    membership: Member

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The validated body. Raises InvalidFields."""
        return self.read_body()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Require the role of the action in the workspace of the path. As in other views, validate the body first."""
        super().initial(request, *args, **kwargs)
        access = self.access.get(self.action)
        if access is None or access.role is None:
            return
        if self.action in self.bodies:
            _ = self.fields
        membership = selectors.find_membership(account_of(request), kwargs["id"])
        if membership is not None and not _is_reachable(request, membership):
            membership = None
        require_role(None if membership is None else Role(membership.role), access.role)
        assert membership is not None  # noqa: S101 # `require_role` raises otherwise
        self.membership = membership


def _is_reachable(request: Request, membership: Member) -> bool:
    """A key with scopes reaches its own workspace only."""
    caller = cast(Caller, request.auth)
    return caller.key is None or membership.workspace_id == cast(Workspace, caller.workspace).pk


@describe_workspaces
class WorkspaceViewSet(_InWorkspace):
    lookup_url_kwarg = "id"
    bodies = {"create": CreateWorkspaceSerializer, "partial_update": UpdateWorkspaceSerializer}
    # A key belongs to one workspace: it neither lists the others nor creates or deletes any.
    access = {
        "list": OWN_ACCOUNT,
        "create": OWN_ACCOUNT,
        "retrieve": Access(Role.VIEWER, Scope.MEMBERS_WRITE),
        "partial_update": Access(Role.ADMIN, Scope.MEMBERS_WRITE),
        "destroy": Access(Role.OWNER, None),
    }

    @returns(200, workspaces=[workspace_object])
    def list(self, request: Request) -> dict[str, Any]:
        members = selectors.memberships_of(account_of(request))
        return {"workspaces": list(map(workspace_object, members))}

    @idempotent
    @returns(201, "Workspace created successfully.", workspace=workspace_object)
    def create(self, request: Request) -> dict[str, Any]:
        member = services.create_workspace(creator=account_of(request), **self.fields)
        return {"workspace": workspace_object(member)}

    @returns(200, workspace=read_workspace_object)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        return {"workspace": read_workspace_object(self.membership)}

    @returns(200, "Workspace updated successfully.", workspace=workspace_object)
    def partial_update(self, request: Request, id: str) -> dict[str, Any]:
        if self.fields:
            services.rename_workspace(workspace=self.membership.workspace, **self.fields)
        return {"workspace": workspace_object(self.membership)}

    @returns(200, "Workspace deleted successfully.")
    def destroy(self, request: Request, id: str) -> None:
        services.delete_workspace(workspace=self.membership.workspace, actor=account_of(request))


@describe_members
class MemberViewSet(_InWorkspace):
    lookup_url_kwarg = "memberId"
    bodies = {"partial_update": UpdateMemberSerializer}
    # Every member can leave; `services.remove_member` requires more to remove another one.
    access = {
        "list": Access(Role.VIEWER, Scope.MEMBERS_WRITE),
        "partial_update": Access(Role.ADMIN, Scope.MEMBERS_WRITE),
        "destroy": Access(Role.VIEWER, Scope.MEMBERS_WRITE),
    }

    @returns(200, members=[member_object])
    def list(self, request: Request, id: str) -> dict[str, Any]:
        members = selectors.members_of(self.membership.workspace)
        return {"members": list(map(member_object, members))}

    @returns(200, "Member updated successfully.", member=member_object)
    def partial_update(self, request: Request, id: str, memberId: UUID) -> dict[str, Any]:
        member = services.change_role(
            workspace=self.membership.workspace,
            actor=account_of(request),
            member_id=memberId,
            role=Role(self.fields["role"]) if self.fields else None,
        )
        return {"member": member_object(member)}

    @returns(200, "Member removed successfully.")
    def destroy(self, request: Request, id: str, memberId: UUID) -> None:
        services.remove_member(
            workspace=self.membership.workspace, actor=account_of(request), member_id=memberId
        )


@describe_invitations
class InvitationViewSet(_InWorkspace):
    lookup_url_kwarg = "invitationId"
    bodies = {"create": InviteSerializer}
    access = dict.fromkeys(("list", "create", "destroy"), Access(Role.ADMIN, Scope.MEMBERS_WRITE))

    @returns(200, invitations=[invitation_object])
    def list(self, request: Request, id: str) -> dict[str, Any]:
        pending = selectors.pending_invitations(self.membership.workspace)
        return {"invitations": list(map(invitation_object, pending))}

    @returns(201, "Invitation created successfully.", invitation=new_invitation)
    def create(self, request: Request, id: str) -> dict[str, Any]:
        """Takes no Idempotency-Key: a stored response would contain the token for a day."""
        invitation, token = invitations.invite(
            workspace=self.membership.workspace,
            inviter=account_of(request),
            role=Role(self.fields["role"]),
            email=self.fields.get("email", ""),
        )
        return {"invitation": {**invitation_object(invitation), "token": token}}

    @returns(200, "Invitation withdrawn successfully.")
    def destroy(self, request: Request, id: str, invitationId: UUID) -> None:
        invitations.withdraw(
            workspace=self.membership.workspace, actor=self.membership.user, public_id=invitationId
        )


@describe_acceptance
class AcceptanceViewSet(TokenOnlyViewSet):
    lookup_url_kwarg = "token"
    access = {"create": OWN_ACCOUNT}

    @returns(200, "Invitation accepted successfully.", workspace=workspace_object)
    def create(self, request: Request, token: str) -> dict[str, Any]:
        member = invitations.accept(account=account_of(request), token=token)
        return {"workspace": workspace_object(member)}
