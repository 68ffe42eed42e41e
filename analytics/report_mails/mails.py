"""The texts of mails with reports: a plain and an HTML part, in the language of the account."""

from __future__ import annotations

from datetime import UTC, date
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import formats
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts.mails import mail_language, signature, subject_of_mail
from analytics.models import ReportMail
from analytics.report_mails.subscriptions import Subscription, unsubscribe_address
from analytics.reports.periods import RequestedRange
from analytics.reports.queries import Breakdown
from analytics.reports.scope import Selection
from analytics.reports.selected import Clicks
from analytics.reports.workspaces import workspace_overview, workspace_totals
from analytics.words import number, shown
from common.http.short_urls import short_url
from links.selectors import LinkRow

_TOP = 5


class Alert(NamedTuple):
    """``kind``: spike or drop. ``usual``: the clicks on that day of the week."""

    kind: str
    day: date
    clicks: int
    usual: int


def report_mail(
    to: ReportMail, subscription: Subscription, first: date, last: date
) -> EmailMultiAlternatives:
    """The report of these days (UTC). Raises InvalidFields if the workspace has too many clicks to add up."""
    requested = RequestedRange(first, last, UTC)
    report = workspace_overview(to.owner, requested, Selection(), Clicks(), limit=_TOP)
    before = workspace_totals(to.owner, requested.compared("previous"), Selection(), Clicks())
    with mail_language(to.user):
        name = _("Your week") if subscription is Subscription.WEEKLY else _("Your month")
        totals = [
            (_("Clicks"), number(report.figures.clicks)),
            (_("Period before"), number(before.clicks)),
            (_("Daily unique visitors"), number(report.figures.unique_clicks or 0)),
        ]
        links = [(top.link.title or _address(top.link), number(top.clicks)) for top in report.top]
        countries = [
            (shown("topCountries", [value.name]), number(value.clicks))
            for value in report.figures.counts[Breakdown.COUNTRY]
        ]
        return _mail(
            to,
            subscription,
            f"{name}: {_('{clicks} clicks').format(clicks=totals[0][1])}",
            (first, last),
            {
                "text": f"{_date(first)} – {_date(last)}",  # noqa: RUF001 # the dash of a range
                "tables": [("", totals), (_("Links"), links), (_("Countries"), countries)],
            },
        )


def alert_mail(to: ReportMail, alert: Alert) -> EmailMultiAlternatives:
    with mail_language(to.user):
        subject = (
            _("Many more clicks than usual") if alert.kind == "spike" else _("Far fewer clicks than usual")
        )
        text = _("On {day} (UTC) there were {clicks} clicks. Usual on this day of the week are {usual}.")
        values = {"day": _date(alert.day), "clicks": number(alert.clicks), "usual": number(alert.usual)}
        days = alert.day, alert.day
        return _mail(to, Subscription.ALERTS, subject, days, {"text": text.format(**values), "tables": []})


def _mail(
    to: ReportMail,
    subscription: Subscription,
    subject: str,
    days: tuple[date, date],
    context: dict[str, Any],
) -> EmailMultiAlternatives:
    """``days``: the first and the last (UTC) of the report that the mail links to."""
    unsubscribe = unsubscribe_address(to.pk, subscription)
    start, end = days
    query = {"workspace": to.owner.public_id, "range": "custom", "start": start, "end": end, "zone": "UTC"}
    values = {
        **context,
        "heading": subject,
        "workspace": "" if to.owner.is_personal else to.owner.name,
        "tables": [(heading, rows) for heading, rows in context["tables"] if rows],
        "address": f"{settings.BASE_URL}/dashboard/analytics?{urlencode(query)}",
        "unsubscribe": unsubscribe,
        "signature": signature(),
        "brand_color": settings.BRAND_COLOR or "#006d77",
        "language": get_language(),
    }
    mail = EmailMultiAlternatives(
        subject_of_mail(subject),
        render_to_string("analytics/report_mail.txt", values),
        to=[to.user.email],
        headers={
            "List-Unsubscribe": f"<{unsubscribe}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
    )
    mail.attach_alternative(render_to_string("analytics/report_mail.html", values), "text/html")
    return mail


def _address(link: LinkRow) -> str:
    return short_url(link.host, link.custom_code or link.short_code)


def _date(day: date) -> str:
    return formats.date_format(day, "DATE_FORMAT")
