"""Keys derived from the one secret of the installation, and what is sealed with them."""

from __future__ import annotations

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_NONCE_BYTES = 12


def derive_key(secret: str, purpose: str) -> bytes:
    """A 256-bit key for one purpose (HKDF-SHA256, RFC 5869), so that no two uses ever share a key."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(secret.encode())


def seal(content: bytes, *, purpose: str, context: bytes, secret: str) -> bytes:
    """AES-256-GCM, bound to its context: what is sealed for one does not open for another."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(derive_key(secret, purpose)).encrypt(nonce, content, context)


def unseal(sealed: bytes, *, purpose: str, context: bytes, secrets: list[str]) -> bytes | None:
    """The content, or None when none of the installation's secrets, present or former, opens it."""
    for secret in secrets:
        try:
            return AESGCM(derive_key(secret, purpose)).decrypt(
                sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context
            )
        except InvalidTag:
            continue
    return None
