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
from django.utils import timezone

from analytics.models import MINUTE_MICROSECONDS, Kind
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
# Only the rows of the page get their texts: they are found in the table with numbers, whose index has their order, and
# then in the view by their position in the partition of their minute.
PAGE = f"""
SELECT id, time, kind, reason, country, city, region, device, browser, operating_system, language, referrer, scanned,
    branch, (
        SELECT name FROM links_route r WHERE r.link_id = page.link_id AND r.branch = page.branch
        ORDER BY since DESC LIMIT 1
    ), CASE
        WHEN kind = {Kind.REFUSED} THEN NULL
        WHEN branch IS NULL THEN coalesce(({_url_at_time("number = 0")}), %(destination)s)
        ELSE ({_url_at_time("r.branch = page.branch")})
    END, number
FROM (
    SELECT click.*, entry.number FROM (
        SELECT minute, position, number FROM (
            SELECT *, row_number() OVER (ORDER BY minute DESC, microsecond DESC, id DESC) AS number FROM (
                SELECT id, minute, microsecond, kind, ctid AS position FROM analytics_rawclick
                WHERE link_id = %(link)s AND minute BETWEEN %(first_minute)s AND %(last_minute)s
                AND (minute, microsecond) >= (%(first_minute)s, %(first_microsecond)s)
                AND (minute, microsecond) < (%(end_minute)s, %(end_microsecond)s)
                AND (minute, microsecond, id) < (%(before_minute)s, %(before_microsecond)s, %(before_id)s)
                ORDER BY minute DESC, microsecond DESC, id DESC LIMIT %(reach)s
            ) newest
        ) numbered WHERE kind = ANY(%(kinds)s) OR number = %(reach)s ORDER BY number LIMIT %(rows)s
    ) entry JOIN analytics_click click USING (minute, position)
) page ORDER BY number
"""  # noqa: S608 # built from constants

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Later than any click, and the largest number that the column can have.
_LAST_MINUTE = 2**31 - 1
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
    region: str
    device: str
    browser: str
    operating_system: str
    language: str
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
    since, until = query.bounds(timezone.now())
    first, end = _moment(since, (0, 0)), _moment(until, (_LAST_MINUTE, 0))
    before, before_id = ((_LAST_MINUTE, 0), 0) if cursor is None else _position(cursor, link)
    parameters: dict[str, Any] = {
        "link": link.pk,
        "destination": link.destination,
        "first_minute": first[0],
        "first_microsecond": first[1],
        "end_minute": end[0],
        "end_microsecond": end[1],
        "before_minute": before[0],
        "before_microsecond": before[1],
        "before_id": before_id,
        "last_minute": min(end[0], before[0]),
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


def _moment(time: datetime | None, default: tuple[int, int]) -> tuple[int, int]:
    """The minute since 1970 and the microsecond of the minute."""
    return (
        default if time is None else divmod((time - _EPOCH) // timedelta(microseconds=1), MINUTE_MICROSECONDS)
    )


def _position(cursor: str, link: Link) -> tuple[tuple[int, int], int]:
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
    return divmod(microseconds, MINUTE_MICROSECONDS), number


def _context(link: Link) -> bytes:
    return str(link.pk).encode()
