"""The API of accounts and their credentials, of workspaces, and of the history."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request

from accounts import invitations, selectors, services, workspaces
from accounts.admission import costly_call
from accounts.api_requests.idempotency import idempotent
from accounts.api_requests.token_only import TokenOnlyViewSet
from accounts.callers import Caller, account_of, caller_of, require_role, session_of, workspace_of
from accounts.history import list_changes
from accounts.models import EndReason, Member, Session, Workspace
from accounts.personal_data import omissions, personal_data
from accounts.representations import (
    CHANGE_PAGE,
    PERSONAL_DATA,
    change_page,
    invitation_object,
    listed_session,
    member_object,
    new_invitation,
    omission,
    own_account,
    read_workspace_object,
    session_object,
    workspace_object,
)
from accounts.rights import Role, Scope
from accounts.schema import (
    ACCESS_TOKEN,
    API_KEY,
    NEW_API_KEY,
    REFRESH_TOKEN,
    describe_acceptance,
    describe_account,
    describe_api_key,
    describe_audit,
    describe_invitations,
    describe_members,
    describe_profile,
    describe_sessions,
    describe_tokens,
    describe_workspaces,
)
from accounts.serializers import (
    AuditQuery,
    ChangePasswordSerializer,
    CreateWorkspaceSerializer,
    InviteSerializer,
    LoginSerializer,
    ProfileSerializer,
    RefreshSerializer,
    UpdateMemberSerializer,
    UpdateWorkspaceSerializer,
)
from accounts.sessions import lifecycle
from accounts.sessions.lifecycle import live_sessions, require_recent_login
from common.errors import NotFound, WorkspaceNotFound
from common.http.client_address import address_of_client
from common.ids import parse_public_id
from common.rest.access import OWN_ACCOUNT, Access
from common.rest.api import ApiViewSet
from common.rest.fields import iso_utc
from common.rest.returns import returns


@describe_tokens
class TokenViewSet(ApiViewSet):
    """Views that issue a token, and therefore need no credential."""

    authentication_classes = []
    permission_classes = []
    bodies = {"login": LoginSerializer, "refresh": RefreshSerializer}

    @action(detail=False, methods=["post"])
    @returns(200, beside=(ACCESS_TOKEN, REFRESH_TOKEN))
    def login(self, request: Request) -> dict[str, Any]:
        tokens = services.log_in(
            **self.read_body(),
            address=address_of_client(request),
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
        )
        return {"token": tokens.access, "refreshToken": tokens.refresh}

    @action(detail=False, methods=["post"])
    @returns(200, beside=(ACCESS_TOKEN, REFRESH_TOKEN))
    def refresh(self, request: Request) -> dict[str, Any]:
        tokens = services.refresh(refresh_token=self.read_body()["refreshToken"])
        return {"token": tokens.access, "refreshToken": tokens.refresh}


@describe_api_key
class ApiKeyViewSet(TokenOnlyViewSet):
    access = {"api_key": OWN_ACCOUNT, "regenerate_api_key": OWN_ACCOUNT}

    @action(detail=False, methods=["get"], url_path="api-key")
    @returns(200, beside=[API_KEY])
    def api_key(self, request: Request) -> dict[str, Any]:
        require_recent_login(session_of(request))
        return {"apiKey": services.read_api_key(user=account_of(request))}

    @action(detail=False, methods=["post"], url_path="regenerate-api-key")
    @returns(200, beside=[NEW_API_KEY])
    def regenerate_api_key(self, request: Request) -> dict[str, Any]:
        require_recent_login(session_of(request))
        return {"apiKey": services.rotate_api_key(user=account_of(request))}


@describe_profile
class ProfileViewSet(TokenOnlyViewSet):
    bodies = {"partial_update": ProfileSerializer}
    access = {"retrieve": OWN_ACCOUNT, "partial_update": OWN_ACCOUNT, "export": OWN_ACCOUNT}

    @action(detail=False)
    @returns(200, fields=PERSONAL_DATA)
    def export(self, request: Request) -> dict[str, Any]:
        require_recent_login(session_of(request))
        user = account_of(request)
        with costly_call(user.pk):
            return {
                "exportedAt": iso_utc(timezone.now()),
                "parts": personal_data(user),
                "notIncluded": [omission(one) for one in omissions()],
            }

    @returns(200, user=own_account)
    def retrieve(self, request: Request) -> dict[str, Any]:
        return {"user": own_account(account_of(request))}

    @returns(200, "Account updated successfully.", user=own_account)
    def partial_update(self, request: Request) -> dict[str, Any]:
        user = account_of(request)
        services.change_profile(user=user, changes=self.read_body())
        return {"user": own_account(user)}


@describe_account
class AccountViewSet(TokenOnlyViewSet):
    bodies = {"change_password": ChangePasswordSerializer}
    access = {"change_password": OWN_ACCOUNT, "logout": OWN_ACCOUNT}

    @action(detail=False, methods=["post"], url_path="change-password")
    @returns(200, "Password changed successfully.", beside=(ACCESS_TOKEN, REFRESH_TOKEN))
    def change_password(self, request: Request) -> dict[str, Any]:
        tokens = services.change_password(
            user=account_of(request),
            session=session_of(request),
            **self.read_body(),
            address=address_of_client(request),
        )
        return {"token": tokens.access, "refreshToken": tokens.refresh}

    @action(detail=False, methods=["post"])
    @returns(200, "Logged out successfully.")
    def logout(self, request: Request) -> None:
        lifecycle.end(Session.objects.filter(pk=session_of(request)), EndReason.LOGOUT)


@describe_sessions
class SessionViewSet(TokenOnlyViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    # With "str", a GET of a path below would match and get a 405 instead of a 404.
    lookup_value_converter = "uuid"
    access = {"list": OWN_ACCOUNT, "destroy": OWN_ACCOUNT}

    @returns(200, sessions=[session_object])
    def list(self, request: Request) -> dict[str, Any]:
        current = session_of(request)
        sessions = live_sessions(account_of(request))
        return {"sessions": [listed_session(session, current) for session in sessions]}

    @returns(200, "Session ended successfully.")
    def destroy(self, request: Request, id: UUID) -> None:
        if not lifecycle.end_session(account_of(request), id):
            raise NotFound("Session not found.")


class _InWorkspace(ApiViewSet):
    has_workspace_in_path = True
    # The caller in the workspace of the path.
    membership: Member

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Require the role of the action in the workspace of the path. As in other views, validate the body first."""
        super().initial(request, *args, **kwargs)
        access = self.access.get(self.action)
        if access is None or access.role is None:
            return
        if self.action in self.bodies:
            self.read_body()
        membership = _membership(caller_of(request), kwargs["id"])
        if membership is None:
            raise WorkspaceNotFound
        self.membership = membership
        require_role(Role(membership.role), Role.OWNER if self.concerns_owners() else access.role)

    def concerns_owners(self) -> bool:
        """Whether this request needs an owner, though others of its action do not: a refusal names the role that
        would be enough. The service decides again, under its lock.
        """
        return False


