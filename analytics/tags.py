"""The list of tags, with their clicks so far or in a period."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from rest_framework.request import Request

from accounts.admission import costly_call
from accounts.callers import caller_of, require_scope, workspace_of
from accounts.rights import Role, Scope
from analytics.reports.tags import clicks_of_tags
from analytics.representations import clicks_of_tag, listed_tag
from analytics.schema import describe_tag_list
from analytics.serializers import TagsOfPeriodQuery, requested_range, with_start
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from links.schema import PAGINATION
from links.standby_reads import reads_standby
from links.tags.listing import list_tags
from links.tags.representations import shown_tag

_RANGE = {"period", "start", "end"}
_OF_LIST = ("search", "sort_by", "sort_order", "with_clicks")


@describe_tag_list
class TagListViewSet(ApiViewSet):
    queries = {"list": TagsOfPeriodQuery}
    access = {"list": Access(Role.VIEWER, Scope.URLS_READ)}

    @reads_standby
    @returns(200, tags=[listed_tag], pagination=PAGINATION)
    def list(self, request: Request) -> dict[str, Any]:
        query, owner = self.read_query(), workspace_of(request)
        has_range = bool(query.keys() & _RANGE)
        if has_range:
            require_scope(owner, Scope.ANALYTICS_READ)
        window = self.window(query)
        # Not until the end of the request: the action may be repeated.
        with costly_call(caller_of(request).id) if query["with_clicks"] else nullcontext():
            page = list_tags(owner, window, **{name: query[name] for name in _OF_LIST})
        tags = [shown_tag(row) for row in page.rows]
        if has_range:
            requested = requested_range(with_start(query))
            clicks = clicks_of_tags(owner, [row.key for row in page.rows], requested)
            tags = [
                {**shown, **clicks_of_tag(clicks.get(row.key))}
                for shown, row in zip(tags, page.rows, strict=True)
            ]
        return {"tags": tags, "pagination": self.paginate(page, window)}
