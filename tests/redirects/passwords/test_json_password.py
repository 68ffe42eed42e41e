"""Programs open a link behind a password with a JSON body: no form, no cookie, the same limits and the same order."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from analytics.models import Click, Kind
from common.host.metrics import REGISTRY
from limits.models import AttemptLog
from pages.refusals import Refusal
from redirects import refusals
from testing.analytics.clicks import drain
from testing.attempts import slow_down_clock
from testing.cases import for_each
from testing.visitors.agents import GOOGLEBOT
from tests.redirects.conftest import PASSWORD
from tests.redirects.passwords.json_passwords import MakeLink, assert_refusal, counts, post
from tests.redirects.passwords.protected_links import DESTINATION, ELSEWHERE, browser, fail, send
from tests.redirects.passwords.protected_links import hashes as hashes


@pytest.mark.parametrize("redirect_type", [301, 302])
@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON"]
)
def test_the_password_in_a_json_body_opens_the_link(
    api: APIClient, make_link: MakeLink, redirect_type: int, slash: str, content_type: str
) -> None:
    link = make_link(password=PASSWORD, redirectType=redirect_type)

    response = post(f"/{link['shortCode']}{slash}", {"password": PASSWORD}, content_type=content_type)

    # 303: the client follows with GET, so that the destination does not receive the password.
    assert response.status_code == 303
    assert dict(response.headers) == {
        "Location": DESTINATION,
        "Cache-Control": "no-store",
        "X-Robots-Tag": "noindex",
        "Content-Length": "0",
    }
    assert response.cookies == {}
    assert counts(api, link) == (1, {})


@pytest.mark.parametrize(
    "password", ["x", "  spaces  ", "\U0001f511" * 128, "пароль ✓ ключ", "\"'><b>&%00\\"]
)
def test_any_password_works(make_link: MakeLink, password: str) -> None:
    path = f"/{make_link(password=password)['shortCode']}"

    assert post(path, {"password": password + "x"}).status_code == 401
    assert post(path, {"password": password, "other": [1]}).status_code == 303


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"password": "wrong"}, refusals.WRONG_PASSWORD),
        ({"password": ""}, refusals.WRONG_PASSWORD),
        ({"password": PASSWORD + " "}, refusals.WRONG_PASSWORD),
        ({"password": "x" * 100_000}, refusals.WRONG_PASSWORD),
        ({"password": None}, refusals.PASSWORD),
        ({}, refusals.PASSWORD),
        ({"Password": PASSWORD}, refusals.PASSWORD),
    ],
)
def test_without_the_password_the_link_stays_closed(
    api: APIClient, link: dict[str, Any], path: str, body: Any, refusal: Refusal
) -> None:
    assert_refusal(post(path, body), refusal)

    assert counts(api, link) == (0, {"password": 1})


@pytest.mark.parametrize("accept", ["*/*", "text/html", "application/json"])
def test_a_program_gets_json_whatever_it_accepts(path: str, accept: str) -> None:
    assert_refusal(post(path, {}, accept=accept), refusals.PASSWORD)


@for_each(
    "body",
    [
        b" ", b"{", b"null", b"[]", b'"open sesame"', b"5", b"\xff", b'{"password": 5}',
        b'{"password": ["open sesame"]}',
        b'{"password": "\\ud800"}', b'{"password": NaN}', b"password=open+sesame", b"[" * 100_000,
        b'{"password": "' + b"x" * 300_000 + b'"}',
    ],
)  # fmt: skip
def test_a_malformed_body_is_refused_and_is_no_attempt(
    api: APIClient, link: dict[str, Any], path: str, body: bytes
) -> None:
    assert_refusal(post(path, body), refusals.NO_PASSWORD_OBJECT)

    assert counts(api, link) == (0, {})
    assert not AttemptLog.objects.exists()


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "text/plain; application/json",
        "application/x-www-form-urlencoded",
        "",
        "application/jsonx",
    ],
)
def test_other_sites_cannot_send_the_body(path: str, content_type: str) -> None:
    """A form of another site can send JSON as one of these types. Other types need a preflight request."""
    response = post(path, {"password": PASSWORD}, content_type=content_type)

    assert (response.status_code, "Location" in response) == (403, False)


def test_a_preflight_permits_nothing(path: str) -> None:
    headers = {
        "origin": "https://evil.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
    }
    response = browser().options(path, headers=headers)

    assert response.status_code == 405
    assert [name for name in response.headers if name.lower().startswith("access-control")] == []


def test_a_link_without_a_password_opens_too(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(redirectType=301)

    response = post(f"/{link['shortCode']}", {"password": "anything"})

    assert (response.status_code, response["Location"]) == (303, DESTINATION)
    assert counts(api, link) == (1, {})


def test_an_unknown_code_is_refused_in_the_envelope(db: None) -> None:
    assert_refusal(post("/unknown", {"password": PASSWORD}), refusals.NOT_FOUND)


def test_the_fallback_of_a_domain_receives_no_password(
    visitor: Client, api: APIClient, alice: Any, make_link: MakeLink
) -> None:
    domain = api.post("/api/domains", {"domain": "go.example.net"}).json()["data"]["domain"]
    alice.workspace.domains.update(status="active", expired_url="https://example.org/over")
    link = make_link(domainId=domain["_id"], password=PASSWORD, expiresAt="2020-01-01")

    response = post(f"/{link['shortCode']}", {"password": PASSWORD}, host="go.example.net")

    assert (response.status_code, response["Location"]) == (303, "https://example.org/over")


def test_the_metrics_count_it_as_a_redirect(path: str) -> None:
    def redirects() -> float:
        labels = {"lane": "django", "outcome": "302"}
        return REGISTRY.get_sample_value("shortener_redirects_total", labels) or 0.0

    before = redirects()
    post(path, {"password": PASSWORD})

    assert redirects() - before == 1


def test_the_click_has_no_other_kind_than_a_click(path: str) -> None:
    post(path, {"password": PASSWORD})
    drain()

    assert [click.kind for click in Click.objects.all()] == [Kind.CLICK]


def test_programs_and_forms_share_one_limit(path: str) -> None:
    slow_down_clock()
    assert fail(path, 5) == [401] * 5
    assert [post(path, {"password": "wrong"}).status_code for _ in range(6)] == [401] * 5 + [429]

    blocked = post(path, {"password": PASSWORD})
    assert_refusal(blocked, refusals.RATE_LIMITED, retryAfter=900)
    assert blocked["Retry-After"] == "900"
    assert (blocked["RateLimit-Limit"], blocked["RateLimit-Remaining"]) == ("10", "0")
    assert send(browser(), path, PASSWORD).status_code == 429
    assert post(path, {"password": PASSWORD}, address=ELSEWHERE).status_code == 303


def test_the_correct_password_uses_no_attempt(path: str) -> None:
    assert [post(path, {"password": PASSWORD}).status_code for _ in range(15)] == [303] * 15
    assert [post(path, {"password": "wrong"}).status_code for _ in range(11)] == [401] * 10 + [429]


def test_with_the_cookie_of_an_unlocked_link_the_password_is_not_hashed_again(
    link: dict[str, Any], path: str, hashes: list[str]
) -> None:
    cookie = send(browser(), path, PASSWORD).cookies[f"unlocked-{link['_id']}"].value

    for password in (PASSWORD, "wrong"):
        response = post(path, {"password": password}, cookie=f"unlocked-{link['_id']}={cookie}")
        assert response.status_code == 303
    assert hashes == [PASSWORD]
    forged = post(path, {"password": "wrong"}, cookie=f"unlocked-{link['_id']}={cookie}x")
    assert_refusal(forged, refusals.WRONG_PASSWORD)


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"expiresAt": "2020-01-01"}, refusals.EXPIRED),
        ({"restrictions": {"allowedCountries": ["GB"]}}, refusals.COUNTRY),
        ({"restrictions": {"allowedDevices": ["mobile"]}}, refusals.DEVICE),
    ],
)
def test_the_other_rules_of_the_link_come_first(
    make_link: MakeLink, fields: dict[str, Any], refusal: Refusal
) -> None:
    path = f"/{make_link(password=PASSWORD, **fields)['shortCode']}"

    assert_refusal(post(path, {"password": PASSWORD}), refusal)


def test_a_click_limit_counts_the_visits_of_programs(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(password=PASSWORD, restrictions={"maxClicks": 2})
    path = f"/{link['shortCode']}"

    assert post(path, {"password": "wrong"}).status_code == 401
    # A crawler takes no click of a limited link, so it does not learn the destination.
    crawled = post(path, {"password": PASSWORD}, agent=GOOGLEBOT)
    assert (crawled.status_code, "Location" in crawled) == (200, False)
    assert [post(path, {"password": PASSWORD}).status_code for _ in range(2)] == [303, 303]
    assert_refusal(post(path, {"password": PASSWORD}), refusals.LIMIT_REACHED)
    assert counts(api, link) == (2, {"password": 1, "limit_reached": 1})