def _membership(caller: Caller, public_id: str) -> Member | None:
    """The caller as a member of the workspace with this id. A key with scopes reaches its own workspace only."""
    if caller.account is None:
        its = cast(Workspace, caller.workspace)
        # Not stored: nobody is the member.
        return Member(workspace=its, role=Role.ADMIN) if parse_public_id(public_id) == its.public_id else None
    membership = selectors.find_membership(caller.account, public_id)
    if membership is None or caller.key is None:
        return membership
    return membership if membership.workspace_id == cast(Workspace, caller.workspace).pk else None


@describe_workspaces
class WorkspaceViewSet(_InWorkspace):
    lookup_url_kwarg = "id"
    bodies = {"create": CreateWorkspaceSerializer, "partial_update": UpdateWorkspaceSerializer}
    # A key belongs to one workspace: it neither lists the others nor creates or deletes any.
    access = {
        "list": OWN_ACCOUNT,
        "create": OWN_ACCOUNT,
        "retrieve": Access(Role.VIEWER, Scope.MEMBERS_READ),
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
        member = workspaces.create_workspace(creator=account_of(request), **self.read_body())
        return {"workspace": workspace_object(member)}

    @returns(200, workspace=read_workspace_object)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        return {"workspace": read_workspace_object(self.membership)}

    @returns(200, "Workspace updated successfully.", workspace=workspace_object)
    def partial_update(self, request: Request, id: str) -> dict[str, Any]:
        if fields := self.read_body():
            workspaces.change_workspace(workspace=self.membership.workspace, changes=fields)
        return {"workspace": workspace_object(self.membership)}

    @returns(200, "Workspace deleted successfully.")
    def destroy(self, request: Request, id: str) -> None:
        workspaces.delete_workspace(workspace=self.membership.workspace, actor=account_of(request))


@describe_members
class MemberViewSet(_InWorkspace):
    lookup_url_kwarg = "memberId"
    bodies = {"partial_update": UpdateMemberSerializer}
    # Every member can leave; `workspaces.remove_member` requires more to remove another one.
    access = {
        "list": Access(Role.VIEWER, Scope.MEMBERS_READ),
        "partial_update": Access(Role.ADMIN, Scope.MEMBERS_WRITE),
        "destroy": Access(Role.VIEWER, Scope.MEMBERS_WRITE),
    }

    def concerns_owners(self) -> bool:
        role = self.read_body().get("role") if self.action == "partial_update" else None
        return role is not None and (
            role == Role.OWNER
            or selectors.is_owner(workspace=self.membership.workspace, member_id=self.kwargs["memberId"])
        )

    @returns(200, members=[member_object])
    def list(self, request: Request, id: str) -> dict[str, Any]:
        members = selectors.members_of(self.membership.workspace)
        return {"members": list(map(member_object, members))}

    @returns(200, "Member updated successfully.", member=member_object)
    def partial_update(self, request: Request, id: str, memberId: UUID) -> dict[str, Any]:
        member = workspaces.change_role(
            workspace=self.membership.workspace,
            actor=account_of(request),
            member_id=memberId,
            role=Role(fields["role"]) if (fields := self.read_body()) else None,
        )
        return {"member": member_object(member)}

    @returns(200, "Member removed successfully.")
    def destroy(self, request: Request, id: str, memberId: UUID) -> None:
        workspaces.remove_member(
            workspace=self.membership.workspace, actor=account_of(request), member_id=memberId
        )


@describe_invitations
class InvitationViewSet(_InWorkspace):
    lookup_url_kwarg = "invitationId"
    bodies = {"create": InviteSerializer}
    access = {
        "list": Access(Role.ADMIN, Scope.MEMBERS_READ),
        "create": Access(Role.ADMIN, Scope.MEMBERS_WRITE),
        "destroy": Access(Role.ADMIN, Scope.MEMBERS_WRITE),
    }

    def concerns_owners(self) -> bool:
        return self.action == "create" and self.read_body()["role"] == Role.OWNER

    @returns(200, invitations=[invitation_object])
    def list(self, request: Request, id: str) -> dict[str, Any]:
        pending = selectors.pending_invitations(self.membership.workspace)
        return {"invitations": list(map(invitation_object, pending))}

    @returns(201, "Invitation created successfully.", invitation=new_invitation)
    def create(self, request: Request, id: str) -> dict[str, Any]:
        """Takes no Idempotency-Key: a stored response would contain the token for a day."""
        fields = self.read_body()
        invited = invitations.invite(
            workspace=self.membership.workspace,
            inviter=account_of(request),
            role=Role(fields["role"]),
            email=fields.get("email", ""),
        )
        shown = invitation_object(invited.invitation)
        return {"invitation": {**shown, "token": invited.token, "mailed": invited.is_mailed}}

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


@describe_audit
class AuditViewSet(ApiViewSet):
    queries = {"list": AuditQuery}
    # The list has changes of every kind, so no scope covers it.
    access = {"list": Access(Role.ADMIN, None)}

    @returns(200, fields=CHANGE_PAGE)
    def list(self, request: Request) -> dict[str, Any]:
        query = self.read_query()
        page = list_changes(workspace_of(request), **query)
        return change_page(page, query["limit"])
