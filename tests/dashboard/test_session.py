"""The session of a browser, and the access tokens that the dashboard's page gets for it."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from django.contrib.sessions.models import Session as BrowserSession
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.models import EndReason, Session, User
from accounts.services import NewAccount, set_active
from accounts.sessions.browser import TOKEN_LIFETIME
from accounts.sessions.lifecycle import MAX_SESSIONS, delete_expired_api_sessions
from testing.accounts import PASSWORD, log_in, token_client
from testing.threads import at_once

TOKEN, END = "/dashboard/session/token", "/dashboard/session/end"
OWN = {"origin": "http://sho.rt", "sec-fetch-site": "same-origin"}


def browser_of(account: NewAccount | None) -> Client:
    client = Client(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    if account is not None:
        client.force_login(account.user)
    return client


@pytest.fixture
def browser(alice: NewAccount) -> Client:
    return browser_of(alice)


def request_token(browser: Client) -> HttpResponse:
    return browser.post(TOKEN, headers=OWN)


def token_of(browser: Client) -> str:
    response = request_token(browser)
    assert response.status_code == 200, response.content
    return response.json()["token"]


def works(token: str) -> bool:
    status = token_client(token).get("/api/urls").status_code
    assert status in {200, 401}
    return status == 200


def claims(token: str) -> dict[str, Any]:
    return jwt.decode(token, options={"verify_signature": False})


def test_a_signed_in_browser_gets_a_short_token_of_the_api(browser: Client, alice: NewAccount) -> None:
    response = request_token(browser)
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    body = response.json()
    assert body == {"success": True, "token": body["token"], "expiresIn": TOKEN_LIFETIME.total_seconds()}
    assert works(body["token"])
    issued = claims(body["token"])
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
    assert claims(response.json()["token"])["token_type"] == "access"
    assert set(response.json()) == {"success", "token", "expiresIn"}
    refused = APIClient(headers={"host": "sho.rt"}).post(
        "/api/auth/refresh", {"refreshToken": response.json()["token"]}
    )
    assert refused.status_code == 401


def test_all_tokens_of_a_browser_belong_to_one_session(browser: Client) -> None:
    first, second = token_of(browser), token_of(browser)
    assert claims(first)["sid"] == claims(second)["sid"]
    assert Session.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_tabs_that_ask_at_once_share_a_session(browser: Client) -> None:
    cookie = browser.cookies["sessionid"].value

    def ask() -> str:
        tab = browser_of(None)
        tab.cookies["sessionid"] = cookie
        return claims(token_of(tab))["sid"]

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


def test_signing_out_ends_the_tokens_at_once(browser: Client) -> None:
    token = token_of(browser)
    response = browser.post(END, headers=OWN)
    assert response.status_code == 200
    assert not works(token)
    assert BrowserSession.objects.count() == 0
    assert Session.objects.get().end_reason == EndReason.LOGOUT
    assert request_token(browser).status_code == 401


def test_signing_out_of_the_admin_ends_the_tokens(alice: NewAccount) -> None:
    alice.user.is_staff = True
    alice.user.save()
    browser = browser_of(alice)
    token = token_of(browser)
    page = browser.get("/admin/")
    sent = {"csrfmiddlewaretoken": page.context["csrf_token"]}
    assert browser.post("/admin/logout/", sent, headers={"origin": "http://sho.rt"}).status_code == 302
    assert not works(token)


def test_ending_the_session_over_the_api_signs_the_browser_out(browser: Client, alice: NewAccount) -> None:
    token = token_of(browser)
    other = token_client(log_in(alice.user).access)
    assert other.delete(f"/api/auth/sessions/{claims(token)['sid']}").status_code == 200
    assert not works(token)
    # The browser's own session has ended, too.
    assert browser.get("/accounts/").status_code == 302
    assert request_token(browser).status_code == 401


def test_logging_out_over_the_api_signs_the_browser_out(browser: Client) -> None:
    token = token_of(browser)
    assert token_client(token).post("/api/auth/logout").status_code == 200
    assert request_token(browser).status_code == 401
    assert browser.get("/accounts/").status_code == 302


def test_more_logins_than_allowed_sign_the_browser_out(browser: Client, alice: NewAccount) -> None:
    token = token_of(browser)
    for _ in range(MAX_SESSIONS):
        log_in(alice.user)
    assert not works(token)
    assert request_token(browser).status_code == 401


def test_a_change_of_password_ends_the_session(browser: Client, alice: NewAccount) -> None:
    token = token_of(browser)
    client = token_client(log_in(alice.user).access)
    changed = client.post(
        "/api/auth/change-password", {"currentPassword": PASSWORD, "newPassword": "another battery staple"}
    )
    assert changed.status_code == 200
    assert not works(token)
    assert request_token(browser).status_code == 401


def test_a_disabled_account_gets_no_token(browser: Client, alice: NewAccount) -> None:
    token = token_of(browser)
    set_active(user=alice.user, is_active=False)
    assert not works(token)
    assert request_token(browser).status_code == 401


def test_a_token_does_not_outlive_the_session_of_the_browser(browser: Client) -> None:
    end = timezone.now() + TOKEN_LIFETIME / 2
    session = browser.session
    session.set_expiry(end)
    session.save()
    response = request_token(browser)
    assert 0 < response.json()["expiresIn"] <= TOKEN_LIFETIME.total_seconds() / 2
    assert claims(response.json()["token"])["exp"] <= end.timestamp()


def test_an_expired_session_of_the_browser_gets_no_token(browser: Client) -> None:
    assert token_of(browser)
    BrowserSession.objects.update(expire_date=timezone.now() - TOKEN_LIFETIME)
    assert request_token(browser).status_code == 401


def test_each_change_prolongs_both_rows_of_the_session(browser: Client) -> None:
    session = browser.session
    session.set_expiry(timezone.now() + TOKEN_LIFETIME)
    session.save()
    soon = Session.objects.get().expires_at
    session.set_expiry(None)
    session.save()
    assert Session.objects.get().expires_at > soon
    assert Session.objects.get().expires_at >= BrowserSession.objects.get().expire_date


def test_housekeeping_keeps_an_ended_session_while_its_browser_could_return(browser: Client) -> None:
    """Otherwise the browser would start a new session a week after it was ended."""
    token = token_of(browser)
    assert token_client(token).post("/api/auth/logout").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_session SET ended_at = now() - interval '8 days'")
    assert delete_expired_api_sessions() == 0
    assert request_token(browser).status_code == 401


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
    assert claims(theirs)["sub"] == str(stranger.user.public_id)
    assert claims(mine)["sid"] != claims(theirs)["sid"]


def test_a_token_takes_three_statements(
    browser: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(3):
        assert token_of(browser)
