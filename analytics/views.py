from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.callers import account_of, workspace_of
from accounts.rights import Role, Scope
from analytics import representations
from analytics.exports.formats import JSON
from analytics.exports.responses import in_format, streamed_file, whole_file
from analytics.exports.tables import code_day_table, code_table, log_table
from analytics.filter_fields import clicks_of, selection_of, utm_of
from analytics.reports import filtered, scope
from analytics.reports.click_log import ClickLog, ClickPage, click_log
from analytics.reports.missed_codes import all_missed_codes, missed_codes
from analytics.reports.reads import unknown_codes
from analytics.reports.workspaces import sparklines, workspace_overview, workspace_totals
from analytics.schema import describe_analytics, describe_domain_analytics
from analytics.serializers import (
    MAX_CODES_PER_PAGE,
    ClicksQuery,
    ErasureQuery,
    OverviewQuery,
    SparklinesQuery,
    UnknownCodesQuery,
    UtcDaysQuery,
    ValuesQuery,
    WorkspaceClicksQuery,
    WorkspaceQuery,
    requested_range,
)
from analytics.services import erase_visits
from analytics.visitors import geo
from common.http.short_urls import BASE_ID
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from domains.selectors import get_domain
from links.models import Link
from links.selectors import get_link
from links.standby_reads import reads_standby


def _whole(data: dict[str, Any]) -> Any:
    return data


def _without_cursor(data: dict[str, Any]) -> Any:
    """The page of a log: a cursor is sealed anew each time, but every one leads on."""
    return data["clicks"], data["pagination"]["nextCursor"] is None


@describe_domain_analytics
class DomainAnalyticsViewSet(ApiViewSet):
    queries = {"retrieve": UtcDaysQuery, "unknown_codes": UnknownCodesQuery}
    access = dict.fromkeys(queries, Access(Role.VIEWER, Scope.ANALYTICS_READ))

    @reads_standby
    @returns(200, fields=representations.UNKNOWN_CODES.fields, content=_whole)
    def retrieve(self, request: Request, id: str) -> dict[str, Any] | HttpResponseBase:
        query = self.read_query()
        requested = requested_range(query)
        domain = get_domain(workspace_of(request), id)
        period = requested.period(domain.created_at, timezone.now())
        data = representations.unknown_codes(unknown_codes(domain, period))
        if query["file_format"] == JSON:
            return data
        return whole_file(request, query, "report", code_day_table(data["unknownCodesByDate"]))

    @action(detail=True)
    @reads_standby
    @returns(200, fields=representations.UNKNOWN_CODE_PAGE, content=_whole)
    def unknown_codes(self, request: Request, id: str) -> dict[str, Any] | HttpResponseBase:
        query, workspace = self.read_query(), workspace_of(request)
        # The default domain belongs to no workspace, so a key that is limited to one does not concern it.
        is_base = id == BASE_ID and workspace.key is None and account_of(request).is_staff
        domain = None if is_base else get_domain(workspace, id)
        requested = requested_range(query)
        if query["file_format"] != JSON:
            codes = all_missed_codes(workspace, domain, requested, batch=MAX_CODES_PER_PAGE)
            return streamed_file(request, query, "codes", code_table(codes))
        window = self.window(query)
        page, others = missed_codes(workspace, domain, requested, window)
        return {
            "codes": [representations.missed_code(code) for code in page.rows],
            "otherHits": others,
            "pagination": self.paginate(page, window),
        }


