"""Column names of other services' visits, and their mapping to the day and the short link of a visit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from django.utils.dateparse import parse_datetime

from common.errors import FieldError, InvalidFields
from links.transfer.import_layouts import Row, first_value, host_and_code, iso_time

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
