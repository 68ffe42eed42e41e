"""The page of a shared report, ``/reports/{token}``, and its file, ``/reports/{token}.csv``.

It needs no session and sets no cookie, runs no script and loads nothing from elsewhere. It ignores its query. With a
password, readers send it with each request; the form of the file has a signature that replaces it for a while.
"""

from __future__ import annotations

import hashlib
import logging
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from accounts.admission import TooManyAtOnce
from accounts.password_hashing import try_password_of_visitor
from analytics.models import Share
from analytics.shares import refusals
from analytics.shares.kept import Kept, recent_report
from analytics.shares.report import LISTS, SharedReport, as_csv
from analytics.shares.services import ShareEnded, open_share
from analytics.words import number, shown
from common.errors import InvalidFields, NotFound, TooManyAttempts, Unavailable
from common.http.client_address import address_of_client, client_network, customer_network
from common.http.languages import page_language
from common.repeated_lines import REPEATED
from common.secrets import CurrentKeySigner
from limits.rates import spend_request
from links.models import Link
from pages.responses import page, refuse, refuse_attempts, refuse_method
from pages.style import stylesheet

_METHODS = ("GET", "HEAD", "POST")
_STYLE = stylesheet(Path(__file__).with_name("page.css"))
UNLOCKED_SECONDS = 15 * 60

log = logging.getLogger(__name__)

_WIDTH, _HEIGHT = 1000, 200


def show_page(request: HttpRequest, token: str) -> HttpResponse:
    return _answer(request, token, is_file=False)


def show_file(request: HttpRequest, token: str) -> HttpResponse:
    return _answer(request, token, is_file=True)


def _answer(request: HttpRequest, token: str, *, is_file: bool) -> HttpResponse:
    if request.method not in _METHODS:
        return refuse_method(request, _METHODS)
    address = address_of_client(request)
    try:
        if limit := settings.RATE_LIMIT_ANONYMOUS:
            spend_request(f"shared reports for {client_network(address)}", limit)
        share, subject = open_share(token)
        if share.password is not None and not (_is_unlocked(request, share) or _unlock(request, share)):
            refusal = refusals.WRONG_PASSWORD if "password" in request.POST else refusals.PASSWORD
            path = {"page_path": request.path.removesuffix(".csv")}
            return _with_robots(
                page(
                    request,
                    "analytics/share_password.html",
                    {"refusal": refusal, **path},
                    status=401,
                    forms="'self'",
                ),
                share,
            )
        try:
            kept = recent_report(share, subject, f"network {customer_network(address)}")
        except NotFound:
            # Such as its domain.
            return refuse(request, refusals.UNREADABLE)
    except TooManyAtOnce:
        return _refuse_while_busy(request)
    except Unavailable:
        return refuse(request, refusals.UNAVAILABLE)
    except TooManyAttempts as error:
        return refuse_attempts(request, refusals.LIMITED, error)
    except ShareEnded:
        return refuse(request, refusals.ENDED)
    except NotFound:
        return refuse(request, refusals.NOT_FOUND)
    except InvalidFields:
        return refuse(request, refusals.UNREADABLE)
    if is_file:
        return _with_robots(_file(kept.report), share)
    with override(page_language(request.headers.get("Accept-Language", ""))):
        context = _context(kept, is_of_link=isinstance(subject, Link))
    context["file_path"] = f"{request.path}.csv"
    context["unlocked"] = None if share.password is None else _signer(share).sign(_version(share))
    context["service"] = settings.BASE_HOST
    context["no_index"] = share.no_index
    response = page(request, "analytics/share.html", context, added_style=_STYLE, forms="'self'")
    return _with_robots(response, share)


def _refuse_while_busy(request: HttpRequest) -> HttpResponse:
    """The page loads again by itself, unless that would need the password again."""
    response = refuse(request, refusals.UNAVAILABLE)
    if request.method != "POST":
        response["Refresh"] = response["Retry-After"]
    log.info("A shared report had more readers at once than may read it.", extra=REPEATED)
    # Django would log it as an error.
    response._has_been_logged = True  # type: ignore[attr-defined] # read by Django's log
    return response


def _with_robots(response: HttpResponse, share: Share) -> HttpResponse:
    if share.no_index:
        response["X-Robots-Tag"] = "noindex"
    return response


