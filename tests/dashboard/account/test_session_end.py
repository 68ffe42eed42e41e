"""The end of a browser's session, and of the access tokens that the dashboard's page got for it."""

from __future__ import annotations

from django.contrib.sessions.models import Session as BrowserSession
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import EndReason, Session
from accounts.services import NewAccount, set_active
from accounts.sessions.lifecycle import MAX_SESSIONS, TOKEN_LIFETIME, delete_expired_api_sessions
from testing.accounts.accounts import PASSWORD, claims_of, log_in, token_client, works
from tests.dashboard.account.browser_session import END, OWN, browser_of, request_token, token_of
from tests.dashboard.account.browser_session import browser as browser


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
    assert other.delete(f"/api/auth/sessions/{claims_of(token)['sid']}").status_code == 200
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
    assert claims_of(response.json()["token"])["exp"] <= end.timestamp()


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
