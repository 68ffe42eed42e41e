from __future__ import annotations

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import services
from accounts.api_requests.throttling import address_of_client
from accounts.api_requests.token_only import TokenOnlyViewSet
from accounts.callers import account_of, session_of
from accounts.schema import describe_api_key, describe_tokens
from accounts.serializers import LoginSerializer, RefreshSerializer
from accounts.sessions.browser import require_recent_login
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
    roles = {"api_key": None, "regenerate_api_key": None}

    @action(detail=False, methods=["get"], url_path="api-key")
    def api_key(self, request: Request) -> Response:
        require_recent_login(session_of(request))
        return ok(apiKey=services.read_api_key(user=account_of(request)))

    @action(detail=False, methods=["post"], url_path="regenerate-api-key")
    def regenerate_api_key(self, request: Request) -> Response:
        require_recent_login(session_of(request))
        return ok(apiKey=services.rotate_api_key(user=account_of(request)))
