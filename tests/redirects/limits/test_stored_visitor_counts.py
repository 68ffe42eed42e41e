"""The stored counts of visitors, and the setting in the API and in files."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from links.models import DeletedLink, VisitorClicks
from testing.refusals import broken_rules
from tests.redirects.limits.visitor_limits import MakeLink, rows, statuses, visit

pytestmark = pytest.mark.django_db

TABLES = ("links_visitorkey", "links_visitorclicks")


def test_no_address_is_stored(make_link: MakeLink) -> None:
    links = [make_link(restrictions={"maxClicksPerVisitor": 5})["shortCode"] for _ in range(2)]
    for code in links:
        statuses(code, 2)

    stored = VisitorClicks.objects.values_list("visitor", "clicks")
    assert [clicks for _, clicks in stored] == [2, 2]
    visitors = {bytes(visitor) for visitor, _ in stored}
    assert {len(visitor) for visitor in visitors} == {32}
    assert len(visitors) == 2, "the same address is recognised across links"


@pytest.mark.parametrize(
    "way", ["deleted", "deleted with others", "limit removed", "limit removed with others"]
)
def test_visitor_counts_are_deleted_with_the_link_or_the_setting(
    api: APIClient, make_link: MakeLink, way: str
) -> None:
    link = make_link(restrictions={"maxClicks": 5, "maxClicksPerVisitor": 5})
    visit(link["shortCode"])
    assert [len(rows(table)) for table in TABLES] == [1, 1]

    removed = {"restrictions": {"maxClicks": 5}}
    responses = {
        "deleted": lambda: api.delete(f"/api/urls/{link['_id']}"),
        "deleted with others": lambda: api.post("/api/urls/bulk-delete", {"ids": [link["_id"]]}),
        "limit removed": lambda: api.put(f"/api/urls/{link['_id']}", removed),
        "limit removed with others": lambda: api.post(
            "/api/urls/bulk-update", {"ids": [link["_id"]], "data": removed}
        ),
    }
    assert responses[way]().status_code == 200
    # Until then, a deleted link could come back.
    DeletedLink.objects.all().delete()
    assert [rows(table) for table in TABLES] == [[], []]


def test_other_changes_keep_the_visitor_counts(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(restrictions={"maxClicksPerVisitor": 1})
    assert statuses(link["shortCode"], 2) == [302, 403]

    api.put(f"/api/urls/{link['_id']}", {"title": "x", "restrictions": {"maxClicksPerVisitor": 2}})
    assert statuses(link["shortCode"], 2) == [302, 403]


def test_a_new_secret_key_keeps_the_visitor_counts(make_link: MakeLink, settings: Settings) -> None:
    code = make_link(restrictions={"maxClicksPerVisitor": 2})["shortCode"]
    assert statuses(code, 1) == [302]

    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret key, at least fifty characters long ......."

    assert statuses(code, 2) == [302, 403]


@pytest.mark.parametrize("value", [0, -1, 2_147_483_648, 1.5, "1", True])
def test_max_clicks_per_visitor_must_be_a_positive_integer(api: APIClient, value: Any) -> None:
    body = {"originalUrl": "https://example.com/", "restrictions": {"maxClicksPerVisitor": value}}

    response = api.post("/api/urls", body)
    assert response.status_code == 400
    assert [field for field, _ in broken_rules(response)] == ["restrictions.maxClicksPerVisitor"]


def test_every_endpoint_and_file_format_carries_the_setting(api: APIClient, make_link: MakeLink) -> None:
    restrictions = {"maxClicks": 7, "maxClicksPerVisitor": 2_147_483_647}
    single = make_link(restrictions=restrictions)["_id"]
    item = {"originalUrl": "https://example.com/", "restrictions": restrictions}
    [created] = api.post("/api/urls/bulk", {"urls": [item]}).json()["data"]["results"]
    changed = make_link()["_id"]
    assert api.put(f"/api/urls/{changed}", {"restrictions": restrictions}).status_code == 200
    in_bulk = make_link()["_id"]
    bulk = api.post("/api/urls/bulk-update", {"ids": [in_bulk], "data": {"restrictions": restrictions}})
    assert bulk.status_code == 200
    ids = [single, created["url"]["_id"], changed, in_bulk]
    shown = [api.get(f"/api/urls/{public_id}").json()["data"]["url"]["restrictions"] for public_id in ids]
    assert shown == [restrictions] * 4

    for file_format in ("csv", "jsonl"):
        exported = b"".join(api.get(f"/api/urls/export?format={file_format}").streaming_content).decode()
        assert api.post("/api/urls/bulk-delete", {"ids": ids}).status_code == 200
        imported = api.post("/api/urls/import", {"content": exported, "dryRun": False})
        assert imported.status_code == 200
        links = api.get("/api/urls").json()["data"]["urls"]
        ids = [link["_id"] for link in links]
        assert [
            api.get(f"/api/urls/{public_id}").json()["data"]["url"]["restrictions"] for public_id in ids
        ] == [restrictions] * 4
