"""The two ways to say who is calling. Both name ``Bearer`` in ``WWW-Authenticate``, without which DRF answers 403."""

from __future__ import annotations

from typing import cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.models import User
from accounts.selectors import user_of_api_key
from accounts.tokens import user_of_access_token
from common.envelope import WWW_AUTHENTICATE


def account_of(request: Request) -> User:
    """Who is calling. Only for views that let nobody anonymous in."""
    return cast(User, request.user)


class ApiKeyAuthentication(BaseAuthentication):
    """``X-API-Key: <key>``, for servers. Never in a query string, where it would end in logs."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        key = request.META.get("HTTP_X_API_KEY")
        if key is None:
            return None
        user = user_of_api_key(key)
        if user is None:
            raise AuthenticationFailed("The API key is not valid.")
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return WWW_AUTHENTICATE


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>``, for browser front ends (RFC 6750; the scheme's case does not matter)."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
        if scheme.lower() != "bearer":
            return None
        user = user_of_access_token(token.strip())
        if user is None:
            raise AuthenticationFailed("The token is not valid or has expired.")
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return WWW_AUTHENTICATE
