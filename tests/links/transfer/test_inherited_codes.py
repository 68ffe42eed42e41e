"""Imported links keep the codes that were printed, and are followed, changed, exported and found under them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from testing.analytics.clicks import drain
from testing.cases import for_each
from testing.links.many import imported
from testing.redirects.visits import lane_outcome, request, visit
from tests.links.transfer.inherited import CODES, EXPORTS_WITH_HYPHENS, target
from tests.links.transfer.inherited import links as links

MakeLink = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("name", EXPORTS_WITH_HYPHENS)
def test_every_link_of_an_export_keeps_its_code(name: str, api: APIClient, visitor: Client) -> None:
    for dry_run in (True, False):
        verdicts = imported(api, EXPORTS_WITH_HYPHENS[name], dry_run=dry_run)
        assert [verdict["status"] for verdict in verdicts] == [201] * len(CODES), verdicts
        assert [verdict["url"]["customCode"] for verdict in verdicts] == CODES
        assert [verdict["url"]["shortUrl"] for verdict in verdicts] == [
            f"http://sho.rt/{code}" for code in CODES
        ]
    assert [visitor.get(f"/{code}")["Location"] for code in CODES] == [target(code) for code in CODES]


def percent_encoded(code: str) -> str:
    return "".join(f"%{ord(character):02X}" for character in code)


@for_each("code", CODES)
@for_each("method", ["GET", "HEAD"])
def test_both_lanes_follow_an_inherited_code(links: dict[str, Any], code: str, method: str) -> None:
    for path in (f"/{code}", f"/{code}?qr=1", f"/{percent_encoded(code)}", f"/{percent_encoded(code)}?a=b"):
        data = request(path, method=method)
        outcome = visit(data, in_lane=True)
        assert f"Location: {target(code)}\r\n".encode() in outcome.response


def test_a_code_is_decoded_once_and_never_guessed(links: dict[str, Any], visitor: Client) -> None:
    paths = [
        *(
            "/spring%252Dsale",
            "/spring%2dsale%20",
            "/spring%2Dsale%2Fx",
            "/spring+sale",
            "/springsale",
            "/Spring-sale",
        ),
        *(
            "/spring%E2%80%91sale",
            "/spring-sale%00",
            "/spring%2",
            "/spring%zzsale",
            "/spring-sale.",
            "/-spring-sale",
        ),
    ]
    for path in paths:
        data = request(path)
        outcome = visit(data, in_lane=None)
        assert outcome.response.startswith(b"HTTP/1.1 404 "), path


def test_percent_encoded_codes_of_our_own_take_the_fast_lane(make_link: MakeLink) -> None:
    make_link(customCode="spring")
    data = request("/%73pring")
    assert b" 302 " in visit(data, in_lane=True).response


def test_clicks_of_an_inherited_code_are_counted(
    api: APIClient, links: dict[str, Any], visitor: Client
) -> None:
    assert visitor.get("/spring-sale").status_code == 302
    drain()
    link = links["spring-sale"]
    assert api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"] == 1


@pytest.mark.parametrize("code", CODES)
def test_preview_search_and_qr_code_of_an_inherited_code(
    api: APIClient, links: dict[str, Any], visitor: Client, code: str
) -> None:
    preview = visitor.get(f"/{quote(code)}+", headers={"accept": "application/json"})
    assert preview.json() == {"success": True, "destination": target(code)}
    listed = api.get("/api/urls", {"search": code[:200], "limit": 100}).json()["data"]["urls"]
    assert links[code]["_id"] in [url["_id"] for url in listed]
    response = api.post("/api/qr-codes", {"urlId": links[code]["_id"]})
    assert response.status_code == 201, response.json()


# Paths that are no codes


@pytest.mark.parametrize(
    "path", ["/.well-known", "/apple-touch-icon.png", "/sitemap.xml", "/Ads.txt", "/..", "/."]
)
def test_files_that_browsers_request_by_themselves_are_no_guesses(
    db: None, visitor: Client, path: str
) -> None:
    with CaptureQueriesContext(connection) as queries:
        response = visitor.get("/", PATH_INFO=path)
    assert (response.status_code, queries.captured_queries) == (404, [])
    assert lane_outcome(request(path)) is None
