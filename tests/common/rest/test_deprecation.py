"""Deprecated actions announce their end in responses and in the description."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.urls import path
from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request
from rest_framework.test import APIClient

from common.openapi.operations import Operation, describe
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.deprecation import NOTICE_DAYS, deprecated
from common.rest.returns import returns
from shortener_project.urls import handler400, handler404, handler500

pytestmark = pytest.mark.urls(__name__)

HEADERS = {
    "Deprecation": "@1893456000",
    "Sunset": "Mon, 01 Jul 2030 00:00:00 GMT",
    "Link": '<http://sho.rt/api/docs>; rel="deprecation"; type="text/html"',
}


@describe(
    "Links",
    list=Operation("listOld", "List.", "All.", description="Old."),
    create=Operation("createNew", "Create.", "One.", description="New."),
)
class Views(ApiViewSet):
    access = {"list": Access("viewer", "urls:read"), "create": Access("viewer", "urls:write")}

    @deprecated(since=date(2030, 1, 1), sunset=date(2030, 7, 1), instead="Use `GET /api/urls`.")
    @returns(200)
    def list(self, request: Request) -> dict[str, Any]:
        return {}

    @returns(201)
    def create(self, request: Request) -> dict[str, Any]:
        return {}


urlpatterns = [path("api/old", Views.as_view({"get": "list", "post": "create"}))]
__all__ = ["handler400", "handler404", "handler500"]  # as Django finds them here


def announced(response: Any) -> dict[str, str]:
    return {name: response[name] for name in HEADERS if name in response}


def test_every_response_of_a_deprecated_action_announces_its_end(
    api: APIClient, anonymous: APIClient
) -> None:
    responses = [api.get("/api/old"), anonymous.get("/api/old"), api.get("/api/old?limt=1")]
    assert [response.status_code for response in responses[:2]] == [200, 401]
    assert list(map(announced, responses)) == [HEADERS] * 3
    others = [api.post("/api/old", {}), api.delete("/api/old")]
    assert [(response.status_code, announced(response)) for response in others] == [(201, {}), (405, {})]


def test_the_description_marks_it() -> None:
    described = SchemaGenerator().get_schema(public=True)
    old, new = described["paths"]["/api/old"]["get"], described["paths"]["/api/old"]["post"]
    assert (old["deprecated"], "deprecated" in new) == (True, False)
    assert old["description"].split("\n\n")[1] == (
        "Deprecated since 2030-01-01, and removed on 2030-07-01. Use `GET /api/urls`."
    )
    assert old["responses"]["200"]["headers"].keys() >= HEADERS.keys()
    assert not HEADERS.keys() & new["responses"]["201"]["headers"].keys()


def test_clients_get_time_to_change() -> None:
    today = date(2030, 1, 1)
    with pytest.raises(ValueError, match="less than 180 days"):
        deprecated(since=today, sunset=today + timedelta(days=NOTICE_DAYS - 1), instead="Nothing.")
