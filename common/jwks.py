"""The public keys of an issuer of tokens (RFC 7517), and the one that signed a token."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from itertools import islice
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

Keys = list[dict[str, str]]
# Of public keys.
MEMBERS = ("kty", "kid", "use", "alg", "n", "e", "crv", "x", "y")
MAX_RSA_BITS = 4096
# Each takes about a kilobyte.
_MAX_KEYS = 100
_KEY_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
# RFC 7518, 3.4
_CURVES = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}
# Of a key for the longest of these in base64url, and some more. Longer ones are not even decoded.
_MAX_CHARACTERS = 1_000
# Verification takes longer with a larger one. Usually 65537.
_MAX_EXPONENT_BITS = 32


def read_keys(jwks: Any, algorithms: Collection[str]) -> Keys:
    """The first hundred usable keys, with the members that find and verify. Others may be nested deeply.

    Raises ValueError if it is not a set of keys.
    """
    listed = jwks.get("keys") if isinstance(jwks, dict) else None
    if not isinstance(listed, list) or not all(isinstance(key, dict) for key in listed):
        raise ValueError("The list of keys is malformed.")
    keys = (
        {name: value for name, value in key.items() if name in MEMBERS and isinstance(value, str)}
        for key in listed
    )
    return list(islice((key for key in keys if is_usable(key, algorithms)), _MAX_KEYS))


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
    return _load(fitting[0], header["alg"]) if len(fitting) == 1 else None


def _load(key: dict[str, str], algorithm: str) -> jwt.PyJWK:
    if any(len(value) > _MAX_CHARACTERS for value in key.values()):
        raise jwt.InvalidKeyError("The key is too long.")
    loaded = jwt.PyJWK(key, algorithm)
    public = loaded.key
    if isinstance(public, RSAPublicKey):
        exponent = public.public_numbers().e
        if public.key_size > MAX_RSA_BITS or exponent.bit_length() > _MAX_EXPONENT_BITS:
            raise jwt.InvalidKeyError("Verification with the key would take too long.")
    elif isinstance(public, EllipticCurvePublicKey) and public.curve.name != _CURVES.get(algorithm):
        raise jwt.InvalidKeyError("The key has the curve of another algorithm.")
    return loaded


def is_usable(key: dict[str, str], algorithms: Collection[str]) -> bool:
    """Whether the public key verifies signatures of one of these algorithms, and is of a proper length."""
    for algorithm in algorithms:
        header = {"alg": algorithm, **({"kid": key["kid"]} if "kid" in key else {})}
        with suppress(jwt.PyJWTError, ValueError):
            found = find_key([key], header)
            if found is not None and found.Algorithm.check_key_length(found.key) is None:
                return True
    return False
