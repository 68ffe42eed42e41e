"""Exports of hosted services, beyond the two links that every layout has in `exports_of_others`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from domains.models import Domain
from testing.links.many import URL, imported
from tests.links.transfer.imports import whole


def test_limits_passwords_and_times_of_short_io_are_kept(api: APIClient, visitor: Client) -> None:
    rows = [
        {
            "originalURL": URL,
            "path": "capped",
            "clicksLimit": 5,
            "createdAt": 1709285400000,
            "totalClicks": 2,
        },
        {"originalURL": URL, "path": "secret", "password": "open sesame", "hasPassword": True},
        {"originalURL": URL, "path": "unknown", "hasPassword": True},
    ]
    limited, secret, unknown = imported(api, json.dumps({"links": rows}))
    assert (limited["status"], secret["status"]) == (201, 201)
    assert [(error["field"], error["code"]) for error in unknown["errors"]] == [("password", "missing")]
    link = whole(api, "capped")
    assert (link["restrictions"], link["createdAt"], link["clickCount"]) == (
        {"maxClicks": 5},
        "2024-03-01T09:30:00Z",
        2,
    )
    assert visitor.get("/secret").status_code == 401


@pytest.mark.parametrize(
    "address", [{}, {"shortURL": "https://go.example"}, {"secureShortURL": "https://go.example/"}]
)
def test_the_root_of_a_short_io_domain_is_refused(api: APIClient, address: dict[str, str]) -> None:
    rows = [{"originalURL": URL, "path": "", **address}, {"originalURL": URL, "path": "kept"}]
    for dry_run in (True, False):
        root, kept = imported(api, json.dumps({"links": rows}), dry_run=dry_run)
        assert [(error["field"], error["code"], error["message"]) for error in root["errors"]] == [
            ("path", "root", "This is the root of a domain, not a link.")
        ]
        assert kept["status"] == 201


@pytest.mark.parametrize("address", [{}, {"shortUrl": "go.example"}, {"shortUrl": "https://go.example/"}])
def test_the_root_of_a_rebrandly_domain_is_refused(api: APIClient, address: dict[str, str]) -> None:
    rows = [{"slashtag": "", "destination": URL, **address}, {"slashtag": "kept", "destination": URL}]
    for dry_run in (True, False):
        root, kept = imported(api, json.dumps({"links": rows}), dry_run=dry_run, format="rebrandly")
        assert [(error["field"], error["code"], error["message"]) for error in root["errors"]] == [
            ("slashtag", "root", "This is the root of a domain, not a link.")
        ]
        assert kept["status"] == 201


@pytest.mark.parametrize(
    "content",
    [
        # The headers of three public exporters.
        f"id,createdAt,shortUrl,domain,slashtag,destination\n1,2024-03-01,rebrand.ly/my-link,rebrand.ly,my-link,{URL}\n",
        f"id,createdAt,shortUrl,destination\n1,2024-03-01,rebrand.ly/my-link,{URL}\n",
        "id,title,slashtag,destination,createdAt,shortUrl,domain,tags\n"
        f"1,A title,my-link,{URL},2024-03-01,rebrand.ly/my-link,[object Object],\n",
    ],
)
def test_files_of_rebrandlys_public_exporters_are_recognised(
    api: APIClient, visitor: Client, content: str
) -> None:
    response = api.post("/api/urls/import", {"content": content, "dryRun": False})
    assert (response.json()["data"]["format"], response.json()["data"]["succeeded"]) == ("rebrandly", 1)
    assert whole(api, "my-link")["createdAt"] == "2024-03-01T00:00:00Z"
    assert visitor.get("/my-link")["Location"] == URL


def test_a_header_of_this_service_is_not_taken_for_short_ios(api: APIClient) -> None:
    content = f"_id,shortUrl,originalUrl,customCode\n1,https://x.test/a,{URL},spring\n"
    response = api.post("/api/urls/import", {"content": content})
    assert response.json()["data"]["format"] == "own"


DUB = {
    "domain": "dub.sh",
    "key": "shoes",
    "url": URL,
    "expiresAt": "2030-06-01T00:00:00Z",
    "expiredUrl": f"{URL}/over",
    "ios": f"{URL}/ios",
    "android": "market://details?id=example",
    "geo": {"DE": f"{URL}/de", "AT": f"{URL}/de", "FR": f"{URL}/fr"},
    "testVariants": [{"url": URL, "percentage": 60}, {"url": f"{URL}/b", "percentage": 40}],
    "testCompletedAt": "2035-01-01T00:00:00.000Z",
    "utm_source": "news",
    "utm_campaign": "spring",
    "proxy": True,
    "title": "Card",
    "description": "Text",
    "image": f"{URL}/card.png",
    "comments": "Ask Anna",
    "externalId": "order-7",
    "archived": True,
    "rewrite": True,
    "folderId": "fold_1",
    "trackConversion": False,
    "lastClicked": "2024-03-01T09:30:00.000Z",
}
SHORT_IO = {
    "originalURL": URL,
    "path": "shoes",
    "secureShortURL": "https://s.short.gy/shoes",
    "iphoneURL": f"{URL}/ios",
    "androidURL": f"{URL}/android",
    "splitURL": f"{URL}/b",
    "splitPercent": 30,
    "expiresAt": 1906502400000,
    "expiredURL": f"{URL}/over",
    "redirectType": "308",
    "utmSource": "news",
    "skipQS": False,
    "cloaking": True,
    "FolderId": None,
    "integrationGA": "UA-1",
}


def branches(link: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    rules = [
        (condition["type"], condition["values"], rule["url"])
        for rule in link["rules"]
        for condition in rule["conditions"]
    ]
    return rules, [(variant["url"], variant["weight"]) for variant in link["split"]]


def test_the_targeting_of_dub_is_kept_and_the_rest_is_confessed(api: APIClient) -> None:
    rehearsed, done = (imported(api, json.dumps([DUB]), dry_run=dry_run)[0] for dry_run in (True, False))
    assert rehearsed["warnings"] == done["warnings"]
    assert [(warning["field"], warning["code"]) for warning in done["warnings"]] == [
        (field, "not_imported") for field in ("android", "folderId", "rewrite", "testCompletedAt")
    ]
    link = whole(api, "shoes")
    assert branches(link) == (
        [
            ("os", ["iOS"], f"{URL}/ios"),
            ("country", ["DE", "AT"], f"{URL}/de"),
            ("country", ["FR"], f"{URL}/fr"),
        ],
        [(URL, 60), (f"{URL}/b", 40)],
    )
    assert link["preview"] == {"title": "Card", "description": "Text", "imageUrl": f"{URL}/card.png"}
    names = ("expiredUrl", "utm", "externalId", "description", "isArchived")
    assert [link[name] for name in names] == [
        f"{URL}/over",
        {"source": "news", "campaign": "spring"},
        "order-7",
        "Ask Anna",
        True,
    ]


def test_a_test_of_dub_that_is_over_is_no_split(api: APIClient) -> None:
    row = DUB | {"testCompletedAt": "2020-01-01T00:00:00.000Z", "proxy": False}
    imported(api, json.dumps([row]))
    link = whole(api, "shoes")
    assert (link["split"], link["preview"], link["description"]) == ([], None, "Text")


def test_the_targeting_of_short_io_is_kept_and_the_rest_is_confessed(api: APIClient) -> None:
    (done,) = imported(api, json.dumps({"links": [SHORT_IO]}))
    assert [warning["field"] for warning in done["warnings"]] == ["cloaking", "integrationGA", "redirectType"]
    link = whole(api, "shoes")
    assert branches(link) == (
        [("os", ["iOS"], f"{URL}/ios"), ("os", ["Android"], f"{URL}/android")],
        [(f"{URL}/b", 30), (URL, 70)],
    )
    assert (link["expiredUrl"], link["utm"], link["redirectType"], link["forwardQuery"]) == (
        f"{URL}/over",
        {"source": "news"},
        301,
        True,
    )


def test_a_rebrandly_link_keeps_forwarding_and_confesses_its_scripts(api: APIClient) -> None:
    row = {
        "slashtag": "shoes",
        "destination": URL,
        "forwardParameters": True,
        "favourite": True,
        "scripts": ["x"],
    }
    (done,) = imported(api, json.dumps([row]))
    assert [warning["field"] for warning in done["warnings"]] == ["favourite", "scripts"]
    assert whole(api, "shoes")["forwardQuery"] is True


def test_shlink_links_keep_their_start_devices_and_forwarding(api: APIClient) -> None:
    row = {
        "shortCode": "shoes",
        "longUrl": URL,
        "meta": {"validSince": "2020-01-01T00:00:00Z"},
        "forwardQuery": True,
        "hasRedirectRules": True,
        "deviceLongUrls": {"ios": f"{URL}/ios", "android": None, "desktop": f"{URL}/desktop"},
    }
    (done,) = imported(api, json.dumps([row]))
    assert [(warning["field"], warning["message"]) for warning in done["warnings"]] == [
        ("hasRedirectRules", "The file does not contain the redirect rules of this link.")
    ]
    link = whole(api, "shoes")
    assert branches(link) == (
        [("os", ["iOS"], f"{URL}/ios"), ("device", ["desktop"], f"{URL}/desktop")],
        [],
    )
    assert (link["startsAt"], link["forwardQuery"]) == ("2020-01-01T00:00:00Z", True)


def test_a_column_that_this_service_does_not_know_is_confessed(api: APIClient) -> None:
    (row,) = imported(api, f"originalUrl,Short URL,Campaign owner,empty\n{URL},https://dub.sh/a,Anna,\n")
    assert [(warning["field"], warning["message"]) for warning in row["warnings"]] == [
        ("Campaign owner", "This service has no counterpart; the value is left out.")
    ]


def test_links_that_change_their_host_are_counted(api: APIClient, brand: Domain) -> None:
    rows = [
        {"shortLink": f"https://{host}/{code}", "url": URL}
        for host, code in (("dub.sh", "one"), ("dub.sh", "two"), (brand.host, "three"))
    ]
    body = {"content": json.dumps(rows)}
    assert api.post("/api/urls/import", body).json()["data"]["hostChanges"] == [
        {"from": "dub.sh", "to": "sho.rt", "links": 2}
    ]
    moved = api.post("/api/urls/import", body | {"domainId": str(brand.public_id)}).json()["data"]
    assert moved["hostChanges"] == [{"from": "dub.sh", "to": brand.host, "links": 2}]


def test_a_linkly_link_keeps_its_targeting_card_and_end_and_confesses_the_rest(api: APIClient) -> None:
    rules = [
        {"what": "country", "matches": "US,CA", "url": "https://us.example.com/"},
        {"what": "device", "matches": "Mobile", "url": "https://m.example.com/"},
        {"what": None, "matches": None, "percentage": 30, "url": "https://example.com/b"},
        {"what": "isp", "matches": "Example Telecom", "url": "https://example.com/isp"},
    ]
    rows = [
        {
            "url": URL,
            "full_url": "https://l.test/whole",
            "slug": "/whole",
            "name": "Sale",
            "note": "For mails",
            "og_title": "Spring",
            "og_image": "https://example.com/card.png",
            "utm_source": "mail",
            "rules": rules,
            "expiry_destination": "https://example.com/over",
            "expiry_clicks": 5,
            "hide_referrer": True,
            "forward_params": True,
            "fb_pixel_id": "123",
            "cloaking": True,
            "linkify_words": None,
        },
        {"url": URL, "full_url": "https://l.test/gone", "slug": "/gone", "deleted": True},
    ]
    kept, gone = imported(api, json.dumps({"links": rows}))
    assert [(error["field"], error["code"]) for error in gone["errors"]] == [("deleted", "deleted")]
    assert [(warning["field"], warning["code"]) for warning in kept["warnings"]] == [
        ("cloaking", "not_imported"),
        ("fb_pixel_id", "not_imported"),
        ("rules", "not_imported"),
    ]
    link = whole(api, "whole")
    assert [(rule["url"], rule["conditions"]) for rule in link["rules"]] == [
        ("https://us.example.com/", [{"type": "country", "values": ["US", "CA"], "not": False}]),
        ("https://m.example.com/", [{"type": "device", "values": ["mobile"], "not": False}]),
    ]
    assert [(share["url"], share["weight"]) for share in link["split"]] == [
        ("https://example.com/b", 30),
        (URL, 70),
    ]
    expected = {"title": "Spring", "description": None, "imageUrl": "https://example.com/card.png"}
    assert {name: link["preview"][name] for name in expected} == expected
    assert (link["title"], link["description"], link["utm"]["source"]) == ("Sale", "For mails", "mail")
    assert (link["expiredUrl"], link["restrictions"]) == ("https://example.com/over", {"maxClicks": 5})
    assert (link["referrerPolicy"], link["forwardQuery"]) == ("no-referrer", True)


def test_a_t_ly_link_keeps_its_limit_and_confesses_its_smart_urls_and_pixels(api: APIClient) -> None:
    rows = [
        {
            "long_url": URL,
            "short_id": "whole",
            "expire_at_views": 7,
            "meta": {"smart_urls": []},
            "pixels": [3],
        },
        {"long_url": URL, "short_id": "secret", "has_password": True},
    ]
    kept, secret = imported(api, json.dumps({"data": rows}))
    assert [(error["field"], error["code"]) for error in secret["errors"]] == [("password", "missing")]
    assert [warning["field"] for warning in kept["warnings"]] == ["meta", "pixels"]
    assert whole(api, "whole")["restrictions"] == {"maxClicks": 7}
