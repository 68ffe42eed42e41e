"""Exports of Short.io and Rebrandly, beyond the two links that every layout has in `exports_of_others`."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from rest_framework.test import APIClient

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
