"""Public ids: opaque strings, while the integer primary keys stay internal."""

from __future__ import annotations

import os
import time
import uuid
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

Found = TypeVar("Found", bound="Model")


def parse_public_id(text: str) -> uuid.UUID | None:
    """The id, or None for any spelling other than the canonical one (in either case of letters)."""
    try:
        public_id = uuid.UUID(text)
    except ValueError:
        return None
    return public_id if str(public_id) == text.lower() else None


def find_by_public_id(objects: QuerySet[Found], text: str, *, lookup: str = "public_id") -> Found | None:
    """The object with this id, in one query, or in none for a malformed id."""
    public_id = parse_public_id(text)
    return None if public_id is None else objects.filter(**{lookup: public_id}).first()


def new_public_id() -> uuid.UUID:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, then 74 random bits, so that index inserts stay local."""
    milliseconds = time.time_ns() // 1_000_000
    randomness = int.from_bytes(os.urandom(10))
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | randomness
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=value)
