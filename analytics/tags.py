"""The list of tags, with their clicks so far or in a period."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

from django.http.response import HttpResponseBase
from rest_framework.request import Request

from accounts.admission import costly_call
from accounts.callers import caller_of, require_scope, workspace_of
from accounts.rights import Role, Scope
from analytics.exports.formats import JSON
from analytics.exports.responses import whole_file
from analytics.exports.tables import tag_table
from analytics.reports.selected import GroupClicks
from analytics.reports.tags import MAX_TAGS, TooManyTags, clicks_of_tags
from analytics.representations import clicks_of_tag, listed_tag
from analytics.schema import describe_tag_list
from analytics.serializers import CLICKS, TagsOfPeriodQuery, requested_range, with_start
from common.pages import Window, page_of, window_in
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from links.schema import PAGINATION
from links.standby_reads import reads_standby
from links.tags.listing import TagRow, list_tags
from links.tags.representations import shown_tag

_RANGE = {"period", "start", "end"}
_OF_LIST = ("search", "sort_order", "with_clicks")


@describe_tag_list
class TagListViewSet(ApiViewSet):
    queries = {"list": TagsOfPeriodQuery}
    access = {"list": Access(Role.VIEWER, Scope.URLS_READ)}

    @reads_standby
    @returns(200, tags=[listed_tag], pagination=PAGINATION)
    def list(self, request: Request) -> dict[str, Any] | HttpResponseBase:
        query, owner = self.read_query(), workspace_of(request)
        has_range = bool(query.keys() & _RANGE)
        if has_range:
            require_scope(owner, Scope.ANALYTICS_READ)
        window, by_clicks = self.window(query), query["sort_by"] == CLICKS
        is_file = query["file_format"] != JSON
        reads_all = is_file or by_clicks
        # Not until the end of the request: the action may be repeated.
        with costly_call(caller_of(request).id) if query["with_clicks"] else nullcontext():
            page = list_tags(
                owner,
                Window(1, MAX_TAGS) if reads_all else window,
                sort_by="name" if by_clicks else query["sort_by"],
                **{name: query[name] for name in _OF_LIST},
            )
        if reads_all and page.total > MAX_TAGS:
            raise TooManyTags
        clicks: dict[str, GroupClicks] = {}
        if has_range:
            requested = requested_range(with_start(query))
            clicks = clicks_of_tags(owner, [row.key for row in page.rows], requested)
        if by_clicks:
            sign = 1 if query["sort_order"] == "asc" else -1
            key_of = partial(_order, clicks, sign)
            rows = sorted(page.rows, key=key_of)
            whole = Window(1, MAX_TAGS) if is_file else window
            page = page_of(window_in(rows, whole, key_of), whole, page.total, key_of)
        tags = [
            {**shown_tag(row), **(clicks_of_tag(clicks.get(row.key)) if has_range else {})}
            for row in page.rows
        ]
        if is_file:
            return whole_file(request, query, "tags", tag_table(tags))
        return {"tags": tags, "pagination": self.paginate(page, window)}


def _order(clicks: Mapping[str, GroupClicks], sign: int, row: TagRow) -> tuple[int, str]:
    found = clicks.get(row.key)
    return sign * (0 if found is None else found.clicks), row.key
