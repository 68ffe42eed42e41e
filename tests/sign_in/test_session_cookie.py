"""One session for all pages: its cookie, who reads it, and the list of sessions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session as BrowserSession
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import EndReason, Session, User
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.settings_process import settings_with
from testing.sign_in.pages import browser, logged_in

pytestmark = pytest.mark.django_db


def log_in(client: Client, email: str = "alice@example.com") -> Any:
    return client.post("/accounts/login/", {"login": email, "password": PASSWORD})


def test_one_cookie_serves_all_pages(alice: NewAccount) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    client = browser()
    log_in(client)
    cookie = client.cookies["sessionid"]
    assert [name for name in client.cookies if "session" in name] == ["sessionid"]
    assert (cookie["path"], cookie["domain"], cookie["samesite"], cookie["httponly"]) == (
        "/",
        "",
        "Lax",
        True,
    )
    assert client.get("/admin/").status_code == 200
    assert client.post("/dashboard/session/token", headers={"origin": "http://sho.rt"}).status_code == 200
    client.post("/accounts/logout/")
    assert client.cookies["sessionid"].value == ""
    assert client.get("/admin/").status_code == 302


def test_over_tls_no_other_host_can_plant_the_cookies() -> None:
    names = {"SESSION_COOKIE_NAME": "__Host-sessionid", "CSRF_COOKIE_NAME": "__Host-csrftoken"}
    flags = {"SESSION_COOKIE_SECURE": True, "CSRF_COOKIE_SECURE": True}
    paths = {"SESSION_COOKIE_PATH": "/", "CSRF_COOKIE_PATH": "/"}
    domains = {"SESSION_COOKIE_DOMAIN": None, "CSRF_COOKIE_DOMAIN": None}
    expected = names | flags | paths | domains
    assert settings_with({"BASE_URL": "https://sho.rt"}, *expected) == expected


@pytest.mark.parametrize("path", ["/{code}", "/api/urls", "/qr/{code}", "/dashboard/", "/robots.txt"])
def test_other_requests_do_not_read_the_cookie(
    path: str, alice: NewAccount, make_link: Callable[..., dict[str, Any]]
) -> None:
    client = browser()
    log_in(client)
    path = path.format(code=make_link()["shortCode"])
    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
    assert not hasattr(response.wsgi_request, "session")
    assert "sessionid" not in response.cookies
    assert "Cookie" not in response.get("Vary", "")
    assert [query["sql"] for query in queries if "django_session" in query["sql"]] == []


def test_the_api_does_not_accept_the_cookie(alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    assert client.get("/api/auth/me").status_code == 401
    body = {"originalUrl": "https://example.com/"}
    assert client.post("/api/urls", body, "application/json").status_code == 401


def test_signing_in_changes_the_cookie(alice: NewAccount) -> None:
    """Session fixation: a cookie from before the login is worth nothing."""
    client = browser()
    client.get("/accounts/2fa/webauthn/login/", headers={"x-requested-with": "XMLHttpRequest"})
    planted = client.cookies["sessionid"].value
    log_in(client)
    assert client.cookies["sessionid"].value != planted
    other = browser()
    other.cookies["sessionid"] = planted
    assert not logged_in(other)


def test_a_browser_is_listed_from_its_sign_in_to_its_sign_out(alice: NewAccount) -> None:
    api, client = bearer_client(alice.user), browser()
    log_in(client)
    assert len(api.get("/api/auth/sessions").json()["data"]["sessions"]) == 2
    client.post("/accounts/logout/")
    assert len(api.get("/api/auth/sessions").json()["data"]["sessions"]) == 1
    assert Session.objects.get(browser_session__isnull=False).end_reason == EndReason.LOGOUT


def test_another_account_in_the_same_browser_ends_the_first_session(
    alice: NewAccount, stranger: NewAccount
) -> None:
    client = browser()
    client.force_login(alice.user)
    client.force_login(stranger.user)
    assert logged_in(client)
    assert Session.objects.get(user=alice.user).end_reason == EndReason.LOGOUT
    session = Session.objects.get(user=stranger.user)
    assert (session.ended_at, session.browser_session) == (None, BrowserSession.objects.get().session_key)


def test_a_browser_that_signs_in_twice_stays_one_session(alice: NewAccount) -> None:
    client = browser()
    client.force_login(alice.user)
    client.force_login(alice.user)
    assert logged_in(client)
    assert Session.objects.get().ended_at is None


def test_ending_a_session_over_the_api_signs_its_browser_out(alice: NewAccount, stranger: NewAccount) -> None:
    api, client, other = bearer_client(alice.user), browser(), browser()
    log_in(client)
    other.force_login(alice.user)
    sessions = api.get("/api/auth/sessions").json()["data"]["sessions"]
    ended = Session.objects.order_by("id")[1]
    assert str(ended.public_id) in [session["_id"] for session in sessions]
    assert bearer_client(stranger.user).delete(f"/api/auth/sessions/{ended.public_id}").status_code == 404
    assert logged_in(client)
    assert api.delete(f"/api/auth/sessions/{ended.public_id}").status_code == 200
    assert (logged_in(client), logged_in(other)) == (False, True)


def test_a_change_of_password_keeps_the_session_under_its_new_cookie(alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    before = client.cookies["sessionid"].value
    new = "another good password"
    client.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new})
    assert client.cookies["sessionid"].value != before
    assert logged_in(client)
    assert client.post("/dashboard/session/token", headers={"origin": "http://sho.rt"}).status_code == 200
    assert Session.objects.get().browser_session == BrowserSession.objects.get().session_key


@pytest.mark.parametrize(("since", "is_recorded"), [(timedelta(hours=1), True), (-timedelta(hours=1), False)])
def test_pages_record_the_use_of_a_session_unless_it_is_recent(
    since: timedelta, is_recorded: bool, alice: NewAccount
) -> None:
    client = browser()
    log_in(client)
    Session.objects.update(last_used_at=F("last_used_at") - since)
    former = Session.objects.get().last_used_at
    client.get("/accounts/")
    assert (Session.objects.get().last_used_at != former) is is_recorded
