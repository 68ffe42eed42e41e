"""The log of individual requests, newest first: those of one link, or of any number, that meet conditions.

No index has the clicks of many links in the order of time, but their rows are stored roughly in that order. So only
the log of few links follows an index; that of many reads one window of minutes after the other, as wide as the clicks
in it allow. A page reads a bounded number of rows, however few of them match: then it is short, and the next one
continues.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from struct import Struct
from typing import NamedTuple

from django.utils import timezone

from analytics.counting.click_events import public_click_id
from analytics.models import MINUTE_MICROSECONDS, Kind
from analytics.reports.costs import admit, fetch_bounded
from analytics.reports.periods import RequestedRange
from analytics.reports.raw import meeting_filters
from analytics.reports.scope import Scope
from analytics.reports.selected import Clicks
from common.cursors import opened_cursor, sealed_cursor
from common.errors import FieldError, InvalidFields

# A page of few links reads at most this many of their requests, and merges the newest ones of each link.
REACH = 10_000
FEW_LINKS = 100
# A page of more links reads at most this many requests, beside its first window.
WINDOW_REACH = 100_000
# Up to this many links, a window is read from their index; of more, with the requests of other workspaces.
SOME_LINKS = 5_000
_FIRST_MINUTES = 10
_MOST_GROWTH = 16


def _url_at_time(routes: str) -> str:
    """SQL: the URL of these rows of links_route at the time of the click; before the first one, the first one's."""
    urls = f"SELECT url FROM links_route r WHERE r.link_id = page.link_id AND {routes}"  # noqa: S608 # as below
    return f"""SELECT url FROM (
        ({urls} AND since <= time ORDER BY since DESC LIMIT 1)
        UNION ALL ({urls} AND since > time ORDER BY since LIMIT 1)
    ) urls LIMIT 1"""  # noqa: S608 # composed of constants


