"""Refusals of visits: which comes first, and in which form a client gets it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from pages.refusals import FORM_EXPIRED, Refusal
from redirects import refusals
from testing.analytics.clicks import drain
from testing.cases import for_each
from testing.pages.html import assert_json_refusal, assert_page
from testing.redirects.following import PAST
from testing.visitors.addresses import AMERICAN

MakeLink = Callable[..., dict[str, Any]]
# Refusals

SITUATIONS: dict[str, tuple[dict[str, Any], Refusal, int]] = {
    "disabled": ({"isActive": False}, refusals.DISABLED, 410),
    "expired": ({"expiresAt": PAST}, refusals.EXPIRED, 410),
    "limit_reached": ({"restrictions": {"maxClicks": 1}}, refusals.LIMIT_REACHED, 410),
    "country": ({"restrictions": {"blockedCountries": ["US"]}}, refusals.COUNTRY, 403),
    "device": ({"restrictions": {"allowedDevices": ["mobile", "tablet"]}}, refusals.DEVICE, 403),
    "password": ({"password": "secret"}, refusals.PASSWORD, 401),
}


@pytest.mark.parametrize("reason", SITUATIONS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_refusal_is_html_or_json_according_to_accept(
    visitor: Client, api: APIClient, make_link: MakeLink, reason: str, method: str
) -> None:
    changes, refusal, status = SITUATIONS[reason]
    link = make_link(title="<b>evil</b>", description="evil")
    if reason == "limit_reached":
        visitor.get(f"/{link['shortCode']}")
        drain()
    assert api.put(f"/api/urls/{link['_id']}", changes).status_code == 200
    if (reason, method) == ("password", "POST"):
        refusal, reason, status = FORM_EXPIRED, "csrf", 403

    page = visitor.generic(method, f"/{link['shortCode']}?<b>evil", REMOTE_ADDR=AMERICAN)
    json = visitor.generic(
        method, f"/{link['shortCode']}?<b>evil", headers={"accept": "application/json"}, REMOTE_ADDR=AMERICAN
    )

    assert (page.status_code, json.status_code) == (status, status)
    assert_page(page, title=refusal.title, message=refusal.message)
    assert_json_refusal(json, reason=reason, message=refusal.message)
    assert b"evil" not in page.content
    assert b"example.com" not in page.content
    assert "Location" not in page
    assert "Location" not in json


def test_an_unknown_code_returns_404(visitor: Client, db: None) -> None:
    for path in ("/unknown", "/not/a/code"):
        page = visitor.get(path)
        json = visitor.get(path, headers={"accept": "application/json"})

        assert (page.status_code, json.status_code) == (404, 404)
        assert_page(page, title="Link not found", message=refusals.NOT_FOUND.message)
        assert_json_refusal(json, reason="not_found", message=refusals.NOT_FOUND.message)
        assert page.cookies == {}


def test_json_refusals_disable_content_sniffing(visitor: Client, db: None) -> None:
    response = visitor.get("/unknown", headers={"accept": "application/json"})

    assert response["X-Content-Type-Options"] == "nosniff"


def test_the_first_refusing_rule_decides_the_response(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    visitor.get(f"/{link['shortCode']}")
    drain()
    restrictions = {"maxClicks": 1, "blockedCountries": ["US"], "allowedDevices": ["mobile"]}
    api.put(
        f"/api/urls/{link['_id']}",
        {"isActive": False, "expiresAt": PAST, "password": "secret", "restrictions": restrictions},
    )

    reasons = []
    for change in (
        {},
        {"isActive": True},
        {"expiresAt": None},
        {"restrictions": {**restrictions, "maxClicks": 2}},
        {"restrictions": {"maxClicks": 2, "allowedDevices": ["mobile"]}},
        {"restrictions": {"maxClicks": 2}},
    ):
        assert api.put(f"/api/urls/{link['_id']}", change).status_code == 200
        response = visitor.get(
            f"/{link['shortCode']}", headers={"accept": "application/json"}, REMOTE_ADDR=AMERICAN
        )
        reasons.append(response.json()["reason"])

    assert reasons == ["disabled", "expired", "limit_reached", "country", "device", "password"]


@for_each(
    ("accept", "media_type"),
    [
        ("application/json", "application/json"),
        ("APPLICATION/JSON", "application/json"),
        ("application/json;q=0.1", "application/json"),
        ("application/json; charset=utf-8", "application/json"),
        ("application/json, text/plain, */*", "application/json"),
        ("application/*", "application/json"),
        ("text/html;q=0.5, application/json", "application/json"),
        ("text/html;q=0, application/json", "application/json"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "text/html"),
        ("text/html, application/json;q=0.9", "text/html"),
        ("*/*", "text/html"),
        ("text/*", "text/html"),
        ("text/plain", "text/html"),
        ("image/png", "text/html"),
        ("application/json;q=0", "text/html"),
        ("application/problem+json", "text/html"),
        ("", "text/html"),
        (",,,", "text/html"),
        (";;;", "text/html"),
        ("=", "text/html"),
        ("text", "text/html"),
        ("/", "text/html"),
        ("*", "text/html"),
        ("\xff\xfe\x00", "text/html"),
        ("text/html;q=nan", "text/html"),
        ("text/html;q=", "text/html"),
        ("text/html;q=" + "9" * 5000, "text/html"),
        ("text/html;" * 3000, "text/html"),
        ("text/html," * 3000, "text/html"),
        ('text/html;a="', "text/html"),
        ("text/html; a*=x-unknown''%41", "text/html"),
        ("text/html; a*=''", "text/html"),
        ("text/html; a*0*=x''%41; a*1=%", "text/html"),
        ("a;b*0=1;b*0=2;b*1*=x''", "text/html"),
        ("text/html; a*=utf-16''%41", "text/html"),
        ("x; =?utf-16?q?=", "text/html"),
    ],
)
@pytest.mark.slow
def test_every_accept_header_gets_a_response(visitor: Client, db: None, accept: str, media_type: str) -> None:
    for path in ("/unknown", "/not/a/code"):
        response = visitor.get(path, headers={"accept": accept})

        assert response.status_code == 404
        assert response["Content-Type"].partition(";")[0] == media_type
