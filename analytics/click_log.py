"""The single requests for a link, newest first, page by page."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b
from struct import Struct
from typing import NamedTuple

from django.conf import settings
from django.db import connection

from analytics.models import Kind
from analytics.periods import Asked
from common.errors import FieldError, InvalidFields
from common.secrets import derive_key, seal, unseal
from links.models import Link

# A page costs no more than reading so many, however few of them are of the kinds that are asked for.
REACH = 10_000

# The last one that was read is always among them: the next page begins behind it.
_PAGE = """
SELECT id, time, kind, reason, country, city, device, browser, operating_system, referrer, scanned,
    place FROM (
    SELECT *, row_number() OVER (ORDER BY time DESC, id DESC) AS place FROM (
        SELECT * FROM analytics_click
        WHERE link_id = %(link)s AND time >= %(since)s::timestamptz AND time < %(until)s::timestamptz
        AND time <= %(time)s::timestamptz AND (time, id) < (%(time)s::timestamptz, %(id)s)
        ORDER BY time DESC, id DESC LIMIT %(reach)s
    ) newest
) entry WHERE kind = ANY(%(kinds)s) OR place = %(reach)s ORDER BY time DESC, id DESC LIMIT %(rows)s
"""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POSITION = Struct("<qq")
_SEALING = "click-log-cursor"
# A nonce, a position and its tag, in base64.
_CURSOR = re.compile(r"[\w-]{59}", re.ASCII)


class LoggedClick(NamedTuple):
    id: int
    time: datetime
    kind: int
    reason: str
    country: str
    city: str
    device: str
    browser: str
    operating_system: str
    referrer: str
    scanned: bool
    place: int

    @property
    def public_id(self) -> str:
        """The number itself would tell how many clicks everybody else has."""
        return blake2b(self.id.to_bytes(8), digest_size=16, key=_id_key(settings.SECRET_KEY)).hexdigest()


class ClickPage(NamedTuple):
    clicks: list[LoggedClick]
    next_cursor: str | None


def click_log(
    link: Link, asked: Asked, *, kinds: Collection[Kind], limit: int, cursor: str | None
) -> ClickPage:
    """Raises InvalidFields for a cursor that is not of this log, and for dates that do not go together."""
    since, until = asked.bounds()
    time, number = ("infinity", 0) if cursor is None else _position(cursor, link)
    parameters = {
        "link": link.pk,
        "since": since or "-infinity",
        "until": until or "infinity",
        "time": time,
        "id": number,
        "kinds": list(kinds),
        "reach": REACH,
        "rows": limit + 1,
    }
    with connection.cursor() as database:
        database.execute(_PAGE, parameters)
        found = [LoggedClick(*row) for row in database.fetchall()]
    page = found[:limit]
    has_more = len(found) > limit or (bool(page) and page[-1].place == REACH)
    return ClickPage(
        [click for click in page if click.kind in kinds], _cursor(page[-1], link) if has_more else None
    )


@cache
def _id_key(secret: str) -> bytes:
    return derive_key(secret, "click-id")


def _cursor(click: LoggedClick, link: Link) -> str:
    position = _POSITION.pack((click.time - _EPOCH) // timedelta(microseconds=1), click.id)
    sealed = seal(position, purpose=_SEALING, context=_context(link), secret=settings.SECRET_KEY)
    return urlsafe_b64encode(sealed).decode().rstrip("=")


def _position(cursor: str, link: Link) -> tuple[datetime, int]:
    position = None
    if _CURSOR.fullmatch(cursor):
        position = unseal(
            urlsafe_b64decode(f"{cursor}="),
            purpose=_SEALING,
            context=_context(link),
            secrets=[settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS],
        )
    if position is None:
        raise InvalidFields(
            [FieldError("cursor", "invalid", "Must be the nextCursor of a page of this log.")]
        )
    microseconds, number = _POSITION.unpack(position)
    return _EPOCH + timedelta(microseconds=microseconds), number


def _context(link: Link) -> bytes:
    return str(link.pk).encode()
