"""Public ids: opaque strings, while the integer primary keys stay internal."""

from __future__ import annotations

import os
import time
import uuid


def parse_public_id(text: str) -> uuid.UUID | None:
    """The id, or None for any spelling other than the canonical one (in either case of letters)."""
    try:
        public_id = uuid.UUID(text)
    except ValueError:
        return None
    return public_id if str(public_id) == text.lower() else None


def new_public_id() -> uuid.UUID:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, then 74 random bits, so that index inserts stay local."""
    milliseconds = time.time_ns() // 1_000_000
    randomness = int.from_bytes(os.urandom(10))
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | randomness
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=value)
