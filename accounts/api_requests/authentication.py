"""The two authentication methods, by which ``request.auth`` is a `Caller`.

Both name ``Bearer`` in ``WWW-Authenticate``; without it DRF returns 403.
"""

from __future__ import annotations

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.api_keys import PREFIXES, SCOPED_PREFIX
from accounts.callers import Caller
from accounts.models import User
from accounts.scoped_keys.lookup import caller_of_scoped_key, is_scoped_key
from accounts.selectors import caller_of_api_key, user_of_api_key
from accounts.sessions.queries import caller_of_access_token
from common.database import require_confirmed
from common.http.current_request import Via
from common.rest.envelope import WWW_AUTHENTICATE

# The header that names the workspace in which the request acts.
_WORKSPACE = "HTTP_X_WORKSPACE"


class ApiKeyAuthentication(BaseAuthentication):
    """``X-API-Key: <key>``, for servers. Never in a query string, which would end up in logs.

    Also counts the request for the limit of the workspace. `RequestThrottle` compares.
    """

    via = Via.API_KEY

    def authenticate(self, request: Request) -> tuple[User, Caller] | None:
        key = request.META.get("HTTP_X_API_KEY")
        if key is None:
            return None
        find = caller_of_scoped_key if key.startswith(SCOPED_PREFIX) else caller_of_api_key
        caller = find(key, request.META.get(_WORKSPACE))
        if caller is None:
            raise AuthenticationFailed("The API key is not valid.")
        require_confirmed()
        return caller.account, caller

    def authenticate_header(self, request: Request) -> str:
        return WWW_AUTHENTICATE


# For a key in the header of tokens. Neither a response nor the log may contain the key.
_MISPLACED_KEY = "This is an API key, not a token. Send it in the X-API-Key header."
_NO_KEY = "This endpoint takes a Bearer token from POST /api/auth/login, not an API key."


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>``, for browser front ends (RFC 6750; the scheme's case does not matter).

    ``is_only_method``: the endpoint takes no key. A caller with a valid key gets a message that says so.
    """

    via = Via.TOKEN

    def __init__(self, *, is_only_method: bool = False) -> None:
        self._is_only_method = is_only_method

    def authenticate(self, request: Request) -> tuple[User, Caller] | None:
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
        token = token.strip()
        if scheme.startswith(PREFIXES) or token.startswith(PREFIXES):
            raise AuthenticationFailed(_NO_KEY if self._is_only_method else _MISPLACED_KEY)
        if scheme.lower() == "bearer":
            caller = caller_of_access_token(token, request.META.get(_WORKSPACE))
            if caller is None:
                raise AuthenticationFailed("The token is not valid or has expired.")
            require_confirmed()
            return caller.account, caller
        key = request.META.get("HTTP_X_API_KEY")
        if self._is_only_method and key is not None and _is_valid(key):
            raise AuthenticationFailed(_NO_KEY)
        return None

    def authenticate_header(self, request: Request) -> str:
        return WWW_AUTHENTICATE


def _is_valid(key: str) -> bool:
    return is_scoped_key(key) if key.startswith(SCOPED_PREFIX) else user_of_api_key(key) is not None