_COLUMNS = "id minute microsecond client place referrer branch kind scanned ctid"
_NEWEST = "minute DESC, microsecond DESC, id DESC"
_BOUNDS = """minute BETWEEN %(first_minute)s AND %(last_minute)s
AND (minute, microsecond) >= (%(first_minute)s, %(first_microsecond)s)
AND (minute, microsecond, id) < (%(before_minute)s, %(before_microsecond)s, %(before_id)s)"""
# The newest requests of each link. ``turn`` numbers those of a link: the last one that was read may have older ones.
_OF_EACH = f"""
SELECT newest.* FROM chosen CROSS JOIN LATERAL (
    SELECT link_id, {_COLUMNS.replace(" ", ", ")}, row_number() OVER (ORDER BY {_NEWEST}) AS turn
    FROM analytics_rawclick t WHERE t.link_id = chosen.link_id{{on_days}} AND {_BOUNDS}
    ORDER BY {_NEWEST} LIMIT %(each)s
) newest
"""  # noqa: S608 # built from constants
_OF_SOME = f"""
SELECT inside.* FROM chosen CROSS JOIN LATERAL (
    SELECT link_id, {_COLUMNS.replace(" ", ", ")}, 0 AS turn
    FROM analytics_rawclick t WHERE t.link_id = chosen.link_id{{on_days}} AND {_BOUNDS} OFFSET 0
) inside LIMIT %(each)s
"""  # noqa: S608 # built from constants
_OF_ALL = f"""
SELECT link_id, {_COLUMNS.replace(" ", ", ")}, 0 AS turn FROM analytics_rawclick WHERE {_BOUNDS} LIMIT %(each)s
"""  # noqa: S608 # built from constants
# Compares each with its days: to look each up among them would read them all again.
_OF_ALL_ON_DAYS = f"""
SELECT t.*, chosen.link_id IS NOT NULL AS is_chosen
FROM ({_OF_ALL}) t LEFT JOIN chosen ON chosen.link_id = t.link_id{{on_days}}
"""  # noqa: S608 # built from constants
# Reads one page. The result has at least one row, and the last row that was read, too, whether it matches or not,
# because the next page starts after it. Only the rows of the page get their texts: they are found in the table with
# numbers, and then in the view by their position in the partition of their minute.
_PAGE = f"""
WITH {{chosen}}, read AS MATERIALIZED (
    SELECT *, minute / 10080 AS week, row_number() OVER (ORDER BY {_NEWEST}) AS number FROM ({{rows}}) rows
), {{texts}} reached AS MATERIALIZED (
    SELECT count(*) AS total, min(number) FILTER (WHERE turn = %(each)s) AS last FROM read
), entry AS MATERIALIZED (
    SELECT minute, ctid AS position, number, is_hit FROM (
        SELECT *, kind = ANY(%(kinds)s::smallint[]) AND ({{condition}}) AS is_hit FROM read
    ) read, reached WHERE (is_hit OR number = last) AND number <= coalesce(last, number) ORDER BY number LIMIT %(rows)s
)
SELECT total, page.id, time, kind, reason, country, city, region, device, browser, operating_system, language,
    referrer, scanned,
    branch, (
        SELECT name FROM links_route r WHERE r.link_id = page.link_id AND r.branch = page.branch
        ORDER BY since DESC LIMIT 1
    ), CASE
        WHEN kind = {Kind.REFUSED} THEN NULL
        WHEN branch IS NULL THEN coalesce(({_url_at_time("number = 0")}), l.destination)
        ELSE ({_url_at_time("r.branch = page.branch")})
    END, l.public_id, coalesce(l.custom_code, l.short_code), d.host, is_hit, page.number = last
FROM reached LEFT JOIN (
    SELECT click.*, entry.number, entry.is_hit FROM entry JOIN analytics_click click USING (minute, position)
) page ON true LEFT JOIN links_link l ON l.id = page.link_id AND l.owner_id = %(owner)s
LEFT JOIN domains_domain d ON d.id = l.domain_id
ORDER BY page.number
"""  # noqa: S608 # built from constants

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Later than any click, and the largest number that the column can have.
_LAST_MINUTE = 2**31 - 1
_POSITION = Struct("<qq")
_SEALING = "click-log-cursor"


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
    # None if the link has been deleted, or moved, since it was chosen.
    link_id: uuid.UUID | None
    code: str
    host: str | None
    is_hit: bool
    # Whether older requests of a link were not read.
    is_last: bool

    @property
    def public_id(self) -> str:
        return public_click_id(self.id)

    @property
    def position(self) -> Position:
        return Position(*_moment(self.time), self.id)


class Position(NamedTuple):
    """The place in a log before which, in time, a reading continues."""

    minute: int = _LAST_MINUTE
    microsecond: int = 0
    id: int = 0


class ClickPage(NamedTuple):
    clicks: list[LoggedClick]
    next_cursor: str | None


def click_log(
    scope: Scope, query: RequestedRange, clicks: Clicks, *, name: str, limit: int, cursor: str | None
) -> ClickPage:
    """A page of the log with this name, which its cursors are bound to.

    Raises InvalidFields for a cursor of another log and for dates that contradict each other.
    """
    log = ClickLog(scope, query, clicks, name=name, cursor=cursor)
    with admit(scope.owner, is_costly=scope.is_costly):
        page = log.read(limit)
    return ClickPage(page, None if log.position is None else _cursor(log.position, name))


