"""Login with an OpenID provider: django-oauth-toolkit in a process of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import time_machine
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.utils import user_pk_to_url_str
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, RequestFactory
from pytest_django import Settings

from accounts.models import Change, User
from accounts.services import NewAccount, set_active
from shortener_project.configuration.django_settings.sign_in import provider_settings, sign_in_settings
from shortener_project.configuration.mail import MailServer
from sign_in.openid_connect.identities import IdentityAdapter
from testing.accounts import PASSWORD, bearer_client
from testing.browser import address as address
from testing.browser import browse as browse
from testing.browser import chromium as chromium
from testing.html import parse
from testing.oidc import server
from testing.oidc.running import Provider, provider
from testing.service.polling import DEADLINE
from testing.totp import add_totp

pytestmark = pytest.mark.django_db(transaction=True)
ADA = {"email": "ada@example.com", "email_verified": True, "given_name": "Ada", "family_name": "Lovelace"}


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with provider("http://sho.rt/accounts/oidc/callback/") as running:
        yield running


def use(settings: Settings, issuer: str) -> None:
    settings.SOCIALACCOUNT_REQUESTS_TIMEOUT = DEADLINE
    settings.OIDC_ISSUER = issuer
    settings.SOCIALACCOUNT_PROVIDERS = provider_settings(issuer, server.CLIENT_ID, server.CLIENT_SECRET)


@pytest.fixture
def issuer(running: Provider, settings: Settings) -> Provider:
    use(settings, running.issuer)
    running.say(**ADA)
    return running


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    # The provider keeps the real time. None of its tokens may come from the future.
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=60), tick=True) as traveller:
        yield traveller


def browser() -> Client:
    return Client(headers={"host": "sho.rt"})


def provider_url(response: Any) -> str:
    """The URL of the provider that the page links to."""
    assert response.status_code == 200
    found = re.search(r'<meta http-equiv="refresh" content="0; url=([^"]+)">', response.content.decode())
    assert found is not None
    return unescape(found[1])


def at_provider(response: Any) -> str:
    """Logs in at the provider, and returns the address to which it sends the browser back."""
    url = provider_url(response)
    parts = urlsplit(url)
    login = f"{parts.scheme}://{parts.netloc}/login/"
    with requests.Session() as session:
        session.get(login, timeout=DEADLINE)
        fields = {
            "username": server.NAME,
            "password": server.PASSWORD,
            "csrfmiddlewaretoken": session.cookies["provider_csrf"],
        }
        session.post(login, fields, timeout=DEADLINE, allow_redirects=False)
        answer = session.get(url, timeout=DEADLINE, allow_redirects=False)
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"].removeprefix("http://sho.rt")


def log_in(client: Client, **fields: str) -> Any:
    return client.get(at_provider(client.post("/accounts/oidc/login/", fields)))


def logged_in_as(client: Client) -> str | None:
    response = client.get("/accounts/")
    return response.context["user"].email if response.status_code == 200 else None


def reason(response: Any) -> str:
    assert response.status_code == 403
    return parse(response).texts["p"]


def history_of(user: User) -> list[tuple[Any, ...]]:
    """Oldest first."""
    changes = Change.objects.filter(object_id=user.public_id).order_by("pk")
    return list(changes.values_list("action", "actor", "via", "after", "request_id"))


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


def test_the_first_login_creates_an_account(issuer: Provider, settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    requests = []
    for _ in range(2):
        client = browser()
        response = log_in(client, next="/accounts/2fa/")
        assert response["Location"] == "/accounts/2fa/"
        assert logged_in_as(client) == "ada@example.com"
        requests.append(response["X-Request-ID"])
    user = User.objects.get()
    assert history_of(user) == [
        ("key.created", None, "page", {}, requests[0]),
        ("account.updated", user.pk, "page", {"identity": "set"}, requests[0]),
    ]
    assert (user.first_name, user.last_name, user.is_staff) == ("Ada", "Lovelace", False)
    assert not user.has_usable_password()
    identity = SocialAccount.objects.get()
    assert (identity.user, identity.provider, identity.extra_data) == (user, "oidc", {})


def test_of_concurrent_first_logins_both_get_the_account(settings: Settings) -> None:
    """The second one looked for the identity before the first one created it."""
    settings.OIDC_CREATE_ACCOUNTS = True
    logins = [first_login("of Ada") for _ in range(2)]
    for login in logins:
        assert not login.is_existing
        IdentityAdapter().pre_social_login(RequestFactory().get("/"), login)
    assert [login.user for login in logins] == [User.objects.get()] * 2
    with pytest.raises(ImmediateHttpResponse) as refused:
        IdentityAdapter().pre_social_login(RequestFactory().get("/"), first_login("of somebody else"))
    assert "with your e-mail address" in reason(refused.value.response)


def first_login(uid: str) -> SocialLogin:
    login = SocialLogin(user=User(), account=SocialAccount(provider="oidc", uid=uid))
    login.claims, login.nonce, login.state = ADA, "nonce", {"nonce": "nonce"}
    return login


def test_names_lose_characters_that_the_database_cannot_store(issuer: Provider, settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    issuer.say(**{**ADA, "given_name": "A\0da\ud800 Maria", "family_name": "Love\nlace" + "x" * 200})
    client = browser()
    assert log_in(client).status_code == 302
    user = User.objects.get()
    assert (user.first_name, user.last_name) == ("Ada Maria", "Lovelace" + "x" * 92)


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"sub": "ada\ud800"}, "did not confirm your identity"),
        ({"sub": ""}, "did not confirm your identity"),
        ({"email": "a\0da@example.com"}, "email: "),
        ({"email": "ada\ud800@example.com"}, "email: "),
        ({"email": "ada@exam\ud800ple.com"}, "email: "),
    ],
)
def test_malformed_identities_and_addresses_are_refused(
    claims: dict[str, Any], expected: str, issuer: Provider, settings: Settings
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    issuer.say(**(ADA | claims))
    client = browser()
    assert expected in reason(log_in(client))
    assert (logged_in_as(client), User.objects.count()) == (None, 0)


def test_without_creation_an_unknown_identity_is_refused(issuer: Provider) -> None:
    client = browser()
    assert "This identity is not connected" in reason(log_in(client))
    assert (logged_in_as(client), User.objects.count()) == (None, 0)


@pytest.mark.parametrize("create", [False, True])
def test_an_equal_address_never_opens_an_account(
    create: bool, issuer: Provider, settings: Settings, alice: NewAccount
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = create
    issuer.say(**{**ADA, "email": "alice@example.com"})
    client = browser()
    assert log_in(client).status_code == 403
    assert (logged_in_as(client), SocialAccount.objects.count()) == (None, 0)


def test_a_connected_identity_logs_in_whatever_its_address(issuer: Provider, alice: NewAccount) -> None:
    client = browser()
    client.force_login(alice.user)
    assert client.post("/accounts/oidc/connect/")["Location"].startswith("/accounts/reauthenticate/")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    to_provider = client.post("/accounts/oidc/connect/")
    connected = client.get(at_provider(to_provider))
    assert connected["Location"] == "/accounts/"
    assert history_of(alice.user)[-1] == (
        *("account.updated", alice.user.pk, "page"),
        {"identity": "set"},
        connected["X-Request-ID"],
    )
    issuer.say(email="changed@example.com")
    other = browser()
    assert log_in(other)["Location"] == "/dashboard/"
    assert logged_in_as(other) == "alice@example.com"


def test_an_identity_belongs_to_one_account(
    issuer: Provider, alice: NewAccount, stranger: NewAccount
) -> None:
    for account in (alice, stranger):
        client = browser()
        client.force_login(account.user)
        client.post("/accounts/reauthenticate/", {"password": PASSWORD})
        client.get(at_provider(client.post("/accounts/oidc/connect/")))
    assert SocialAccount.objects.get().user == alice.user


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        (ADA, 302),
        ({**ADA, "email": "ada@EXAMPLE.com"}, 302),
        ({**ADA, "email": "ada@evil.example"}, 403),
        ({**ADA, "email": "ada@example.com.evil.example"}, 403),
        ({**ADA, "email_verified": False}, 403),
        ({**ADA, "email_verified": "true"}, 403),
        ({}, 403),
    ],
)
def test_only_verified_addresses_of_allowed_domains_log_in(
    claims: dict[str, Any], status: int, issuer: Provider, settings: Settings
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    settings.OIDC_ALLOWED_DOMAINS = frozenset({"example.com"})
    issuer.say(**claims)
    assert log_in(browser()).status_code == status


def test_an_address_that_is_not_verified_creates_no_account(issuer: Provider, settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    issuer.say(**{**ADA, "email_verified": False})
    assert "not verified" in reason(log_in(browser()))
    assert User.objects.count() == 0


def test_each_login_grants_or_revokes_staff(issuer: Provider, settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    settings.OIDC_STAFF_GROUP = "operators"
    states = []
    for groups in (["people"], ["people", "operators"], [], "operators"):
        issuer.say(**ADA, groups=groups)
        log_in(browser())
        states.append(User.objects.get().is_staff)
    assert states == [False, True, False, True]


def test_a_disabled_account_stays_out(issuer: Provider, settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    log_in(browser())
    set_active(user=User.objects.get(), is_active=False)
    client = browser()
    assert log_in(client)["Location"] == "/accounts/inactive/"
    assert logged_in_as(client) is None


def test_another_issuer_behind_the_address_is_refused(issuer: Provider, settings: Settings) -> None:
    use(settings, issuer.issuer.replace("localhost", "127.0.0.1"))
    response = browser().post("/accounts/oidc/login/")
    assert response.status_code == 503


def test_an_issuer_may_end_in_a_slash(settings: Settings) -> None:
    """OpenID Connect Discovery 1.0, 4.1. Issuers are equal only if the slash is, too."""
    settings.OIDC_CREATE_ACCOUNTS = True
    with provider("http://sho.rt/accounts/oidc/callback/", path="/o/") as running:
        assert running.issuer.endswith("/o/")
        running.say(**ADA)
        use(settings, running.issuer.rstrip("/"))
        assert browser().post("/accounts/oidc/login/").status_code == 503
        use(settings, running.issuer)
        client = browser()
        assert log_in(client).status_code == 302
        assert logged_in_as(client) == "ada@example.com"


def test_an_answer_works_only_in_the_browser_that_asked(issuer: Provider, settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    asked, other = browser(), browser()
    path = at_provider(asked.post("/accounts/oidc/login/"))
    assert other.get(path).status_code == 403
    assert logged_in_as(other) is None
    assert asked.get(path).status_code == 302
    assert asked.get(path).status_code == 403


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
    assert client.get(f"{path}&iss=https%3A%2F%2Fevil.example").status_code == 503
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
    assert parse(page).texts["h1"] == "Log in again"
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


def test_a_provider_that_is_away_gets_503(settings: Settings) -> None:
    use(settings, "http://127.0.0.1:1/o")
    response = browser().post("/accounts/oidc/login/")
    assert (response.status_code, response["Retry-After"]) == (503, "2")


@pytest.mark.parametrize("path", ["login", "connect", "callback"])
def test_without_a_provider_there_are_no_such_pages(path: str, alice: NewAccount) -> None:
    client = browser()
    client.force_login(alice.user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    method = client.get if path == "callback" else client.post
    assert method(f"/accounts/oidc/{path}/").status_code == 404
    assert "single sign-on" not in browser().get("/accounts/login/").content.decode()


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
    assert parse(client.get(add)).texts["h1"] == "Log in again"
    assert log_in(client, next=add)["Location"] == add
    assert "Authenticator secret" in client.get(add).content.decode()
    clock.shift(REAUTHENTICATION_TIMEOUT + 1)
    assert parse(client.get(add)).texts["h1"] == "Log in again"


def test_without_password_login_a_second_factor_confirms(
    issuer: Provider, settings: Settings, alice: NewAccount
) -> None:
    recovery_code, *_ = add_totp(alice.user)
    settings.PASSWORD_LOGIN = False
    client = browser()
    client.force_login(alice.user)
    codes = "/accounts/2fa/recovery-codes/"
    asked = client.get(codes)["Location"]
    assert asked.startswith("/accounts/2fa/reauthenticate/")
    refused = client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert refused["Location"] == "/accounts/2fa/reauthenticate/"
    assert client.get(codes).status_code == 302
    assert client.post(asked, {"code": recovery_code})["Location"] == codes
    assert client.get(codes).status_code == 200


@pytest.mark.parametrize(
    "issuer",
    [
        "http://id.example",
        "ftp://id.example",
        "https://",
        "id.example",
        "http://localhost.evil.example",
        "//id",
    ],
)
def test_an_issuer_without_tls_is_refused(issuer: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="OIDC_ISSUER must be an https URL"):
        provider_settings(issuer, "x", "y")


@pytest.mark.parametrize("issuer", ["https://id.example", "http://localhost:8080/o", "http://127.0.0.1:1/o"])
def test_an_issuer_with_tls_or_on_loopback_is_accepted(issuer: str) -> None:
    assert provider_settings(issuer, "x", "y")


@pytest.mark.parametrize(
    ("name", "value"),
    [("token_endpoint", "http://id.example/token"), ("jwks_uri", None), ("authorization_endpoint", 3)],
)
def test_endpoints_without_tls_are_not_used(
    name: str, value: object, issuer: Provider, settings: Settings
) -> None:
    [app] = settings.SOCIALACCOUNT_PROVIDERS["oidc"]["APPS"]
    app["settings"]["openid_configuration_overrides"] = {name: value}
    assert browser().post("/accounts/oidc/login/").status_code == 503


def test_incomplete_settings_are_refused() -> None:
    for values in (("https://id.example", "", ""), ("", "x", "y"), ("https://id.example", "x", "")):
        with pytest.raises(ImproperlyConfigured, match="belong together"):
            provider_settings(*values)
    with pytest.raises(ImproperlyConfigured, match="PASSWORD_LOGIN"):
        sign_in_settings(mail=MailServer(), sender="x", provider={}, has_password_login=False, signup="off")


def test_login_in_a_browser(browse: Callable[[], Any], address: str, settings: Settings) -> None:
    settings.BASE_URL, settings.BASE_HOST = address, "localhost"
    settings.OIDC_CREATE_ACCOUNTS = True
    settings.OIDC_STAFF_GROUP = "operators"
    with provider(f"{address}/accounts/oidc/callback/") as running, browse() as visit:
        use(settings, running.issuer)
        running.say(**ADA, groups=["operators"])
        page = visit.page
        page.goto(f"{address}/admin/")
        page.get_by_role("button", name="Log in with single sign-on").click()
        page.get_by_label("Username").fill(server.NAME)
        page.get_by_label("Password").fill(server.PASSWORD)
        page.get_by_role("button", name="Sign in here").click()
        page.wait_for_url(f"{address}/admin/")
        # The provider has no icon.
        assert visit.errors(404) == []
    assert User.objects.get().email == "ada@example.com"
