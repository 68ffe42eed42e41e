"""Cursors of pages: sealed places, which clients can neither read nor make."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import Model, QuerySet

from common.errors import FieldError, InvalidFields
from common.secrets import OVERHEAD, seal, unseal

Object = TypeVar("Object", bound=Model)
_PLACE_BYTES = 8
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


def newest_page(
    objects: QuerySet[Object, Any],
    *,
    limit: int,
    cursor: str | None,
    purpose: str,
    owner: int,
    refusal: FieldError,
) -> tuple[list[Object], str | None]:
    """A page of a log, whose newest rows have the highest keys, and the cursor of the next one; None: it is the last.

    ``owner``: whose log it is. Raises InvalidFields with ``refusal`` for a cursor of another log.
    """
    context = str(owner).encode()
    if cursor is not None:
        place = opened_cursor(cursor, _PLACE_BYTES, purpose=purpose, context=context)
        if place is None:
            raise InvalidFields([refusal])
        objects = objects.filter(pk__lt=int.from_bytes(place))
    rows = list(objects.order_by("-pk")[: limit + 1])
    page = rows[:limit]
    if len(rows) <= limit:
        return page, None
    return page, sealed_cursor(page[-1].pk.to_bytes(_PLACE_BYTES), purpose=purpose, context=context)
