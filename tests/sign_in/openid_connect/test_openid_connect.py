"""Login with an OpenID provider: django-oauth-toolkit in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import time_machine
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.utils import user_pk_to_url_str
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.pages.browser import address as address
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium
from testing.pages.html import parse
from testing.polling import DEADLINE
from testing.sign_in.oidc import server
from testing.sign_in.oidc.manners import ABSENT
from testing.sign_in.oidc.running import Provider, provider
from testing.sign_in.pages import browser, logged_in_as
from testing.sign_in.totp import add_totp
from tests.sign_in.openid_connect.openid import ADA, at_provider, log_in, provider_url, use
from tests.sign_in.openid_connect.openid import issuer as issuer
from tests.sign_in.openid_connect.openid import running as running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    # The provider keeps the real time. None of its tokens may come from the future.
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=60), tick=True) as traveller:
        yield traveller


def test_the_request_uses_pkce_and_the_configured_address(issuer: Provider) -> None:
    response = Client(headers={"host": "203.0.113.66"}).post("/accounts/oidc/login/")
    sent = parse_qs(urlsplit(provider_url(response)).query)
    assert sent["redirect_uri"] == ["http://sho.rt/accounts/oidc/callback/"]
    assert sent["code_challenge_method"] == ["S256"]
    assert sorted(sent["scope"][0].split()) == ["email", "openid", "profile"]
    assert {"code_challenge", "state", "nonce"} <= sent.keys()


def test_no_form_can_be_sent_to_another_host(issuer: Provider) -> None:
    """The provider's page may be on another host than the issuer, so a page links to it instead of a redirect."""
    response = browser().post("/accounts/oidc/login/")
    assert response.status_code == 200
    assert "form-action 'self';" in response["Content-Security-Policy"]
    assert provider_url(response).startswith(issuer.issuer)


def test_another_issuer_behind_the_address_is_refused(issuer: Provider, settings: Settings) -> None:
    use(settings, issuer.issuer.replace("localhost", "127.0.0.1"))
    response = browser().post("/accounts/oidc/login/")
    assert response.status_code == 502


