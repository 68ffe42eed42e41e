"""The form of the entries of a host's persistent cache of links.

They reveal nothing without ``SECRET_KEY``: the name of an entry is a keyed digest of its site and code, and its
content is encrypted and bound to that name.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import orjson

from common import secrets
from common.host.state import ChangeNumbers

_PURPOSE = "known-links"
# Change numbers, time, site and code.
_FIELDS = 6


class Entry(NamedTuple):
    """``numbers`` and ``read_at``: see `links.destinations.known_links`, `KnownLinks.remember`."""

    numbers: ChangeNumbers
    read_at: int
    site: str
    code: str
    packed: bytes


class Sealing:
    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._key = secrets.derive_key(secret, f"{_PURPOSE} names")

    def name(self, site: str, code: str) -> bytes:
        return blake2b(f"{site}/{code}".encode(), key=self._key, digest_size=16).digest()

    def seal(self, name: bytes, entry: Entry) -> bytes:
        content = orjson.dumps([*entry.numbers, *entry[1:-1]]) + b"\n" + entry.packed
        return secrets.seal(content, purpose=_PURPOSE, context=name, secret=self._secret)

    def open(self, name: bytes, sealed: bytes) -> Entry | None:
        """Return None if the entry was sealed with another key, or by a release that stored other fields."""
        content = secrets.unseal(sealed, purpose=_PURPOSE, context=name, secrets=[self._secret])
        if content is None:
            return None
        head, _, packed = content.partition(b"\n")
        fields = orjson.loads(head)
        if len(fields) != _FIELDS:
            return None
        *numbers, read_at, site, code = fields
        return Entry(ChangeNumbers(*numbers), read_at, site, code, packed)