def _file(report: SharedReport) -> HttpResponse:
    response = HttpResponse(as_csv(report), "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="report-{timezone.now():%Y-%m-%d}.csv"'
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _unlock(request: HttpRequest, share: Share) -> bool:
    """Whether the request has the password. Raises TooManyAttempts before hashing if no attempts are left."""
    password = request.POST.get("password", "")
    return bool(password) and try_password_of_visitor(
        f"share-password {share.pk}", password, share.password or "", address_of_client(request)
    )


def _is_unlocked(request: HttpRequest, share: Share) -> bool:
    try:
        signed = _signer(share).unsign(request.POST.get("unlocked", ""), max_age=UNLOCKED_SECONDS)
    except BadSignature:
        return False
    return signed == _version(share)


def _signer(share: Share) -> CurrentKeySigner:
    return CurrentKeySigner(salt=f"analytics.shares.{share.public_id}")


def _version(share: Share) -> str:
    """It changes with the password."""
    return hashlib.sha256((share.password or "").encode()).hexdigest()[:16]


class _Row(NamedTuple):
    """``percent`` is the width of its bar, ``share`` the text."""

    name: str
    clicks: str
    percent: float
    share: str
    address: str = ""


def _context(kept: Kept, *, is_of_link: bool) -> dict[str, Any]:
    figures = kept.report.figures
    total, unique = figures["totalClicks"], figures["uniqueClicks"]
    totals = [(_("Clicks"), number(total))]
    if unique is not None:
        totals.append((_("Daily unique visitors"), number(unique)))
    totals.append((_("QR scans"), number(figures["scans"])))
    steps = figures["clicksByDate"]
    dates = [_date(step["date"]) for step in steps]
    lists = [(heading, _rows(figures[name], name, total)) for name, heading in _headings().items()]
    if not is_of_link:
        lists.insert(0, (_("Links"), _links(figures, total)))
    return {
        "name": kept.report.name,
        "dates": " – ".join(dict.fromkeys([*dates[:1], *dates[-1:]])),  # noqa: RUF001 # the dash of a range
        "totals": totals,
        "curve": _curve([step["clicks"] for step in steps]),
        "highest": number(max((step["clicks"] for step in steps), default=0)),
        "steps": [(name, number(step["clicks"])) for name, step in zip(dates, steps, strict=True)],
        "lists": [entry for entry in lists if entry[1]],
        "read_at": formats.date_format(kept.read_at, "DATETIME_FORMAT"),
    }


def _headings() -> dict[str, str]:
    return {
        "topCountries": _("Countries"),
        "topRegions": _("Regions"),
        "topCities": _("Cities"),
        "topDevices": _("Devices"),
        "topBrowsers": _("Browsers"),
        "topOperatingSystems": _("Operating systems"),
        "topReferrers": _("Referrers"),
        "topLanguages": _("Languages"),
    }


def _rows(values: list[dict[str, Any]], name: str, total: int) -> list[_Row]:
    return [
        _Row(shown(name, [value[field] for field in LISTS[name]]), *_share(value["clicks"], total))
        for value in values
    ]


def _links(figures: dict[str, Any], total: int) -> list[_Row]:
    rows = [
        _Row(url["title"] or url["shortUrl"], *_share(url["clicks"], total), url["shortUrl"])
        for url in figures["topUrls"]
    ]
    others = figures["otherUrls"]["clicks"]
    return [*rows, _Row(_("Other"), *_share(others, total))] if others else rows


def _share(clicks: int, total: int) -> tuple[str, float, str]:
    percent = round(100 * clicks / total, 1) if total else 0.0
    text = _("{percent}%").format(percent=formats.number_format(percent, decimal_pos=1))
    return number(clicks), percent, text


def _date(label: str) -> str:
    """The label of a step: a month, a day, or an hour."""
    if len(label) == len("2030-03"):
        return formats.date_format(date.fromisoformat(f"{label}-01"), "YEAR_MONTH_FORMAT")
    if len(label) == len("2030-03-01"):
        return formats.date_format(date.fromisoformat(label), "DATE_FORMAT")
    moment = datetime.fromisoformat(label)
    return f"{formats.date_format(moment, 'DATE_FORMAT')} {moment:%H:%M}"


def _curve(clicks: list[int]) -> str:
    """The points of a line through the clicks of the steps, for a box of _WIDTH and _HEIGHT."""
    highest = max(clicks, default=0) or 1
    # A single step is a level line.
    points = clicks * 2 if len(clicks) == 1 else clicks
    width = _WIDTH / max(1, len(points) - 1)
    return " ".join(
        f"{number * width:.1f},{_HEIGHT - _HEIGHT * value / highest:.1f}"
        for number, value in enumerate(points)
    )
