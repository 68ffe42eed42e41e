from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework.decorators import action
from rest_framework.request import Request

from accounts import services
from accounts.api_requests.token_only import TokenOnlyViewSet
from accounts.callers import account_of, session_of
from accounts.models import EndReason, Session
from accounts.representations import listed_session, own_account, session_object
from accounts.schema import (
    ACCESS_TOKEN,
    API_KEY,
    NEW_API_KEY,
    REFRESH_TOKEN,
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
    access = {"retrieve": OWN_ACCOUNT, "partial_update": OWN_ACCOUNT}

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
