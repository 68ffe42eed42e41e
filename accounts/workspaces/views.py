from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api_requests.idempotency import idempotent
from accounts.api_requests.token_only import TokenOnlyViewSet
from accounts.callers import Caller, account_of, require_role
from accounts.models import Member, Workspace
from accounts.representations import (
    invitation_object,
    member_object,
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
from common.rest.envelope import ok


class _InWorkspace(ApiViewSet):
    has_workspace_in_path = True
    # The caller in the workspace of the path.
    membership: Member
    fields: dict[str, Any]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Require the role of the action in the workspace of the path. As in other views, validate the body first."""
        super().initial(request, *args, **kwargs)
        access = self.access.get(self.action)
        if access is None or access.role is None:
            return
        if self.action in self.bodies:
            self.fields = self.read_body()
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

    def list(self, request: Request) -> Response:
        members = selectors.memberships_of(account_of(request))
        return ok({"workspaces": list(map(workspace_object, members))})

    @idempotent
    def create(self, request: Request) -> Response:
        member = services.create_workspace(creator=account_of(request), **self.read_body())
        data = {"workspace": workspace_object(member)}
        return ok(data, "Workspace created successfully.", status=201)

    def retrieve(self, request: Request, id: str) -> Response:
        return ok({"workspace": read_workspace_object(self.membership)})

    def partial_update(self, request: Request, id: str) -> Response:
        if self.fields:
            services.rename_workspace(workspace=self.membership.workspace, **self.fields)
        data = {"workspace": workspace_object(self.membership)}
        return ok(data, "Workspace updated successfully.")

    def destroy(self, request: Request, id: str) -> Response:
        services.delete_workspace(workspace=self.membership.workspace, actor=account_of(request))
        return ok(message="Workspace deleted successfully.")


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

    def list(self, request: Request, id: str) -> Response:
        members = selectors.members_of(self.membership.workspace)
        return ok({"members": list(map(member_object, members))})

    def partial_update(self, request: Request, id: str, memberId: UUID) -> Response:
        member = services.change_role(
            workspace=self.membership.workspace,
            actor=account_of(request),
            member_id=memberId,
            role=Role(self.fields["role"]) if self.fields else None,
        )
        return ok({"member": member_object(member)}, "Member updated successfully.")

    def destroy(self, request: Request, id: str, memberId: UUID) -> Response:
        services.remove_member(
            workspace=self.membership.workspace, actor=account_of(request), member_id=memberId
        )
        return ok(message="Member removed successfully.")


@describe_invitations
class InvitationViewSet(_InWorkspace):
    lookup_url_kwarg = "invitationId"
    bodies = {"create": InviteSerializer}
    access = dict.fromkeys(("list", "create", "destroy"), Access(Role.ADMIN, Scope.MEMBERS_WRITE))

    def list(self, request: Request, id: str) -> Response:
        pending = selectors.pending_invitations(self.membership.workspace)
        return ok({"invitations": list(map(invitation_object, pending))})

    def create(self, request: Request, id: str) -> Response:
        """Without an Idempotency-Key: a stored response would contain the token for a day."""
        invitation, token = invitations.invite(
            workspace=self.membership.workspace,
            inviter=account_of(request),
            role=Role(self.fields["role"]),
            email=self.fields.get("email", ""),
        )
        data = {"invitation": {**invitation_object(invitation), "token": token}}
        return ok(data, "Invitation created successfully.", status=201)

    def destroy(self, request: Request, id: str, invitationId: UUID) -> Response:
        invitations.withdraw(
            workspace=self.membership.workspace, actor=self.membership.user, public_id=invitationId
        )
        return ok(message="Invitation withdrawn successfully.")


@describe_acceptance
class AcceptanceViewSet(TokenOnlyViewSet):
    lookup_url_kwarg = "token"
    access = {"create": OWN_ACCOUNT}

    def create(self, request: Request, token: str) -> Response:
        member = invitations.accept(account=account_of(request), token=token)
        data = {"workspace": workspace_object(member)}
        return ok(data, "Invitation accepted successfully.")
