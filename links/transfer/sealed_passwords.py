"""Seals the hashes of links' passwords in an export with a passphrase, so that protected links can move as they are.

A cell is ``v1.SALT.SEALED``, both in unpadded base64url. The key comes from the passphrase and the salt by scrypt
(RFC 7914, with a choice of OWASP's password storage cheat sheet: 32 MiB, three times), once for each file. AES-256-GCM
binds a hash to the short code of its row, so that nobody who edits a file can give a link another one's password.
"""

from __future__ import annotations

import base64
import hashlib
import os
from binascii import Error as InvalidBase64

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from accounts.password_hashing import Argon2
from common.errors import FieldError, InvalidFields
from common.secrets import seal_with, unseal_with

MIN_PASSPHRASE = 12
MAX_PASSPHRASE = 256
MAX_CELL = 400
_VERSION = "v1"
_SALT_BYTES = 16
# Of an Argon2 hash, in bytes (RFC 9106).
_MIN_SALT, _MIN_HASH = 8, 16


class Sealer:
    """Seals the hashes of one file. Its creation takes about 0.2 s."""

    def __init__(self, passphrase: str) -> None:
        salt = os.urandom(_SALT_BYTES)
        self._prefix = f"{_VERSION}.{_encoded(salt)}."
        self._cipher = _cipher(passphrase, salt)

    def seal(self, password_hash: str, short_code: str) -> str:
        return self._prefix + _encoded(seal_with(self._cipher, password_hash.encode(), short_code.encode()))


class Opener:
    """Opens the cells of one file. The first one takes about 0.2 s."""

    def __init__(self, passphrase: str | None) -> None:
        self._passphrase = passphrase
        self._salt: str | None = None
        self._cipher: AESGCM | None = None

    def open(self, cell: str, short_code: str | None) -> str:
        """The hash. Raises InvalidFields without the right passphrase, and for what this service has not sealed."""
        if self._passphrase is None:
            raise _refusal(
                "passphrase_required", "The passwords of this file are sealed. Send its passphrase."
            )
        version, _, rest = cell.partition(".")
        salt, _, sealed = rest.partition(".")
        try:
            if version != _VERSION:
                raise _damaged()
            content, context = _decoded(sealed), (short_code or "").encode()
            password_hash = unseal_with(self._cipher_of(salt), content, context).decode()
        except InvalidTag:
            message = "The passphrase is wrong, or the sealed password belongs to another link."
            raise _refusal("wrong_passphrase", message) from None
        except ValueError:  # base64, the size of a nonce or UTF-8
            raise _damaged() from None
        if not _is_acceptable(password_hash):
            raise _damaged()
        return password_hash

    def _cipher_of(self, salt: str) -> AESGCM:
        """One key for a file: a file with a salt in each row would take minutes of processor time."""
        if self._cipher is None:
            self._salt, self._cipher = salt, _cipher(self._passphrase or "", _decoded(salt))
        elif salt != self._salt:
            raise _refusal(
                "joined_exports", "This row is from another export than the first. Import it on its own."
            )
        return self._cipher


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    key = hashlib.scrypt(passphrase.encode(), salt=salt, n=1 << 15, r=8, p=3, maxmem=64 << 20, dklen=32)
    return AESGCM(key)


def _is_acceptable(password_hash: str) -> bool:
    """Whether the hash costs at most as much as one of this installation, and some password can match it.

    Visitors make the service check it.
    """
    hasher = Argon2()
    try:
        decoded = hasher.decode(password_hash)
        algorithm, *_, salt, digest = password_hash.split("$")
        sizes = len(_decoded_hash(salt)), len(_decoded_hash(digest))
    except (ValueError, AssertionError, IndexError, KeyError):
        return False
    if (algorithm, decoded["variety"], decoded["version"]) != ("argon2", "argon2id", 19):
        return False
    if sizes[0] < _MIN_SALT or sizes[1] < _MIN_HASH or decoded["memory_cost"] < 8 * decoded["parallelism"]:
        return False
    return all(
        0 < decoded[name] <= getattr(hasher, name) for name in ("memory_cost", "time_cost", "parallelism")
    )


def _decoded_hash(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _refusal(code: str, message: str) -> InvalidFields:
    return InvalidFields([FieldError("sealedPassword", code, message)])


def _damaged() -> InvalidFields:
    return _refusal("damaged", "This is no password that an export of this service has sealed.")


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (InvalidBase64, ValueError):
        raise _damaged() from None