class ClickLog:
    """Reads from ``position`` on, which is None at the end of the log."""

    def __init__(
        self, scope: Scope, query: RequestedRange, clicks: Clicks, *, name: str, cursor: str | None = None
    ) -> None:
        """Raises InvalidFields for a cursor of another log and for dates that contradict each other."""
        since, until = query.bounds(timezone.now())
        self._first = (0, 0) if since is None else _moment(since)
        end = Position() if until is None else Position(*_moment(until))
        self.position: Position | None = end if cursor is None else min(end, _position(cursor, name))
        self._scope = scope
        self._are_few = scope.number <= FEW_LINKS
        self._kinds = list(Kind) if clicks.kinds is None else list(clicks.kinds)
        meeting = meeting_filters(clicks.filters)
        self._has_conditions = bool(clicks.filters) or len(self._kinds) < len(Kind)
        condition, rows = meeting.condition, _OF_EACH if self._are_few else _OF_SOME
        if scope.number > SOME_LINKS:
            rows = _OF_ALL_ON_DAYS if scope.has_days else _OF_ALL
            condition += " AND " + ("read.is_chosen" if scope.has_days else scope.contains("read.link_id"))
        rows = rows.format(on_days=scope.on_days_of_clicks("t"))
        self._text = _PAGE.format(chosen=scope.chosen, rows=rows, texts=meeting.texts, condition=condition)
        self._values = scope.values | meeting.parameters | {"kinds": self._kinds, "owner": scope.owner}
        self._minutes = _FIRST_MINUTES

    def read(self, limit: int) -> list[LoggedClick]:
        """The next requests, at most ``limit``; fewer, or none, do not mean that the log ends."""
        if self.position is None:
            return []
        clicks = self._merge(self.position, limit) if self._are_few else self._walk(self.position, limit)
        return [click for click in clicks if click.link_id is not None]

    def _merge(self, position: Position, limit: int) -> list[LoggedClick]:
        each = max(1, REACH // max(1, self._scope.number))
        if not self._has_conditions:
            each = min(each, limit + 1)
        _, clicks = self._fetch(self._first, position, each, limit + 1)
        page = clicks[:limit]
        has_more = len(clicks) > limit or (bool(page) and page[-1].is_last)
        self.position = page[-1].position if has_more else None
        return [click for click in page if click.is_hit]

    def _walk(self, position: Position, limit: int) -> list[LoggedClick]:
        page: list[LoggedClick] = []
        left, is_first = WINDOW_REACH, True
        while left > 0 or is_first:
            last = min(position.minute, _moment(timezone.now())[0])
            start = max(self._first, (last - self._minutes, 0))
            most = WINDOW_REACH if is_first else left
            if self._minutes == 1:
                # A minute is read whole.
                most = _LAST_MINUTE
            missing = limit - len(page)
            total, clicks = self._fetch(start, position, most + 1, missing + 1)
            left -= total
            if total > most:
                self._minutes = max(1, self._minutes // _MOST_GROWTH)
                continue
            is_first = False
            page += clicks[:missing]
            if len(clicks) > missing:
                self.position = page[-1].position
                # A file continues with a window that has about as many.
                self._minutes = max(1, last - self.position.minute)
                return page
            if start == self._first:
                self.position = None
                return page
            self.position = position = Position(*start)
            growth = WINDOW_REACH // (4 * total) if total else _MOST_GROWTH
            self._minutes *= max(1, min(growth, _MOST_GROWTH))
        return page

    def _fetch(
        self, start: tuple[int, int], before: Position, each: int, rows: int
    ) -> tuple[int, list[LoggedClick]]:
        """How many requests were read, and those of them that match, with the last one."""
        values = {
            "first_minute": start[0],
            "first_microsecond": start[1],
            "last_minute": before.minute,
            "before_minute": before.minute,
            "before_microsecond": before.microsecond,
            "before_id": before.id,
            "each": each,
            "rows": rows,
        }
        found = fetch_bounded(self._text, self._values | values)
        return found[0][0], [LoggedClick(*row) for _, *row in found if row[0] is not None]


def _cursor(position: Position, name: str) -> str:
    packed = _POSITION.pack(position.minute * MINUTE_MICROSECONDS + position.microsecond, position.id)
    return sealed_cursor(packed, purpose=_SEALING, context=name.encode())


def _moment(time: datetime) -> tuple[int, int]:
    """The minute since 1970 and the microsecond of the minute."""
    return divmod((time - _EPOCH) // timedelta(microseconds=1), MINUTE_MICROSECONDS)


def _position(cursor: str, name: str) -> Position:
    position = opened_cursor(cursor, _POSITION.size, purpose=_SEALING, context=name.encode())
    if position is None:
        raise InvalidFields(
            [FieldError("cursor", "invalid", "Must be the nextCursor of a page of this log.")]
        )
    microseconds, number = _POSITION.unpack(position)
    minute, microsecond = divmod(microseconds, MINUTE_MICROSECONDS)
    return Position(minute, microsecond, number)
