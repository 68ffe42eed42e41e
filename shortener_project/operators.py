"""The admin's front page: what an operator wants to know first, read from sums that are kept anyway."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.template.response import TemplateResponse

from analytics.backlog import backlog
from analytics.drops import dropped_clicks
from analytics.today import today, waiting
from domains.selectors import count_by_status
from links.selectors import installation_totals


class Figure(NamedTuple):
    name: str
    value: int


class OperatorSite(AdminSite):
    site_header = site_title = "URL shortener"
    index_title = "Today"
    index_template = "admin/figures.html"
    site_url = None

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        return super().index(request, {**(extra_context or {}), "groups": _groups()})


def _groups() -> dict[str, list[Figure]]:
    links, day, host, rest = installation_totals(), today(), backlog(settings.CLICKS_DIR), waiting()
    return {
        "Links": [
            Figure("links", links.links),
            Figure("of them switched on", links.active_links),
            Figure("clicks so far", links.clicks),
        ],
        "Today (UTC)": [
            Figure("clicks", day.clicks),
            Figure("unique clicks", day.unique_clicks),
            Figure("refused", day.refused),
            Figure("not counted (HEAD, prefetches, crawlers)", day.not_counted),
            Figure("requests for unknown codes", day.unknown_codes),
        ],
        "Domains": [Figure(status, number) for status, number in count_by_status().items()],
        "Clicks on their way": [
            Figure("bytes of this host's journal that wait", host.waiting),
            Figure("damaged segments of this host", host.damaged),
            Figure("clicks that this host has dropped", dropped_clicks()),
            Figure("records that wait in the database", rest.pending),
            Figure("records that cannot be counted", rest.dead_letters),
        ],
    }
