from __future__ import annotations

from typing import TypeVar

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import account_of
from analytics import geo, reports, representations
from analytics.click_log import click_log
from analytics.schema import describe_analytics, describe_domain_analytics
from analytics.serializers import ClicksQuery, DaysQuery, OverviewQuery, UtcDaysQuery, ValuesQuery
from analytics.unknown_codes import unknown_codes
from common.api import ApiViewSet
from common.envelope import ok
from domains.selectors import get_domain
from links.models import Link
from links.selectors import get_link

Query = TypeVar("Query", bound=DaysQuery)


@describe_domain_analytics
class DomainAnalyticsViewSet(ApiViewSet):
    def retrieve(self, request: Request, id: str) -> Response:
        query = UtcDaysQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        domain = get_domain(account_of(request), id)
        period = query.asked().period(domain.created_at, timezone.now())
        return ok(representations.unknown_codes(unknown_codes(domain, period)))


@describe_analytics
class AnalyticsViewSet(ApiViewSet):
    lookup_url_kwarg = "urlId"
    lookup_value_converter = "str"

    def retrieve(self, request: Request, **path: str) -> Response:
        link, query = self._asked(OverviewQuery)
        asked = query.asked()
        found = reports.overview(link, asked, query.validated_data["limit"])
        return ok(representations.overview(found, asked.interval))

    @action(detail=True)
    def devices(self, request: Request, **path: str) -> Response:
        link, query = self._asked(ValuesQuery)
        found = reports.agents(link, query.asked())
        return ok(representations.devices(found, query.validated_data["limit"]))

    @action(detail=True)
    def geographic(self, request: Request, **path: str) -> Response:
        link, query = self._asked(ValuesQuery)
        limit = query.validated_data["limit"]
        found = reports.places(link, query.asked(), limit)
        return ok(representations.places(found, limit, geo.attribution()))

    @action(detail=True)
    def clicks(self, request: Request, **path: str) -> Response:
        link, query = self._asked(ClicksQuery)
        asked = query.validated_data
        limit = asked["limit"]
        page = click_log(link, query.asked(), kinds=asked["kinds"], limit=limit, cursor=asked.get("cursor"))
        return ok(representations.click_page(page, limit))

    def _asked(self, rules: type[Query]) -> tuple[Link, Query]:
        query = rules(data=self.request.query_params.dict())
        query.is_valid(raise_exception=True)
        return get_link(account_of(self.request), self.kwargs["urlId"]), query
