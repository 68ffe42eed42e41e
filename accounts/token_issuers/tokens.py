"""Which key of the workspace that a request names its token acts as.

The issuer, audience and subject of the token are read before its signature is verified, to find the keys that accept
them. Nobody but the owners of a workspace decides which issuers the service calls.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import jwt

from accounts.models import MAX_TOKEN_TEXT
from accounts.token_issuers.issuer_keys import ALGORITHMS, ISSUER_KEYS
from common.database import fetch, read_first
from common.jwks import find_key

# The clocks of the issuer and of this host may differ by as much.
CLOCK_SECONDS = 60
# Between `iat` and `exp`.
MAX_SECONDS = 86_400
_MAX_AUDIENCES = 20
# Keys of the workspace that are tried, the most specific first.
MAX_KEYS = 10
_REQUIRED = ["iss", "sub", "aud", "exp", "iat"]

# The most specific is the one with the most characters beside "*", and of these the oldest.
_PATTERN = r"replace(replace(replace(replace(k.subject, '\', '\\'), '%%', '\%%'), '_', '\_'), '*', '%%')"
_ACCEPTING = f"""
SELECT k.id, k.jwks FROM accounts_scopedkey k JOIN accounts_workspace w ON w.id = k.workspace_id
WHERE w.public_id = %(workspace)s::uuid AND k.issuer = %(issuer)s AND k.audience = ANY (%(audiences)s::text[])
    AND %(subject)s LIKE {_PATTERN}
ORDER BY length(replace(k.subject, '*', '')) DESC, k.id LIMIT {MAX_KEYS}
"""  # noqa: S608 # composed of constants


class Refused(Exception):
    """No key of the workspace accepts the token."""


class AcceptedToken(NamedTuple):
    """``key`` is the primary key of the `ScopedKey` as which the token acts."""

    key: int
    issuer: str
    subject: str


class _Unverified(NamedTuple):
    header: dict[str, Any]
    issuer: str
    subject: str
    audiences: list[str]


def accept_token(raw: str, workspace: UUID | None) -> AcceptedToken | None:
    """The key as which a token acts; None if it is not one of an issuer. Raises Refused.

    ``workspace`` is the one that the request names. Without one, a token is refused: anybody may accept the tokens of
    others in a workspace of their own, but shall not receive their requests.
    """
    token = _read(raw)
    if token is None:
        return None
    if workspace is None:
        raise Refused
    values = {
        "workspace": workspace,
        "issuer": token.issuer,
        "audiences": token.audiences,
        "subject": token.subject,
    }
    rows = read_first(lambda: fetch(_ACCEPTING, values))
    # Once for all rows with the same public keys.
    is_valid = cache(lambda jwks: _is_valid(raw, token, workspace, jwks))
    for key, jwks in rows:
        if is_valid(jwks):
            return AcceptedToken(key, token.issuer, token.subject)
    raise Refused


def _read(raw: str) -> _Unverified | None:
    """What the token says about itself. Raises Refused if no key can accept it."""
    try:
        token = jwt.decode_complete(raw, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError):
        return None
    header, claims = token["header"], token["payload"]
    if header.get("alg") not in ALGORITHMS:
        return None
    issuer, subject, audience = claims.get("iss"), claims.get("sub"), claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if len(audiences) > _MAX_AUDIENCES or not all(map(_is_text, [issuer, subject, *audiences])):
        raise Refused
    return _Unverified(header, issuer, subject, audiences)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_TOKEN_TEXT and value.isprintable()


def _is_valid(raw: str, token: _Unverified, workspace: UUID, jwks: str | None) -> bool:
    """Whether one of these public keys, or of those that the issuer publishes, signed it, and it is valid now."""
    try:
        key = (
            ISSUER_KEYS.find(token.issuer, workspace, token.header)
            if jwks is None
            else find_key(json.loads(jwks)["keys"], token.header)
        )
        if key is None:
            return False
        claims = jwt.decode(
            raw,
            key,
            algorithms=[token.header["alg"]],
            # The statement has compared them.
            audience=token.audiences,
            issuer=token.issuer,
            leeway=CLOCK_SECONDS,
            options={"require": _REQUIRED, "enforce_minimum_key_length": True},
        )
        return int(claims["exp"]) - int(claims["iat"]) <= MAX_SECONDS
    except (jwt.PyJWTError, ValueError, RecursionError, OverflowError):
        return False
