"""Rows and files that an import refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from links import rules
from links.models import Code
from testing.cases import for_each
from testing.links.many import URL, imported
from testing.refusals import broken_rules
from tests.links.transfer.imports import lines, send


def test_a_protected_link_without_a_password_is_refused(api: APIClient, visitor: Client) -> None:
    rows = lines(
        {"originalUrl": URL, "customCode": "guarded", "hasPassword": True},
        {"originalUrl": URL, "customCode": "given", "hasPassword": True, "password": "open sesame"},
        {"originalUrl": URL, "customCode": "open", "hasPassword": False},
    )
    for dry_run in (True, False):
        verdicts = imported(api, rows, dry_run=dry_run)
        assert [verdict["status"] for verdict in verdicts] == [400, 201, 201]
        assert verdicts[0]["errors"][0]["code"] == "missing"
    assert visitor.get("/given").status_code == 401
    kutt = {"address": "guarded", "target": URL, "password": True}
    assert imported(api, lines(kutt))[0]["errors"][0]["field"] == "password"


def test_number_of_passwords_per_call_is_limited(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_PASSWORDS", 1)
    verdicts = imported(api, lines(*({"originalUrl": URL, "password": word} for word in ("open", "sesame"))))
    assert [verdict["status"] for verdict in verdicts] == [201, 400]


def test_a_refused_row_reserves_no_code(api: APIClient, make_link: Any) -> None:
    make_link(customCode="taken")
    rows = lines(
        {"originalUrl": f"{URL}/1", "shortCode": "wanted", "customCode": "taken"},
        {"originalUrl": f"{URL}/2", "customCode": "wanted"},
    )
    for dry_run in (True, False):
        assert [verdict["status"] for verdict in imported(api, rows, dry_run=dry_run)] == [409, 201]
    assert Code.objects.filter(code="wanted").count() == 1


@pytest.mark.slow
@for_each(
    ("content", "code"),
    [
        ("", "blank"),
        (" \n\n", "empty"),
        ("originalUrl,title\n", "empty"),
        ("originalUrl", "empty"),
        ("[]", "empty"),
        ('{"links":[]}', "empty"),
        ("a,b\n1,2\n", "unknown_format"),
        ("https://example.com/\n", "empty"),
        ("https://example.com/\nhttps://example.com/\n", "unknown_format"),
        ("{}", "unknown_format"),
        ('{"data":{"data":{"data":{"data":{"data":[]}}}}}', "unknown_format"),
        ("[5]", "unreadable"),
        ("{", "invalid_json"),
        ("[" * 5000, "invalid_json"),
        ('{"originalUrl":NaN}', "invalid_json"),
        ("originalUrl\n" + "x\n" * 10_001, "too_many_rows"),
        ('{"data":' * 900 + "[]" + "}" * 900, "unknown_format"),
    ],
)
def test_an_unreadable_file_is_refused(api: APIClient, content: str, code: str) -> None:
    response = send(api, content, dryRun=False)
    assert response.status_code == 400
    assert broken_rules(response) == [("content", code)]


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({"content": None}, ("content", "null")),
        ({"content": 5}, ("content", "invalid")),
        ({"format": "tinyurl"}, ("format", "invalid_choice")),
        ({"dryRun": "false"}, ("dryRun", "invalid")),
        ({"domainId": 5}, ("domainId", "invalid")),
    ],
)
def test_wrong_types_are_refused(api: APIClient, fields: dict[str, Any], broken: tuple[str, str]) -> None:
    response = api.post("/api/urls/import", {"content": f"originalUrl\n{URL}\n", **fields})
    assert response.status_code == 400
    assert broken_rules(response) == [broken]


STRANGE: list[Any] = [
    None,
    True,
    5,
    -5,
    1.5,
    10**30,
    "",
    "\0",
    "x" * 5000,
    [],
    [None, 5, {}],
    {},
    {"total": "x"},
    [[]],
]
KEYS = {
    "own": "originalUrl domain shortCode customCode aliases title description tags isActive expiresAt password"
    " hasPassword utm restrictions redirectType clickCount createdAt maxClicks allowedCountries utmSource",
    "bitly": "long_url link id custom_bitlinks title tags clicks created_at",
    "yourls": "keyword url shorturl title timestamp clicks",
    "kutt": "address target domain link description banned password expire_in visit_count created_at",
    "shlink": "shortCode shortUrl longUrl domain title tags meta visitsSummary visitsCount dateCreated",
    "shortio": "originalURL path shortURL secureShortURL domain title tags createdAt expiresAt clicksLimit clicks"
    " password hasPassword",
    "rebrandly": "destination destinationUrl slashtag shortUrl domain title description tags clicks createdAt",
    "linkly": "url full_url domain slug name note enabled deleted forward_params hide_referrer expiry_datetime"
    " expiry_destination expiry_clicks og_title og_image utm_source clicks_total rules",
    "tly": "short_url short_id long_url domain description expire_at_datetime expire_at_views has_password tags clicks"
    " created_at meta",
    "dub": "key url shortLink link domain title description tags disabledAt expiresAt password clicks createdAt",
}


@pytest.mark.parametrize("layout", KEYS)
def test_nothing_in_a_row_breaks_the_import(api: APIClient, layout: str) -> None:
    rows = [{key: value} for key in KEYS[layout].split() for value in STRANGE]
    rows += [dict.fromkeys(KEYS[layout].split(), value) for value in STRANGE]
    content = "\n".join(json.dumps(row) for row in [{"x": 1}, *rows])
    for dry_run in (True, False):
        response = send(api, content, format=layout, dryRun=dry_run)
        assert response.status_code == 200, response.content
        assert response.json()["data"]["succeeded"] == 0