def test_an_answer_works_only_in_the_browser_that_started_the_login(
    issuer: Provider, settings: Settings
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    initiator, other = browser(), browser()
    path = at_provider(initiator.post("/accounts/oidc/login/"))
    assert other.get(path).status_code == 403
    assert logged_in_as(other) is None
    assert initiator.get(path).status_code == 302
    assert initiator.get(path).status_code == 403


def test_a_token_for_another_login_is_refused(issuer: Provider, settings: Settings) -> None:
    """The provider repeats the nonce of the request in the token, and the state belongs to the browser."""
    settings.OIDC_CREATE_ACCOUNTS = True
    client = browser()
    path = at_provider(client.post("/accounts/oidc/login/"))
    session = client.session
    for state, *_ in session["socialaccount_states"].values():
        state["nonce"] = "of another login"
    session.save()
    assert client.get(path).status_code == 403
    assert (logged_in_as(client), User.objects.count()) == (None, 0)


def test_an_answer_of_another_issuer_is_refused(issuer: Provider, settings: Settings) -> None:
    """RFC 9207"""
    settings.OIDC_CREATE_ACCOUNTS = True
    client = browser()
    path = at_provider(client.post("/accounts/oidc/login/"))
    assert client.get(f"{path}&iss=https%3A%2F%2Fevil.example").status_code == 403
    assert logged_in_as(client) is None


def test_a_person_without_a_password_confirms_by_a_new_login(
    issuer: Provider, settings: Settings, clock: time_machine.Traveller
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    client = browser()
    log_in(client)
    add = "/accounts/2fa/totp/activate/"
    assert "Authenticator secret" in client.get(add).content.decode()
    clock.shift(REAUTHENTICATION_TIMEOUT + 1)
    page = client.get(add)
    assert parse(page).texts["h1"] == "Sign in again"
    assert client.post("/accounts/oidc/connect/").status_code == 200
    assert SocialAccount.objects.count() == 1
    assert log_in(client, next=add)["Location"] == add
    assert "Authenticator secret" in client.get(add).content.decode()


def test_a_person_without_a_password_cannot_set_one(issuer: Provider, settings: Settings) -> None:
    """Otherwise anybody with access to the browser could set one: there is no current password to ask for."""
    settings.OIDC_CREATE_ACCOUNTS = True
    client = browser()
    log_in(client)
    assert client.get("/accounts/password/change/")["Location"] == "/accounts/password/set/"
    assert "has no password" in client.get("/accounts/password/set/").content.decode()
    fields = {"password1": "another good password", "password2": "another good password"}
    assert client.post("/accounts/password/set/", fields).status_code == 405
    assert not User.objects.get().has_usable_password()


def test_a_link_alone_starts_no_login(issuer: Provider) -> None:
    assert browser().get("/accounts/oidc/login/").status_code == 405
    strict = Client(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    assert strict.post("/accounts/oidc/login/").status_code == 403


def test_password_login_can_be_switched_off(issuer: Provider, settings: Settings, alice: NewAccount) -> None:
    settings.PASSWORD_LOGIN = False
    client = browser()
    client.post("/accounts/login/", {"login": "alice@example.com", "password": PASSWORD})
    assert logged_in_as(client) is None
    body = {"email": "alice@example.com", "password": PASSWORD}
    response = client.post("/api/auth/login", body, "application/json")
    assert (response.status_code, response.json()["code"]) == (403, "password_login_off")
    assert "does not accept passwords" in client.get("/accounts/password/reset/").content.decode()
    key = PasswordResetTokenGenerator().make_token(alice.user)
    mailed = f"/accounts/password/reset/key/{user_pk_to_url_str(alice.user)}-{key}/"
    assert client.get(mailed).status_code == 403
    settings.PASSWORD_LOGIN = True
    assert client.get(mailed).status_code == 302
    settings.PASSWORD_LOGIN = False
    client.force_login(alice.user)
    assert client.get("/accounts/password/change/").status_code == 403


def test_without_password_login_a_password_changes_nothing(
    issuer: Provider, settings: Settings, alice: NewAccount
) -> None:
    settings.PASSWORD_LOGIN = False
    body = {"currentPassword": PASSWORD, "newPassword": "another good password"}
    response = bearer_client(alice.user).post("/api/auth/change-password", body)
    assert (response.status_code, response.json()["code"]) == (403, "password_login_off")
    assert User.objects.get().check_password(PASSWORD)


def test_without_password_login_a_password_confirms_nothing(
    issuer: Provider, settings: Settings, alice: NewAccount, clock: time_machine.Traveller
) -> None:
    client = browser()
    client.force_login(alice.user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    client.get(at_provider(client.post("/accounts/oidc/connect/")))
    settings.PASSWORD_LOGIN = False
    client = browser()
    client.force_login(alice.user)
    add = "/accounts/2fa/totp/activate/"
    assert client.post("/accounts/reauthenticate/", {"password": PASSWORD}).status_code == 403
    assert parse(client.get(add)).texts["h1"] == "Sign in again"
    assert log_in(client, next=add)["Location"] == add
    assert "Authenticator secret" in client.get(add).content.decode()
    clock.shift(REAUTHENTICATION_TIMEOUT + 1)
    assert parse(client.get(add)).texts["h1"] == "Sign in again"


def test_without_password_login_a_second_factor_confirms(
    issuer: Provider, settings: Settings, alice: NewAccount
) -> None:
    recovery_code, *_ = add_totp(alice.user)
    settings.PASSWORD_LOGIN = False
    client = browser()
    client.force_login(alice.user)
    codes = "/accounts/2fa/recovery-codes/"
    reauthentication_path = client.get(codes)["Location"]
    assert reauthentication_path.startswith("/accounts/2fa/reauthenticate/")
    refused = client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert refused["Location"] == "/accounts/2fa/reauthenticate/"
    assert client.get(codes).status_code == 302
    assert client.post(reauthentication_path, {"code": recovery_code})["Location"] == codes
    assert client.get(codes).status_code == 200


def test_a_logout_can_end_the_session_of_the_provider(issuer: Provider, settings: Settings) -> None:
    """OpenID Connect RP-Initiated Logout 1.0"""
    settings.OIDC_CREATE_ACCOUNTS = settings.OIDC_LOGOUT = True
    client = browser()
    log_in(client)
    address = provider_url(client.post("/accounts/logout/"))
    assert logged_in_as(client) is None
    endpoint, sent = address.partition("?")[0], parse_qs(urlsplit(address).query)
    assert endpoint == f"{issuer.issuer}/logout/"
    assert sent["client_id"] == [server.CLIENT_ID]
    assert sent["post_logout_redirect_uri"] == ["http://sho.rt/accounts/login/"]
    # The provider takes it without a question, and sends the browser back.
    answer = requests.get(address, timeout=DEADLINE, allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (302, "http://sho.rt/accounts/login/")


def test_the_dashboard_learns_the_page_that_ends_the_session_of_the_provider(
    issuer: Provider, settings: Settings
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = settings.OIDC_LOGOUT = True
    client = browser()
    log_in(client)
    ended = client.post("/dashboard/session/end", headers={"origin": "http://sho.rt"})
    assert ended.json()["next"].startswith(f"{issuer.issuer}/logout/?id_token_hint=")
    assert logged_in_as(client) is None


def test_a_logout_stays_here_otherwise(issuer: Provider, settings: Settings, alice: NewAccount) -> None:
    """It does so without the setting or the provider's endpoint, and in a session that the provider did not open."""
    settings.OIDC_CREATE_ACCOUNTS = True
    for logs_out, endpoint in ((False, "https://id.example/"), (True, ABSENT), (True, "http://id.example")):
        cache.clear()
        settings.OIDC_LOGOUT = logs_out
        issuer.behave(configuration={"changes": {"end_session_endpoint": endpoint}})
        client = browser()
        log_in(client)
        assert logged_in_as(client) == "ada@example.com"
        assert client.post("/accounts/logout/")["Location"] == "/accounts/login/"
    client.force_login(alice.user)
    assert client.post("/accounts/logout/")["Location"] == "/accounts/login/"


def test_login_in_a_browser(browse: Callable[[], Any], address: str, settings: Settings) -> None:
    settings.BASE_URL, settings.BASE_HOST = address, "localhost"
    settings.OIDC_CREATE_ACCOUNTS = True
    settings.OIDC_STAFF_GROUP = "operators"
    settings.OIDC_LOGOUT = True
    with provider(f"{address}/accounts/oidc/callback/") as running, browse() as visit:
        use(settings, running.issuer)
        running.say(**ADA, groups=["operators"])
        page = visit.page
        page.goto(f"{address}/admin/")
        page.get_by_role("button", name="Sign in with single sign-on").click()
        page.get_by_label("Username").fill(server.NAME)
        page.get_by_label("Password").fill(server.PASSWORD)
        page.get_by_role("button", name="Sign in here").click()
        page.wait_for_url(f"{address}/admin/")
        page.goto(f"{address}/accounts/")
        page.get_by_text("ada@example.com, connected").wait_for()
        page.goto(f"{address}/accounts/logout/")
        page.get_by_role("button", name="Sign Out").click()
        page.wait_for_url(f"{address}/accounts/login/")
        # The provider has forgotten the browser, too.
        page.get_by_role("button", name="Sign in with single sign-on").click()
        page.get_by_label("Username").wait_for()
        # The provider has no icon.
        assert visit.errors(404) == []
    assert User.objects.get().email == "ada@example.com"
