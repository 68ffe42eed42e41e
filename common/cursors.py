"""Cursors of pages: sealed places, which clients can neither read nor make."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from django.conf import settings

from common.secrets import OVERHEAD, seal, unseal

_MIN_CHARACTERS = -(-OVERHEAD * 4 // 3)


def sealed_cursor(place: bytes, *, purpose: str, context: bytes) -> str:
    """``context``: whose place it is. Only with the same one does the cursor open."""
    sealed = seal(place, purpose=purpose, context=context, secret=settings.SECRET_KEY)
    return urlsafe_b64encode(sealed).decode().rstrip("=")


def opened_cursor(cursor: str, size: int | None, *, purpose: str, context: bytes) -> bytes | None:
    """The place of ``size`` bytes (None: any), or None for anything that `sealed_cursor` has not made."""
    # Three bytes are four characters of base64, without padding.
    characters = f"{_MIN_CHARACTERS}," if size is None else -(-(size + OVERHEAD) * 4 // 3)
    if not re.fullmatch(rf"[\w-]{{{characters}}}", cursor, re.ASCII) or len(cursor) % 4 == 1:
        return None
    sealed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return unseal(sealed, purpose=purpose, context=context, secrets=secrets)
