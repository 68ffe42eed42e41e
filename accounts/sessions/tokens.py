"""JSON web tokens: their format. They are derived from the row of a session and never stored."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken, Token
from rest_framework_simplejwt.utils import get_md5_hash_password

from accounts.models import Session, User
from common.ids import parse_public_id

_SESSION = "sid"
_GENERATION = "gen"

ACCESS_LIFETIME: timedelta = AccessToken.lifetime
REFRESH_LIFETIME: timedelta = RefreshToken.lifetime


@dataclass(frozen=True, slots=True)
class TokenPair:
    access: str
    refresh: str


class Claims(NamedTuple):
    """The claims of a token with a valid signature. Only refresh tokens have a ``generation``; others have 0."""

    account: uuid.UUID
    session: uuid.UUID
    password_fingerprint: str
    generation: int


def password_fingerprint(user: User) -> str:
    """A digest of the password's hash. A token is valid only with the password under which it was issued."""
    return str(get_md5_hash_password(user.password))


def issue_tokens(user: User, session: Session) -> TokenPair:
    """The tokens of the session's current generation. Repeated calls return the same text.

    The refresh token expires with the session, however often it was rotated.
    """
    access = _token(AccessToken, user, session, session.issued_at + ACCESS_LIFETIME)
    refresh = _token(RefreshToken, user, session, session.expires_at)
    refresh[_GENERATION] = session.generation
    return TokenPair(access=str(access), refresh=str(refresh))


def issue_access_token(user: User, session: Session, *, now: datetime, lifetime: timedelta) -> str:
    """A token that expires after ``lifetime``, or with the session if that is earlier."""
    return str(_token(AccessToken, user, session, min(now + lifetime, session.expires_at), issued_at=now))


def read_access_token(raw: str) -> Claims | None:
    return _claims(AccessToken, raw)


def read_refresh_token(raw: str) -> Claims | None:
    claims = _claims(RefreshToken, raw)
    return claims if claims is not None and claims.generation > 0 else None


def _token(
    kind: type[Token], user: User, session: Session, expires_at: datetime, issued_at: datetime | None = None
) -> Token:
    token = kind()
    # A fixed id instead of a random one, so that the same generation always has the same tokens.
    token[api_settings.JTI_CLAIM] = uuid.uuid5(
        session.public_id, f"{kind.token_type} {session.generation}"
    ).hex
    token[api_settings.USER_ID_CLAIM] = str(user.public_id)
    token[api_settings.REVOKE_TOKEN_CLAIM] = password_fingerprint(user)
    token[_SESSION] = str(session.public_id)
    token.set_iat(at_time=issued_at or session.issued_at)
    token.set_exp(from_time=expires_at, lifetime=timedelta(0))
    return token


def _claims(kind: type[Token], raw: str) -> Claims | None:
    try:
        token = kind(raw)  # type: ignore[arg-type] # annotated as Token but documented and used as a string
    except (TokenError, ValueError, TypeError, OverflowError):
        return None
    account = parse_public_id(str(token.get(api_settings.USER_ID_CLAIM)))
    session = parse_public_id(str(token.get(_SESSION)))
    if account is None or session is None:
        return None
    generation = token.get(_GENERATION)
    return Claims(
        account,
        session,
        str(token.get(api_settings.REVOKE_TOKEN_CLAIM)),
        generation if type(generation) is int else 0,
    )
