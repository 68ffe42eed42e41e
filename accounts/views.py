from __future__ import annotations

from uuid import UUID

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import services
from accounts.api_requests.token_only import TokenOnlyViewSet
from accounts.callers import account_of, session_of
from accounts.models import EndReason, Session
from accounts.representations import listed_session, own_account
from accounts.schema import (
    describe_account,
    describe_api_key,
    describe_profile,
    describe_sessions,
    describe_tokens,
)
from accounts.serializers import (
    ChangePasswordSerializer,
    LoginSerializer,
    ProfileSerializer,
    RefreshSerializer,
)
from accounts.sessions import lifecycle
from accounts.sessions.browser import require_recent_login
from accounts.sessions.lifecycle import live_sessions
from common.errors import NotFound
from common.http.client_address import address_of_client
from common.rest.access import OWN_ACCOUNT
from common.rest.api import ApiViewSet
from common.rest.envelope import ok


@describe_tokens
class TokenViewSet(ApiViewSet):
    """Views that issue a token, and therefore need no credential."""

    authentication_classes = []
    permission_classes = []
    bodies = {"login": LoginSerializer, "refresh": RefreshSerializer}

    @action(detail=False, methods=["post"])
    def login(self, request: Request) -> Response:
        tokens = services.log_in(
            **self.read_body(),
            address=address_of_client(request),
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
        )
        return ok(token=tokens.access, refreshToken=tokens.refresh)

    @action(detail=False, methods=["post"])
    def refresh(self, request: Request) -> Response:
        tokens = services.refresh(refresh_token=self.read_body()["refreshToken"])
        return ok(token=tokens.access, refreshToken=tokens.refresh)


@describe_api_key
class ApiKeyViewSet(TokenOnlyViewSet):
    access = {"api_key": OWN_ACCOUNT, "regenerate_api_key": OWN_ACCOUNT}

    @action(detail=False, methods=["get"], url_path="api-key")
    def api_key(self, request: Request) -> Response:
        require_recent_login(session_of(request))
        return ok(apiKey=services.read_api_key(user=account_of(request)))

    @action(detail=False, methods=["post"], url_path="regenerate-api-key")
    def regenerate_api_key(self, request: Request) -> Response:
        require_recent_login(session_of(request))
        return ok(apiKey=services.rotate_api_key(user=account_of(request)))


@describe_profile
class ProfileViewSet(TokenOnlyViewSet):
    bodies = {"partial_update": ProfileSerializer}
    access = {"retrieve": OWN_ACCOUNT, "partial_update": OWN_ACCOUNT}

    def retrieve(self, request: Request) -> Response:
        return ok({"user": own_account(account_of(request))})

    def partial_update(self, request: Request) -> Response:
        user = account_of(request)
        services.change_profile(user=user, changes=self.read_body())
        return ok({"user": own_account(user)}, "Account updated successfully.")


@describe_account
class AccountViewSet(TokenOnlyViewSet):
    bodies = {"change_password": ChangePasswordSerializer}
    access = {"change_password": OWN_ACCOUNT, "logout": OWN_ACCOUNT}

    @action(detail=False, methods=["post"], url_path="change-password")
    def change_password(self, request: Request) -> Response:
        tokens = services.change_password(
            user=account_of(request),
            session=session_of(request),
            **self.read_body(),
            address=address_of_client(request),
        )
        return ok(message="Password changed successfully.", token=tokens.access, refreshToken=tokens.refresh)

    @action(detail=False, methods=["post"])
    def logout(self, request: Request) -> Response:
        lifecycle.end(Session.objects.filter(pk=session_of(request)), EndReason.LOGOUT)
        return ok(message="Logged out successfully.")


@describe_sessions
class SessionViewSet(TokenOnlyViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    # With "str", a GET of a path below would match and get a 405 instead of a 404.
    lookup_value_converter = "uuid"
    access = {"list": OWN_ACCOUNT, "destroy": OWN_ACCOUNT}

    def list(self, request: Request) -> Response:
        current = session_of(request)
        sessions = live_sessions(account_of(request))
        return ok({"sessions": [listed_session(session, current) for session in sessions]})

    def destroy(self, request: Request, id: UUID) -> Response:
        if not lifecycle.end_session(account_of(request), id):
            raise NotFound("Session not found.")
        return ok(message="Session ended successfully.")
