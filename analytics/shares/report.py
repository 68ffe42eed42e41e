"""What a shared report shows: the figures of its view or link now, in the shared period.

Its readers choose nothing. The selection, the filters and the period come from the share alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.dispatch import receiver
from django.utils import timezone

from accounts.models import Workspace
from analytics import representations
from analytics.exports.formats import CsvWriter
from analytics.exports.tables import Column
from analytics.filter_fields import clicks_of, selection_of
from analytics.models import Share
from analytics.reports.periods import EVERYTHING, Interval
from analytics.reports.workspaces import workspace_overview
from analytics.serializers import WorkspaceQuery, requested_range
from common.errors import FieldError, InvalidFields, NotFound
from common.rest.unknown_fields import Handling
from links.codes import short_url_of
from links.models import Link, SavedView
from links.saved_views import keeping_report
from links.searches import listed_domain

# The dates of a view make way for the period of its share.
_DATES = ("period", "startDate", "endDate")
# Each list of a report, and the fields of its values.
LISTS = {
    "topCountries": ("country",),
    "topRegions": ("country", "region"),
    "topCities": ("country", "city"),
    "topDevices": ("device",),
    "topBrowsers": ("browser",),
    "topOperatingSystems": ("operatingSystem",),
    "topReferrers": ("referrer",),
    "topLanguages": ("language",),
}
_COLUMNS = (
    Column("list", "text"),
    Column("value", "text"),
    Column("clicks", "integer"),
    Column("uniqueClicks", "integer"),
    Column("isRest", "flag"),
)


class SharedReport(NamedTuple):
    """``figures``: the response of the API for the same report."""

    name: str
    figures: dict[str, Any]
    interval: Interval


def name_of(subject: SavedView | Link) -> str:
    return subject.name if isinstance(subject, SavedView) else subject.title or short_url_of(subject)


def query_of(subject: SavedView | Link, period: str | None, zone: str | None) -> dict[str, Any]:
    """The validated query of the report. Raises InvalidFields if no report accepts the parameters of the view now."""
    if isinstance(subject, Link):
        parameters = {"urlIds": str(subject.public_id), "period": period or EVERYTHING}
    else:
        parameters = dict(subject.report or {})
        if period is not None:
            parameters = {name: value for name, value in parameters.items() if name not in _DATES}
            parameters["period"] = period
    if zone is not None:
        parameters["timezone"] = zone
    try:
        return _checked(parameters)
    except InvalidFields as error:
        names = ", ".join(dict.fromkeys(broken.field for broken in error.errors))
        message = f"The report of the view is not valid: {names}."
        raise InvalidFields([FieldError("viewId", "invalid_report", message)]) from None


def _checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The validated query. Raises InvalidFields as the report does."""
    query, _ = Handling(is_strict=True).read(WorkspaceQuery(), dict(parameters))
    requested, now = requested_range(query), timezone.now()
    if "compare" in query:
        requested.compared(query["compare"])
    requested.period(now, now)
    return query


@receiver(keeping_report)
def check_kept_report(owner: Workspace, report: Mapping[str, str], **_: Any) -> None:
    """Refuse what the report would refuse, in the fields of the view."""
    try:
        query = _checked(report)
        listed_domain(owner, query.get("domain_id"))
    except InvalidFields as error:
        errors = error.errors
    except NotFound as error:
        errors = [FieldError("domainId", "", error.message)]
    else:
        return
    raise InvalidFields(
        FieldError(f"report.{broken.field}", "invalid_report", broken.message) for broken in errors
    ) from None


def read_report(share: Share, subject: SavedView | Link) -> SharedReport:
    """Raises InvalidFields or NotFound if there is no such report now."""
    query = query_of(subject, share.period, share.timezone)
    requested = requested_range(query)
    overview = workspace_overview(
        share.owner, requested, selection_of(query), clicks_of(query), limit=query["limit"], is_public=True
    )
    figures = representations.workspace_overview(overview, requested.interval, None)
    return SharedReport(name_of(subject), figures, requested.interval)


def as_csv(report: SharedReport) -> bytes:
    """A row for each figure, with the names of the API. Texts that a spreadsheet would run are escaped."""
    writer = CsvWriter(_COLUMNS)
    return writer.start() + writer.rows(list(_rows(report.figures)))


def _rows(figures: dict[str, Any]) -> Iterator[tuple[str, str, int, int | None, bool]]:
    yield "total", "", figures["totalClicks"], figures["uniqueClicks"], False
    yield "scans", "", figures["scans"], None, False
    for step in figures["clicksByDate"]:
        yield "clicksByDate", step["date"], step["clicks"], step["uniqueClicks"], False
    for name, fields in LISTS.items():
        for row in figures[name]:
            value = " ".join(dict.fromkeys(row[field] for field in fields))
            yield name, value, row["clicks"], None, row.get("isRest", False)
    for row in figures["topUrls"]:
        yield "topUrls", row["shortUrl"], row["clicks"], row["uniqueClicks"], False
    if (others := figures["otherUrls"])["clicks"]:
        yield "otherUrls", "", others["clicks"], others["uniqueClicks"], True