@describe_analytics
class AnalyticsViewSet(ApiViewSet):
    lookup_url_kwarg = "urlId"
    lookup_value_converter = "str"
    queries = {
        "list": WorkspaceQuery,
        "log": WorkspaceClicksQuery,
        "sparklines": SparklinesQuery,
        "retrieve": OverviewQuery,
        "devices": ValuesQuery,
        "geographic": ValuesQuery,
        "clicks": ClicksQuery,
        "destroy": ErasureQuery,
    }
    access = {
        **dict.fromkeys(queries, Access(Role.VIEWER, Scope.ANALYTICS_READ, limited=True)),
        # As the deletion of a link.
        "destroy": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
    }

    @reads_standby
    @returns(200, fields=(*representations.WORKSPACE_OVERVIEW.fields, *representations.ADDED), content=_whole)
    def list(self, request: Request) -> dict[str, Any] | HttpResponseBase:
        query = self.read_query()
        requested = requested_range(query)
        owner, selection, clicks = workspace_of(request), selection_of(query), clicks_of(query)
        compared = None
        if "compare" in query:
            earlier = requested.compared(query["compare"])
            compared = workspace_totals(owner, earlier, selection, clicks)
        report = workspace_overview(
            owner, requested, selection, clicks, limit=query["limit"], group=query.get("group")
        )
        data = representations.workspace_overview(report, requested.interval, compared)
        return in_format(request, query, data)

    @action(detail=False, url_path="clicks")
    @reads_standby
    @returns(200, fields=representations.LOG_PAGE, content=_without_cursor)
    def log(self, request: Request) -> dict[str, Any] | HttpResponseBase:
        query, owner = self.read_query(), workspace_of(request)
        links = scope.of_workspace(owner, selection_of(query))
        return self._log(links, query, f"workspace {owner.pk}", representations.log_page)

    @action(detail=False)
    @reads_standby
    @returns(200, fields=representations.SPARKLINES, content=_whole)
    def sparklines(self, request: Request) -> dict[str, Any]:
        first, lines = sparklines(workspace_of(request), self.read_query()["ids"])
        return representations.sparklines(first, lines)

    @reads_standby
    @returns(200, fields=(*representations.OVERVIEW.fields, *representations.ADDED), content=_whole)
    def retrieve(self, request: Request, **path: str) -> dict[str, Any] | HttpResponseBase:
        link, query = self._link_and_query()
        requested = requested_range(query)
        clicks, utm = clicks_of(query), utm_of(query)
        compared = None
        if "compare" in query:
            earlier = requested.compared(query["compare"])
            compared = filtered.totals(link, earlier, clicks, utm)
        report = filtered.overview(
            link, requested, clicks, utm, limit=query["limit"], group=query.get("group")
        )
        return in_format(request, query, representations.overview(report, requested.interval, compared))

    @returns(200, "Visits erased successfully.", fields=representations.ERASURE.fields)
    def destroy(self, request: Request, **path: str) -> dict[str, Any]:
        workspace = workspace_of(request)
        link = get_link(workspace, path["urlId"])
        erasure = erase_visits(owner=workspace, found=link, **self.read_query())
        return representations.ERASURE(erasure)

    @action(detail=True)
    @reads_standby
    @returns(200, fields=representations.DEVICES, content=_whole)
    def devices(self, request: Request, **path: str) -> dict[str, Any] | HttpResponseBase:
        link, query = self._link_and_query()
        clicks, utm, limit = clicks_of(query), utm_of(query), query["limit"]
        counts = filtered.agents(link, requested_range(query), clicks, utm, limit)
        return in_format(request, query, representations.devices(counts, None if clicks or utm else limit))

    @action(detail=True)
    @reads_standby
    @returns(200, fields=representations.PLACES, content=_whole)
    def geographic(self, request: Request, **path: str) -> dict[str, Any] | HttpResponseBase:
        link, query = self._link_and_query()
        clicks, utm, limit = clicks_of(query), utm_of(query), query["limit"]
        counts = filtered.places(link, requested_range(query), clicks, utm, limit)
        data = representations.places(counts, None if clicks or utm else limit, geo.attribution())
        return in_format(request, query, data)

    @action(detail=True)
    @reads_standby
    @returns(200, fields=representations.CLICK_PAGE, content=_without_cursor)
    def clicks(self, request: Request, **path: str) -> dict[str, Any] | HttpResponseBase:
        link, query = self._link_and_query()
        return self._log(
            filtered.scope_with(link, utm_of(query)), query, str(link.pk), representations.click_page
        )

    def _log(
        self,
        links: scope.Scope,
        query: dict[str, Any],
        name: str,
        represent: Callable[[ClickPage, int], dict[str, Any]],
    ) -> dict[str, Any] | HttpResponseBase:
        chosen = (links, requested_range(query), clicks_of(query))
        if query["file_format"] != JSON:
            log = ClickLog(*chosen, name=name, cursor=query.get("cursor"))
            return streamed_file(self.request, query, "clicks", log_table(log))
        page = click_log(*chosen, name=name, limit=query["limit"], cursor=query.get("cursor"))
        return represent(page, query["limit"])

    def _link_and_query(self) -> tuple[Link, dict[str, Any]]:
        query = self.read_query()
        return get_link(workspace_of(self.request), self.kwargs["urlId"]), query
