"""JSON web tokens: issued at login, refreshed, and dead as soon as their account's password or state changes."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.crypto import constant_time_compare
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken, Token
from rest_framework_simplejwt.utils import get_md5_hash_password

from accounts.models import User
from accounts.selectors import user_of_public_id


@dataclass(frozen=True, slots=True)
class TokenPair:
    access: str
    refresh: str


def issue_tokens(user: User) -> TokenPair:
    refresh = RefreshToken.for_user(user)
    return TokenPair(access=str(refresh.access_token), refresh=str(refresh))


def user_of_access_token(raw: str) -> User | None:
    return _user_of(AccessToken, raw)


def refresh_access_token(raw: str) -> str | None:
    """A new access token, or None when the refresh token is not, or no longer, good."""
    user = _user_of(RefreshToken, raw)
    return None if user is None else str(AccessToken.for_user(user))


def _user_of(kind: type[Token], raw: str) -> User | None:
    try:
        token = kind(raw)  # type: ignore[arg-type] # annotated as a Token, documented and used as its text
    except (TokenError, ValueError, TypeError, OverflowError):
        return None
    user = user_of_public_id(str(token.get(api_settings.USER_ID_CLAIM)))
    if user is None or not user.is_active:
        return None
    claimed = str(token.get(api_settings.REVOKE_TOKEN_CLAIM))
    return user if constant_time_compare(claimed, get_md5_hash_password(user.password)) else None
