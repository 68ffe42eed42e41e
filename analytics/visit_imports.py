"""Imports the visits that another service counted, as clicks by day.

`read_visits` reads a file and adds its visits up by short link and day, `match` finds their links, and `add` adds them
to the reports. A layout maps the columns of another service to the day and the short link of a visit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, TextIO
from urllib.parse import quote

from django.conf import settings
from django.utils.dateparse import parse_datetime

from accounts.models import Workspace
from analytics.counting.imported_days import Days, add_days, new_clicks
from common.errors import FieldError, InvalidFields
from common.http.short_urls import short_url
from domains.models import Domain
from domains.selectors import verified_domains
from links.code_claims import CodeKey, links_of
from links.codes import is_inherited_code
from links.transfer.import_files import Unreadable, raw_rows
from links.transfer.import_rows import Row, first_value, host_and_code, iso_time

FIRST_DAY = date(2000, 1, 1)


class Visit(NamedTuple):
    """``host`` is None if the file does not contain it; ``code`` is empty if the visit belongs to no link."""

    host: str | None
    code: str
    day: date


class Layout(NamedTuple):
    """``visit`` returns None for a request that does not count as a click. It may raise InvalidFields."""

    name: str
    signatures: tuple[frozenset[str], ...]
    visit: Callable[[Row], Visit | None]


def _yourls(row: Row) -> Visit | None:
    """The table `yourls_log`: click_id, click_time, shorturl, referrer, user_agent, ip_address, country_code.

    Source: github.com/YOURLS/YOURLS (includes/functions-install.php), and github.com/gautamgupta/YOURLS-Import-Export,
    issue 6. ``shorturl`` is the keyword. Times have no zone and are read as UTC.
    """
    return Visit(None, _text(row.get("shorturl")), _day(row.get("clicktime"), "click_time"))


def _shlink(row: Row) -> Visit | None:
    """Visits of Shlink's API (`GET /rest/v3/visits/non-orphan` and similar), and the CSV of its web client.

    Source: github.com/shlinkio/shlink-web-component (src/visits/services/VisitsParser.ts and
    src/utils/services/ReportExporter.ts): date, potentialBot, userAgent, browser, os, referer, country, city,
    latitude, longitude, visitedUrl, type. An orphan visit has a type. Older exports of one link have no visitedUrl.
    """
    if row.get("potentialbot") in (True, "true", "1") or first_value(row, "type") not in (None, "undefined"):
        return None
    host, code = host_and_code(row.get("visitedurl"))
    return Visit(host or None, code or "", _day(row.get("date"), "date"))


def _goatcounter(row: Row) -> Visit | None:
    """The CSV export, versions 1 and 2: the header's first column is `1Path` or `2Path`.

    Source: https://www.goatcounter.com/help/export. Bot is 0 for people. An event is no page view. Dates are RFC 3339.
    """
    if str(row.get("bot", "0")) not in ("0", "") or str(row.get("event")).lower() in ("true", "1"):
        return None
    path = _text(first_value(row, "2path", "1path"))
    _, code = host_and_code(f"//_/{path.lstrip('/')}")
    return Visit(None, code or "", _day(row.get("date"), "Date"))


LAYOUTS = (
    Layout("yourls", (frozenset({"shorturl", "clicktime"}),), _yourls),
    Layout("shlink", (frozenset({"date", "potentialbot"}),), _shlink),
    Layout("goatcounter", (frozenset({"2path", "date"}), frozenset({"1path", "date"})), _goatcounter),
)
NAMES = [layout.name for layout in LAYOUTS]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _day(value: Any, field: str) -> date:
    """The day in UTC. Raises InvalidFields."""
    text = iso_time(value)
    try:
        moment = parse_datetime(text) if isinstance(text, str) else None
        if moment is not None and moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise InvalidFields([FieldError(field, "invalid", "Must be a date and time.")])
    if not FIRST_DAY <= moment.date() <= datetime.now(UTC).date():
        raise InvalidFields([FieldError(field, "range", f"Must be between {FIRST_DAY} and today.")])
    return moment.date()


# Refused rows that are kept for the report.
MAX_REFUSALS = 100

# Host and code. The host is None if the file does not contain it.
ShortLink = tuple[str | None, str]


@dataclass(slots=True)
class Visits:
    """``uncounted``: bots, events and visits of no link. ``refusals`` has the first refused rows and their errors."""

    layout: str
    rows: int = 0
    uncounted: int = 0
    refused: int = 0
    refusals: list[tuple[int, InvalidFields]] = field(default_factory=list)
    days: dict[ShortLink, Counter[date]] = field(default_factory=dict)


def read_visits(
    file: TextIO,
    layout: str | None = None,
    code: str | None = None,
    report: Callable[[], None] = lambda: None,
) -> Visits:
    """Read the whole file. ``code``: the short link of rows that name none. Calls ``report`` after each row.

    Raises Unreadable if the file has no rows or an unknown layout.
    """
    rows, _ = raw_rows(file)
    visits, chosen = Visits(layout or ""), _named(layout)
    for row in rows:
        visits.rows += 1
        if isinstance(row, InvalidFields):
            if chosen is None:
                raise Unreadable(row.errors[0].code, row.errors[0].message)
            _refuse(visits, row)
        else:
            if chosen is None:
                chosen = _detected(frozenset(row))
                visits.layout = chosen.name
            try:
                visit = chosen.visit(row)
            except InvalidFields as refusal:
                _refuse(visits, refusal)
            else:
                named = visit.code or code if visit is not None else None
                if visit is None or not named:
                    visits.uncounted += 1
                else:
                    visits.days.setdefault((visit.host, named), Counter())[visit.day] += 1
        report()
    if not visits.rows:
        raise Unreadable("empty", "The file contains no visits.")
    return visits


def combined(parts: Iterable[Visits]) -> Visits:
    """Add up the visits of several files. Their refusals stay with the parts: row numbers differ by file."""
    total, layouts = Visits(""), set()
    for part in parts:
        layouts.add(part.layout)
        total.rows += part.rows
        total.uncounted += part.uncounted
        total.refused += part.refused
        for short_link, days in part.days.items():
            total.days.setdefault(short_link, Counter()).update(days)
    total.layout = ", ".join(sorted(layouts))
    return total


def _refuse(visits: Visits, refusal: InvalidFields) -> None:
    visits.refused += 1
    if len(visits.refusals) < MAX_REFUSALS:
        visits.refusals.append((visits.rows, refusal))


def _named(name: str | None) -> Layout | None:
    return next((layout for layout in LAYOUTS if layout.name == name), None)


def _detected(keys: frozenset[str]) -> Layout:
    for layout in LAYOUTS:
        if any(signature <= keys for signature in layout.signatures):
            return layout
    raise Unreadable(
        "unknown_format", "Unrecognised format: these are not visits of YOURLS, Shlink or GoatCounter."
    )


# Days of links in one transaction.
BATCH = 20_000


class Matched(NamedTuple):
    """The visits of one short link in the file, or the reason why they have no link.

    ``address`` is percent-encoded: the file may contain control characters.
    """

    address: str
    link_id: int | None
    days: Counter[date]
    refusal: str = ""


class Added(NamedTuple):
    """A finished batch: the number of its visits, and of those that were new."""

    visits: int
    new: int


def match(
    owner: Workspace, visits: Visits, domain: Domain | None = None, *, on_base: bool = False
) -> list[Matched]:
    """Find each short link among the owner's links.

    Every visit is of a link on ``domain``, or with ``on_base`` on the default domain. Otherwise a visit stays on its
    host if that is a domain of the owner, and goes to the default domain if not, as in an import of links. But a code
    that several hosts have is refused on those that do not belong to the service: their links are different.
    """
    is_named = domain is not None or on_base
    domains = {} if is_named else {verified.host: verified for verified in verified_domains(owner)}
    ambiguous = set() if is_named else _ambiguous(visits, domains)
    chosen = {
        (host, code): domain if host is None else domains.get(host, domain) for host, code in visits.days
    }
    keys: dict[ShortLink, CodeKey] = {
        short_link: (None if target is None else target.pk, short_link[1])
        for short_link, target in chosen.items()
        if short_link not in ambiguous and is_inherited_code(short_link[1])
    }
    links = links_of(keys.values(), owner_id=owner.pk)
    return [
        Matched(f"{quote(str(host))}/{quote(code)}", None, days, "ambiguous_host")
        if (host, code) in ambiguous
        else _matched(
            chosen[host, code], code, days, links.get(keys[host, code]) if (host, code) in keys else None
        )
        for (host, code), days in visits.days.items()
    ]


def _matched(domain: Domain | None, code: str, days: Counter[date], link_id: int | None) -> Matched:
    address = short_url(None if domain is None else domain.host, quote(code))
    return Matched(address, link_id, days, "not_found" if link_id is None else "")


def _ambiguous(visits: Visits, domains: Mapping[str, Domain]) -> set[ShortLink]:
    """The short links on foreign hosts whose code another host of the file also has on the default domain."""
    on_default = [(host, code) for host, code in visits.days if host is not None and host not in domains]
    hosts = Counter(code for _, code in {(_site(host), code) for host, code in on_default})
    return {(host, code) for host, code in on_default if hosts[code] > 1 and host not in settings.BASE_HOSTS}


def _site(host: str) -> str:
    return settings.BASE_HOST if host in settings.BASE_HOSTS else host


def add(matches: list[Matched], *, dry_run: bool) -> Iterator[Added]:
    """Add the visits batch by batch, each in one transaction. Visits of an earlier import are not added again."""
    for batch in _batches(matches):
        yield Added(sum(batch.values()), sum(new_clicks(batch).values()) if dry_run else add_days(batch))


def _batches(matches: list[Matched]) -> Iterator[Days]:
    """Keep all days of a link in one batch: several short links may be of the same link."""
    by_link: dict[int, Counter[date]] = {}
    for matched in matches:
        if matched.link_id is not None:
            by_link.setdefault(matched.link_id, Counter()).update(matched.days)
    batch: dict[tuple[int, date], int] = {}
    for link_id, days in sorted(by_link.items()):
        batch |= _of_link(link_id, days)
        if len(batch) >= BATCH:
            yield batch
            batch = {}
    if batch:
        yield batch


def _of_link(link_id: int, days: Mapping[date, int]) -> dict[tuple[int, date], int]:
    return {(link_id, day): visits for day, visits in days.items()}
