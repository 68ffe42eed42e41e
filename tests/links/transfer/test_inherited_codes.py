"""Imported links keep the codes that were printed, and are followed, changed, exported and found under them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from links.models import Code, Link
from testing.clicks import drain
from testing.refusals import broken_rules
from tests.links.many import URL, imported
from tests.links.transfer.test_export import export
from tests.redirects.lanes import django, fast, request

MakeLink = Callable[..., dict[str, Any]]

CODES = ["spring-sale", "spring_sale", "v1.2", "~tom", "-", "_", "~", "a", "ab", "a-b.c_d~e", "x" * 255]


def table(header: str, *rows: list[str]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header.split(","), *rows])
    return text.getvalue()


def target(code: str) -> str:
    return f"https://example.com/{CODES.index(code)}"


# Name: the export of another service, in which each of CODES has a link.
EXPORTS_WITH_HYPHENS = {
    "bitly": json.dumps(
        {
            "links": [
                {"id": f"bit.ly/{code}", "link": f"https://bit.ly/{code}", "long_url": target(code)}
                for code in CODES
            ]
        }
    ),
    "bitly, custom": json.dumps(
        {
            "links": [
                {
                    "link": f"https://bit.ly/3abcXYZ{number}",
                    "custom_bitlinks": [f"https://bit.ly/{code}"],
                    "long_url": target(code),
                }
                for number, code in enumerate(CODES)
            ]
        }
    ),
    "bitly, CSV": table(
        "Link,Custom Link,Destination URL,Title",
        *(
            [f"https://bit.ly/3abcXYZ{number}", f"bit.ly/{code}", target(code), ""]
            for number, code in enumerate(CODES)
        ),
    ),
    "dub": json.dumps([{"domain": "dub.sh", "key": code, "url": target(code)} for code in CODES]),
    "dub, CSV": table(
        "Short link,Destination URL,Clicks",
        *([f"https://dub.sh/{code}", target(code), "3"] for code in CODES),
    ),
    "shlink": json.dumps(
        {"shortUrls": {"data": [{"shortCode": code, "longUrl": target(code)} for code in CODES]}}
    ),
    "shlink, CSV": table(
        "createdAt,domain,shortCode,shortUrl,longUrl",
        *(
            ["2024-03-01T10:30:00+01:00", "s.test", code, f"https://s.test/{code}", target(code)]
            for code in CODES
        ),
    ),
    "yourls": table("keyword,url,title", *([code, target(code), ""] for code in CODES)),
    "yourls, API": json.dumps(
        {
            "links": {
                f"link_{number}": {
                    "shorturl": f"https://y.test/{code}",
                    "url": target(code),
                    "timestamp": "2024-03-01 09:30:00",
                }
                for number, code in enumerate(CODES)
            }
        }
    ),
    "kutt": json.dumps({"data": [{"address": code, "target": target(code)} for code in CODES]}),
    "own": table("originalUrl,customCode", *([target(code), code] for code in CODES)),
    "shortio": json.dumps({"links": [{"originalURL": target(code), "path": code} for code in CODES]}),
    "rebrandly": json.dumps([{"destination": target(code), "slashtag": code} for code in CODES]),
}


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


@pytest.fixture
def links(api: APIClient) -> dict[str, dict[str, Any]]:
    """An imported link for each of CODES."""
    verdicts = imported(api, EXPORTS_WITH_HYPHENS["own"])
    return {code: verdict["url"] for code, verdict in zip(CODES, verdicts, strict=True)}


def percent_encoded(code: str) -> str:
    return "".join(f"%{ord(character):02X}" for character in code)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_both_lanes_follow_an_inherited_code(links: dict[str, Any], code: str, method: str) -> None:
    for path in (f"/{code}", f"/{code}?qr=1", f"/{percent_encoded(code)}", f"/{percent_encoded(code)}?a=b"):
        data = request(path, method=method)
        outcome = fast(data)
        assert outcome is not None
        assert f"Location: {target(code)}\r\n".encode() in outcome.response
        assert outcome == django(data)


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
        outcome = django(data)
        assert outcome.response.startswith(b"HTTP/1.1 404 "), path
        assert fast(data) in (None, outcome), path


def test_percent_encoded_codes_of_our_own_take_the_fast_lane(make_link: MakeLink) -> None:
    make_link(customCode="spring")
    data = request("/%73pring")
    outcome = fast(data)
    assert outcome is not None
    assert outcome == django(data)


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


@pytest.mark.parametrize(
    "code",
    [
        *("api", "Admin", "qr", "login", "favicon.ico", "robots.txt", ".well-known", "apple-touch-icon.png"),
        *("sign-in", "login.php"),
    ],
)
@pytest.mark.parametrize("field", ["customCode", "shortCode", "aliases"])
def test_a_reserved_inherited_code_is_refused_in_its_row(api: APIClient, code: str, field: str) -> None:
    rows = [{"originalUrl": URL, field: [code] if field == "aliases" else code}, {"originalUrl": URL}]
    for dry_run in (True, False):
        refused, accepted = imported(api, "\n".join(map(json.dumps, rows)), dry_run=dry_run)
        assert (refused["status"], refused["code"]) == (409, "code_reserved")
        assert refused["message"] == f"The code {code} is reserved."
        assert accepted["status"] == 201


@pytest.mark.parametrize("code", [".", "..", "a b", "a/b", "a+", "caf\u00e9", "x" * 256])
def test_a_code_that_no_request_can_name_is_refused_in_its_row(api: APIClient, code: str) -> None:
    for dry_run in (True, False):
        [refused] = imported(api, json.dumps({"originalUrl": URL, "customCode": code}), dry_run=dry_run)
        assert refused["status"] == 400
        assert [(error["field"], error["code"]) for error in refused["errors"]] == [("customCode", "code")]
        assert refused["errors"][0]["message"] == (
            "Must be 1 to 255 letters (A-Z, a-z), digits and - . _ ~, but not . or .. alone."
        )


def test_a_percent_encoded_address_in_an_export_is_decoded(api: APIClient, visitor: Client) -> None:
    content = table("Short link,Destination URL", ["https://dub.sh/spring%2Dsale", URL])
    assert imported(api, content)[0]["url"]["customCode"] == "spring-sale"
    assert visitor.get("/spring-sale")["Location"] == URL


# The rule for codes that clients choose


@pytest.mark.parametrize("code", ["spring-sale", "a", "v1.2", "~tom", "x" * 51])
def test_clients_cannot_choose_such_a_code(api: APIClient, make_link: MakeLink, code: str) -> None:
    link = make_link()
    path = f"/api/urls/{link['_id']}"
    message = "Must be 3 to 50 letters and digits (A-Z, a-z, 0-9)."
    for response in (
        api.post("/api/urls", {"originalUrl": URL, "customCode": code}),
        api.put(path, {"customCode": code}),
    ):
        assert response.status_code == 400
        assert broken_rules(response) == [("customCode", "code")]
        assert response.json()["errors"][0]["message"] == message
    bodies = {
        "bulk": {"urls": [{"originalUrl": URL, "customCode": code}]},
        "bulk-update": {"ids": [link["_id"]], "data": {"customCode": code}},
    }
    for name, body in bodies.items():
        [result] = api.post(f"/api/urls/{name}", body).json()["data"]["results"]
        assert [(error["field"], error["code"]) for error in result["errors"]] == [("customCode", "code")]
    assert Code.objects.filter(code=code).count() == 0


@pytest.mark.parametrize("code", CODES)
def test_a_client_may_send_a_whole_imported_link_back(
    api: APIClient, links: dict[str, Any], visitor: Client, code: str
) -> None:
    path = f"/api/urls/{links[code]['_id']}"
    whole = api.get(path).json()["data"]["url"]
    assert whole["customCode"] == code
    assert api.put(path, {**whole, "title": "kept"}).status_code == 200
    body = {"urls": [{"_id": links[code]["_id"], "customCode": code, "title": "again"}]}
    assert api.post("/api/urls/bulk-update", body).json()["data"]["succeeded"] == 1
    assert api.get(path).json()["data"]["url"] | {"updatedAt": ""} == whole | {
        "title": "again",
        "updatedAt": "",
    }
    assert visitor.get(f"/{code}")["Location"] == target(code)


def test_a_renamed_link_keeps_its_inherited_code_as_an_alias(
    api: APIClient, links: dict[str, Any], visitor: Client
) -> None:
    path = f"/api/urls/{links['spring-sale']['_id']}"
    assert api.put(path, {"customCode": "spring"}).status_code == 200
    assert Code.objects.get(code="spring-sale").kind == "alias"
    locations = {visitor.get(f"/{code}")["Location"] for code in ("spring", "spring-sale")}
    assert locations == {target("spring-sale")}
    assert broken_rules(api.put(path, {"customCode": "spring-sale"})) == [("customCode", "code")]


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_an_export_with_inherited_codes_can_be_imported_again(
    api: APIClient, links: dict[str, Any], visitor: Client, file_format: str
) -> None:
    api.put(f"/api/urls/{links['-']['_id']}", {"customCode": "minus"})
    content = export(api, format=file_format)
    before = {line["shortCode"]: line for line in map(json.loads, export(api, format="jsonl").splitlines())}
    api.post("/api/urls/bulk-delete", {"ids": [link["_id"] for link in links.values()]})
    assert Link.objects.count() == 0
    assert {verdict["status"] for verdict in imported(api, content)} == {201}
    after = {line["shortCode"]: line for line in map(json.loads, export(api, format="jsonl").splitlines())}
    unchanged = ("customCode", "aliases", "originalUrl", "clickCount", "createdAt")
    assert {code: [line[name] for name in unchanged] for code, line in after.items()} == {
        code: [line[name] for name in unchanged] for code, line in before.items()
    }
    assert [visitor.get(f"/{code}")["Location"] for code in CODES] == [target(code) for code in CODES]


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
    assert fast(request(path)) is None
