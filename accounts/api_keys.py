"""API keys: their format, the digest for lookup and the sealed copy for reading.

A key is ``sl_live_``, 32 base62 characters (190 bits) and 6 base62 characters of CRC32. Secret scanners find
leaked keys by the prefix. The checksum rejects mistyped keys without a database query.

Keys with scopes begin with ``sl_key_``, so the prefix determines the table to look them up in.
"""

from __future__ import annotations

import hashlib
import re
import string
import zlib
from secrets import choice
from typing import Any

from common import secrets
from common.database import prepared_cursor, read_first

PREFIX = "sl_live_"
SCOPED_PREFIX = "sl_key_"
PREFIXES = (PREFIX, SCOPED_PREFIX)
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_FORM = re.compile(rf"(?:{'|'.join(PREFIXES)})[0-9A-Za-z]{{38}}", re.ASCII)
_SEALING = "api-key-sealing"


def new_key(prefix: str = PREFIX) -> str:
    body = prefix + "".join(choice(_ALPHABET) for _ in range(32))
    return body + _checksum(body)


def is_well_formed(key: str) -> bool:
    return _FORM.fullmatch(key) is not None and _checksum(key[:-6]) == key[-6:]


def digest(key: str) -> bytes:
    """SHA-256 without a salt: the key is random, so it cannot be guessed, and the digest can be indexed."""
    return hashlib.sha256(key.encode()).digest()


def seal(key: str, account: str, secret: str) -> bytes:
    """Bound to the account: a sealed key copied to another row does not open."""
    return secrets.seal(key.encode(), purpose=_SEALING, context=account.encode(), secret=secret)


def unseal(sealed: bytes, account: str, secret_keys: list[str]) -> str | None:
    """The key, or None if none of the installation's secrets, current or former, opens the copy."""
    opened = secrets.unseal(sealed, purpose=_SEALING, context=account.encode(), secrets=secret_keys)
    return None if opened is None else opened.decode()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(6):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits


def read_row(query: str, key: str, **values: Any) -> tuple[Any, ...] | None:
    """The row that the query finds by ``digest``, or None. A malformed key costs no query."""
    if not is_well_formed(key):
        return None
    key_digest = digest(key)

    def read() -> tuple[Any, ...] | None:
        with prepared_cursor() as cursor:
            cursor.execute(query, {"digest": key_digest, **values})
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    return read_first(read)
