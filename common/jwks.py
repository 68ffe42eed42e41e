"""The public keys of an issuer of tokens (RFC 7517), and the one that signed a token."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

import jwt

Keys = list[dict[str, str]]
# Of public keys.
MEMBERS = ("kty", "kid", "use", "alg", "n", "e", "crv", "x", "y")
_KEY_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


def read_keys(jwks: Any) -> Keys:
    """The members of each key that find and verify. Others are ignored, and may be nested deeply.

    Raises ValueError if it is not a set of keys.
    """
    listed = jwks.get("keys") if isinstance(jwks, dict) else None
    if not isinstance(listed, list) or not all(isinstance(key, dict) for key in listed):
        raise ValueError("The list of keys is malformed.")
    return [
        {name: value for name, value in key.items() if name in MEMBERS and isinstance(value, str)}
        for key in listed
    ]


def find_key(keys: Keys, header: dict[str, Any]) -> jwt.PyJWK | None:
    """Find the key by its id. A token without one was signed with the only key of its kind (Core, 10.1).

    ``header`` is that of the token, with an accepted ``alg``. Raises jwt.PyJWTError for a key that is not valid.
    """
    fitting = [
        key
        for key in keys
        if key.get("use", "sig") == "sig"
        and key.get("alg", header["alg"]) == header["alg"]
        and ("kid" not in header or key.get("kid") == header["kid"])
        and key.get("kty") == _KEY_TYPES[header["alg"][:2]]
    ]
    return jwt.PyJWK(fitting[0], header["alg"]) if len(fitting) == 1 else None


def is_usable(key: dict[str, str], algorithms: Collection[str]) -> bool:
    """Whether the public key verifies signatures of one of these algorithms, and is long enough."""
    for algorithm in algorithms:
        header = {"alg": algorithm, **({"kid": key["kid"]} if "kid" in key else {})}
        with suppress(jwt.PyJWTError, ValueError):
            found = find_key([key], header)
            if found is not None and found.Algorithm.check_key_length(found.key) is None:
                return True
    return False
