"""Keys derived from the installation's secret, and content that is sealed or signed with it."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.core.signing import TimestampSigner

_NONCE_BYTES = 12
# Bytes that sealing adds: the nonce, and the tag of GCM.
OVERHEAD = _NONCE_BYTES + 16


class CurrentKeySigner(TimestampSigner):
    """Accepts no signature of a former secret, which may have been replaced because others know it.

    Also Django's signer of cookies (``SIGNING_BACKEND``), which would pass it the former secrets.
    """

    def __init__(self, *, fallback_keys: Any = None, **options: Any) -> None:
        super().__init__(fallback_keys=[], **options)


def derive_key(secret: str, purpose: str) -> bytes:
    """A 256-bit key for one purpose (HKDF-SHA256, RFC 5869), so that no two uses share a key."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(secret.encode())


def seal(content: bytes, *, purpose: str, context: bytes, secret: str) -> bytes:
    """Seal with AES-256-GCM, bound to ``context``: the result opens only with the same context."""
    return seal_with(_cipher(secret, purpose), content, context)


def seal_with(cipher: AESGCM, content: bytes, context: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, content, context)


def unseal_with(cipher: AESGCM, sealed: bytes, context: bytes) -> bytes:
    """Raises InvalidTag if the cipher does not open it, and ValueError if it is too short."""
    return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context)


def unseal(sealed: bytes, *, purpose: str, context: bytes, secrets: list[str]) -> bytes | None:
    """The content, or None if none of the installation's secrets, current or former, opens it."""
    for secret in secrets:
        try:
            return unseal_with(_cipher(secret, purpose), sealed, context)
        except InvalidTag:
            continue
    return None


@lru_cache(maxsize=16)
def _cipher(secret: str, purpose: str) -> AESGCM:
    return AESGCM(derive_key(secret, purpose))
