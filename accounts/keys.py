"""API keys: their form, the digest they are found by and the sealed copy they are read back from.

``sl_live_`` + 32 base62 characters (190 bits) + 6 base62 characters of CRC32. The prefix lets secret scanners find a
leaked key, the checksum lets us refuse a mistyped one without asking the database.
"""

from __future__ import annotations

import hashlib
import re
import string
import zlib
from secrets import choice

from common import secrets

PREFIX = "sl_live_"
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_FORM = re.compile(rf"{PREFIX}[0-9A-Za-z]{{38}}", re.ASCII)
_SEALING = "api-key-sealing"


def new_key() -> str:
    body = PREFIX + "".join(choice(_ALPHABET) for _ in range(32))
    return body + _checksum(body)


def is_well_formed(key: str) -> bool:
    return _FORM.fullmatch(key) is not None and _checksum(key[:-6]) == key[-6:]


def digest(key: str) -> bytes:
    """SHA-256 without salt: the key is random, so there is nothing to guess and it can be an index."""
    return hashlib.sha256(key.encode()).digest()


def seal(key: str, account: str, secret: str) -> bytes:
    """Bound to the account: a sealed key copied to another row does not open."""
    return secrets.seal(key.encode(), purpose=_SEALING, context=account.encode(), secret=secret)


def unseal(sealed: bytes, account: str, secret_keys: list[str]) -> str | None:
    """The key, or None when none of the installation's secrets, present or former, opens the copy."""
    opened = secrets.unseal(sealed, purpose=_SEALING, context=account.encode(), secrets=secret_keys)
    return None if opened is None else opened.decode()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(6):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits
