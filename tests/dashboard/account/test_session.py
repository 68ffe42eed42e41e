"""The access tokens that the dashboard's page gets for the session of a browser."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session as BrowserSession
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.models import Session, User
from accounts.services import NewAccount
from accounts.sessions.lifecycle import TOKEN_LIFETIME
from testing.accounts.accounts import PASSWORD, claims_of, token_client, works
from testing.threads import at_once
from tests.dashboard.account.browser_session import END, OWN, TOKEN, browser_of, request_token, token_of
from tests.dashboard.account.browser_session import browser as browser


def test_a_signed_in_browser_gets_a_short_token_of_the_api(browser: Client, alice: NewAccount) -> None:
    response = request_token(browser)
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    body = response.json()
    assert body == {"success": True, "token": body["token"], "expiresIn": TOKEN_LIFETIME.total_seconds()}
    assert works(body["token"])
    issued = claims_of(body["token"])
    assert issued["exp"] - issued["iat"] == TOKEN_LIFETIME.total_seconds()
    assert issued["sub"] == str(alice.user.public_id)


def test_a_token_of_a_browser_does_not_change_the_password(browser: Client, alice: NewAccount) -> None:
    """The response would have a refresh token, and the browser's session would end with the former password."""
    token = token_of(browser)
    body = {"currentPassword": PASSWORD, "newPassword": "another good password"}
    response = token_client(token).post("/api/auth/change-password", body)
    assert (response.status_code, response.json()["code"]) == (403, "browser_session")
    assert "/accounts/password/change/" in response.json()["message"]
    assert User.objects.get().check_password(PASSWORD)
    assert works(token)
    assert works(token_of(browser))


def test_no_refresh_token_reaches_the_browser(browser: Client) -> None:
    response = request_token(browser)
    assert claims_of(response.json()["token"])["token_type"] == "access"
    assert set(response.json()) == {"success", "token", "expiresIn"}
    refused = APIClient(headers={"host": "sho.rt"}).post(
        "/api/auth/refresh", {"refreshToken": response.json()["token"]}
    )
    assert refused.status_code == 401


def test_all_tokens_of_a_browser_belong_to_one_session(browser: Client) -> None:
    first, second = token_of(browser), token_of(browser)
    assert claims_of(first)["sid"] == claims_of(second)["sid"]
    assert Session.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_tabs_that_ask_at_once_share_a_session(browser: Client) -> None:
    cookie = browser.cookies["sessionid"].value

    def ask() -> str:
        tab = browser_of(None)
        tab.cookies["sessionid"] = cookie
        return claims_of(token_of(tab))["sid"]

    assert len(set(at_once([ask] * 8))) == Session.objects.count() == 1


def test_without_a_session_there_is_no_token(db: None) -> None:
    response = request_token(browser_of(None))
    assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")
    assert Session.objects.count() == 0


def test_an_unknown_cookie_gets_no_token(db: None) -> None:
    client = browser_of(None)
    client.cookies["sessionid"] = "0" * 32
    assert request_token(client).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://sho.rt.evil.example"},
        {"origin": "https://sho.rt"},
        {"origin": "http://sho.rt", "sec-fetch-site": "cross-site"},
        {"origin": "http://sho.rt", "sec-fetch-site": "same-site"},
        {"origin": "http://sho.rt", "sec-fetch-site": "none"},
    ],
)
@pytest.mark.parametrize("path", [TOKEN, END])
def test_another_site_gets_nothing(path: str, headers: dict[str, str], browser: Client) -> None:
    response = browser.post(path, headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "forbidden")
    assert set(response.json()) == {"success", "message", "code"}
    assert "Access-Control-Allow-Origin" not in response
    assert token_of(browser)


def test_behind_an_unknown_tls_proxy_the_base_url_is_the_own_origin(
    browser: Client, settings: Settings
) -> None:
    settings.BASE_URL = "https://sho.rt"
    assert browser.post(TOKEN, headers={"origin": "https://sho.rt"}).status_code == 200


@pytest.mark.parametrize("path", [TOKEN, END])
def test_a_link_cannot_call_the_endpoints(path: str, browser: Client) -> None:
    assert browser.get(path, headers=OWN).status_code == 405


def test_the_cookie_alone_opens_nothing_of_the_api(browser: Client) -> None:
    assert token_of(browser)
    for path in ("/api/urls", "/api/auth/api-key", "/api/auth/me"):
        assert browser.get(path, headers=OWN).status_code == 401
    created = browser.post(
        "/api/urls", {"originalUrl": "https://example.com/"}, content_type="application/json", headers=OWN
    )
    assert created.status_code == 401


def test_the_account_sees_the_session_of_its_browser(alice: NewAccount) -> None:
    browser = browser_of(None)
    page = browser.get("/accounts/login/")
    fields = {"login": alice.user.email, "password": PASSWORD}
    sent = {**fields, "csrfmiddlewaretoken": page.context["csrf_token"]}
    browser.post("/accounts/login/", sent, headers={"user-agent": "Firefox/150"})
    client = token_client(token_of(browser))
    [session] = client.get("/api/auth/sessions").json()["data"]["sessions"]
    assert (session["userAgent"], session["isCurrent"]) == ("Firefox/150", True)


@pytest.mark.parametrize(("required", "status"), [("none", 200), ("staff", 200), ("all", 403)])
def test_an_account_without_the_second_factor_that_it_needs_gets_no_token(
    required: str, status: int, browser: Client, settings: Settings
) -> None:
    settings.REQUIRE_2FA = required
    response = request_token(browser)
    assert response.status_code == status
    assert status == 200 or response.json()["code"] == "second_factor_required"


def test_a_session_without_its_row_in_the_register_gets_no_token(browser: Client) -> None:
    """Without the row, nothing could end the session."""
    Session.objects.all().delete()
    assert request_token(browser).status_code == 401
    assert BrowserSession.objects.count() == 0


def test_a_stranger_gets_a_token_of_their_own_account(alice: NewAccount, stranger: NewAccount) -> None:
    mine, theirs = token_of(browser_of(alice)), token_of(browser_of(stranger))
    assert claims_of(theirs)["sub"] == str(stranger.user.public_id)
    assert claims_of(mine)["sid"] != claims_of(theirs)["sid"]


def test_a_token_takes_three_statements(
    browser: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(3):
        assert token_of(browser)


def test_requests_without_a_session_are_limited(settings: Settings, browser: Client) -> None:
    settings.RATE_LIMIT_ANONYMOUS = 3
    anonymous = browser_of(None)
    anonymous.cookies[settings.SESSION_COOKIE_NAME] = "x" * 32
    assert [request_token(anonymous).status_code for _ in range(5)] == [401] * 3 + [429] * 2
    refused = anonymous.post(END, headers=OWN)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert (refused["RateLimit-Policy"], refused["Cache-Control"]) == ('"default";q=3;w=60', "no-store")
    assert [request_token(browser).status_code for _ in range(4)] == [200] * 4
