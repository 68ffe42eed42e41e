"""Which key of a workspace a token acts as.

The issuer, audience and subject of the token are read before its signature is verified, to find the keys that accept
them. Nobody but the owners of a workspace decides which issuers the service calls.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from uuid import UUID

import jwt

from accounts.models import MAX_TOKEN_TEXT
from accounts.token_issuers.issuer_keys import ISSUER_KEYS
from common.database import fetch, read_first
from common.jwks import find_key

# With a key that only the issuer has; never "none", or a secret that both sides know.
ALGORITHMS = ("RS256", "ES256")
# The clocks of the issuer and of this host may differ by as much.
CLOCK_SECONDS = 60
_MAX_AUDIENCES = 20
# Keys of many workspaces may accept the same tokens. A request that names its workspace is never refused for these.
MAX_KEYS = 50
_REQUIRED = ["iss", "sub", "aud", "exp", "iat"]

# The most specific first: the one with the most characters beside "*", and of these the oldest.
_PATTERN = r"replace(replace(replace(replace(k.subject, '\', '\\'), '%%', '\%%'), '_', '\_'), '*', '%%')"
_ACCEPTING = f"""
SELECT k.id, k.workspace_id, k.audience, k.jwks
FROM accounts_scopedkey k JOIN accounts_workspace w ON w.id = k.workspace_id
WHERE k.issuer = %(issuer)s AND k.audience = ANY (%(audiences)s::text[]) AND %(subject)s LIKE {_PATTERN}
    AND (%(any_workspace)s OR w.public_id = %(workspace)s::uuid)
ORDER BY length(replace(k.subject, '*', '')) DESC, k.id LIMIT {MAX_KEYS + 1}
"""  # noqa: S608 # composed of constants


class Refused(Exception):
    """No key, or no single one, accepts the token."""


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


def accept_token(raw: str, workspace: UUID | None, *, any_workspace: bool) -> AcceptedToken | None:
    """The key as which a token acts; None if it is not one of an issuer. Raises Refused.

    ``any_workspace``: the request names none. Then the keys of one workspace only must accept the token: nobody may
    receive requests for others by accepting their tokens.
    """
    token = _read(raw)
    if token is None:
        return None
    values = {
        "issuer": token.issuer,
        "audiences": token.audiences,
        "subject": token.subject,
        "any_workspace": any_workspace,
        "workspace": workspace,
    }
    rows = read_first(lambda: fetch(_ACCEPTING, values))
    if len(rows) > MAX_KEYS:
        raise Refused
    accepted: dict[int, int] = {}
    for key, owner, audience, jwks in rows:
        if owner not in accepted and _is_valid(raw, token, audience, jwks):
            accepted[owner] = key
    if len(accepted) != 1:
        raise Refused
    [key] = accepted.values()
    return AcceptedToken(key, token.issuer, token.subject)


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


def _is_valid(raw: str, token: _Unverified, audience: str, jwks: str | None) -> bool:
    """Whether one of these public keys, or of those that the issuer publishes, signed it, and it is valid now."""
    try:
        key = (
            ISSUER_KEYS.find(token.issuer, token.header)
            if jwks is None
            else find_key(json.loads(jwks)["keys"], token.header)
        )
        if key is None:
            return False
        jwt.decode(
            raw,
            key,
            algorithms=[token.header["alg"]],
            audience=audience,
            issuer=token.issuer,
            leeway=CLOCK_SECONDS,
            options={"require": _REQUIRED, "enforce_minimum_key_length": True},
        )
    except (jwt.PyJWTError, ValueError, RecursionError, OverflowError):
        return False
    return True
