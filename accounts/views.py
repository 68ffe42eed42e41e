from __future__ import annotations

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import services
from accounts.authentication import BearerAuthentication, account_of
from accounts.schema import describe_api_key, describe_tokens
from accounts.serializers import LoginSerializer, RefreshSerializer
from accounts.throttling import address_of_client
from common.api import ApiViewSet
from common.envelope import ok


@describe_tokens
class TokenViewSet(ApiViewSet):
    """Anybody may knock: these are the doors to a token."""

    authentication_classes = []
    permission_classes = []

    @action(detail=False, methods=["post"])
    def login(self, request: Request) -> Response:
        body = LoginSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        tokens = services.log_in(**body.validated_data, address=address_of_client(request))
        return ok(token=tokens.access, refreshToken=tokens.refresh)

    @action(detail=False, methods=["post"])
    def refresh(self, request: Request) -> Response:
        body = RefreshSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return ok(token=services.refresh(refresh_token=body.validated_data["refreshToken"]))


@describe_api_key
class ApiKeyViewSet(ApiViewSet):
    """A key may not read or replace itself: only a person who logged in may."""

    authentication_classes = [BearerAuthentication]

    @action(detail=False, methods=["get"], url_path="api-key")
    def api_key(self, request: Request) -> Response:
        return ok(apiKey=services.read_api_key(user=account_of(request)))

    @action(detail=False, methods=["post"], url_path="regenerate-api-key")
    def regenerate_api_key(self, request: Request) -> Response:
        return ok(apiKey=services.rotate_api_key(user=account_of(request)))
