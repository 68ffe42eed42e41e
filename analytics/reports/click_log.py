"""The log of individual requests for a link, newest first, in pages."""

from __future__ import annotations

import re
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b
from struct import Struct
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection

from analytics.models import Kind
from analytics.reports.periods import RequestedRange
from common.errors import FieldError, InvalidFields
from common.secrets import derive_key, seal, unseal
from links.models import Link

# A page reads at most this many rows, however few of them match the requested kinds.
REACH = 10_000


def _url_at_time(routes: str) -> str:
    """SQL: the URL of these rows of links_route at the time of the click; before the first one, the first one's."""
    urls = f"SELECT url FROM links_route r WHERE r.link_id = page.link_id AND {routes}"  # noqa: S608 # as below
    return f"""SELECT url FROM (
        ({urls} AND since <= time ORDER BY since DESC LIMIT 1)
        UNION ALL ({urls} AND since > time ORDER BY since LIMIT 1)
    ) urls LIMIT 1"""  # noqa: S608 # composed of constants


# Reads one page. The result includes the last row read, whatever its kind, because the next page starts after it.
PAGE = f"""
SELECT id, time, kind, reason, country, city, device, browser, operating_system, referrer, scanned, branch, (
        SELECT name FROM links_route r WHERE r.link_id = page.link_id AND r.branch = page.branch
        ORDER BY since DESC LIMIT 1
    ), CASE
        WHEN kind = {Kind.REFUSED} THEN NULL
        WHEN branch IS NULL THEN coalesce(({_url_at_time("number = 0")}), %(destination)s)
        ELSE ({_url_at_time("r.branch = page.branch")})
    END, place
FROM (
    SELECT * FROM (
        SELECT *, row_number() OVER (ORDER BY time DESC, id DESC) AS place FROM (
            SELECT * FROM analytics_click
            WHERE link_id = %(link)s AND time >= %(since)s::timestamptz AND time < %(until)s::timestamptz
            AND time <= %(time)s::timestamptz AND (time, id) < (%(time)s::timestamptz, %(id)s)
            ORDER BY time DESC, id DESC LIMIT %(reach)s
        ) newest
    ) entry WHERE kind = ANY(%(kinds)s) OR place = %(reach)s ORDER BY time DESC, id DESC LIMIT %(rows)s
) page ORDER BY time DESC, id DESC
"""  # noqa: S608 # built from constants

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
    # None for the link's own destination.
    branch_id: uuid.UUID | None
    # The last name, even if the branch has been deleted. None without a branch, and for an unknown one.
    branch_name: str | None
    # None for a refusal and for an unknown branch. Without the parameters that the redirect added.
    location: str | None
    place: int

    @property
    def public_id(self) -> str:
        """A keyed hash: the id itself would reveal the number of clicks on the whole installation."""
        return blake2b(self.id.to_bytes(8), digest_size=16, key=_id_key(settings.SECRET_KEY)).hexdigest()


class ClickPage(NamedTuple):
    clicks: list[LoggedClick]
    next_cursor: str | None


def click_log(
    link: Link, query: RequestedRange, *, kinds: Collection[Kind], limit: int, cursor: str | None
) -> ClickPage:
    """Raises InvalidFields for a cursor of another log and for dates that contradict each other."""
    since, until = query.bounds()
    time, number = ("infinity", 0) if cursor is None else _position(cursor, link)
    parameters: dict[str, Any] = {
        "link": link.pk,
        "destination": link.destination,
        "since": since or "-infinity",
        "until": until or "infinity",
        "time": time,
        "id": number,
        "kinds": list(kinds),
        "reach": REACH,
        "rows": limit + 1,
    }
    with connection.cursor() as database:
        database.execute(PAGE, parameters)
        clicks = [LoggedClick(*row) for row in database.fetchall()]
    page = clicks[:limit]
    has_more = len(clicks) > limit or (bool(page) and page[-1].place == REACH)
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
