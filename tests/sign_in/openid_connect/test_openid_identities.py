"""Which identities of the provider log in, and to which accounts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.test import Client, RequestFactory
from pytest_django import Settings

from accounts.invitations import invite
from accounts.models import Change, Member, User
from accounts.rights import Role
from accounts.services import NewAccount, set_active
from sign_in.openid_connect.identities import IdentityAdapter
from sign_in.openid_connect.protocol import Person
from testing.accounts.accounts import PASSWORD
from testing.accounts.workspaces import team
from testing.pages.html import parse
from testing.sign_in.oidc.running import Provider
from testing.sign_in.pages import browser, logged_in_as
from testing.sign_in.passkeys import Passkey
from tests.sign_in.openid_connect.openid import ADA, at_provider, log_in
from tests.sign_in.openid_connect.openid import issuer as issuer
from tests.sign_in.openid_connect.openid import running as running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def reason(response: Any) -> str:
    assert response.status_code == 403
    return parse(response).texts["p"]


def history_of(user: User) -> list[tuple[Any, ...]]:
    """Oldest first."""
    changes = Change.objects.filter(object_id=user.public_id).order_by("pk")
    return list(changes.values_list("action", "actor", "via", "after", "request_id"))


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
    assert (identity.user, identity.provider, identity.extra_data) == (
        *(user, "oidc"),
        {"email": "ada@example.com"},
    )


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
    login.person, login.state = Person({"nonce": "nonce"}, ADA, None), {"nonce": "nonce"}
    return login


@pytest.mark.parametrize("email", ["", "Ada@example.com", "grace@example.com"])
def test_an_invitation_permits_an_account(email: str, issuer: Provider, alice: NewAccount) -> None:
    """Whatever OIDC_CREATE_ACCOUNTS says, but only for the invited address."""
    workspace = team(alice)
    token = invite(workspace=workspace, inviter=alice.user, role=Role.EDITOR, email=email).token
    client, page = browser(), f"/accounts/invitations/{token}/"
    response = log_in(client, next=page)
    if email == "grace@example.com":
        assert "not connected with an account" in reason(response)
        assert not User.objects.filter(email="ada@example.com").exists()
        return
    assert (response["Location"], logged_in_as(client)) == (page, "ada@example.com")
    assert client.post(page)["Location"] == f"/dashboard/overview?workspace={workspace.public_id}"
    assert Member.objects.get(workspace=workspace, user__email="ada@example.com").role == "editor"


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
        ({"email": "a\0da@example.com"}, "email: "),
        ({"email": "ada\ud800@example.com"}, "email: "),
        ({"email": "ada@exam\ud800ple.com"}, "email: "),
    ],
)
def test_malformed_addresses_are_refused(
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
    assert log_in(other)["Location"] == "/dashboard/overview"
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


@pytest.fixture
def passkeys(settings: Settings) -> Callable[[], AbstractContextManager[None]]:
    """A context in which the service has TLS, which passkeys need. The redirect URI of the provider has none."""

    @contextmanager
    def over_tls() -> Iterator[None]:
        settings.BASE_URL = "https://sho.rt"
        yield
        settings.BASE_URL = "http://sho.rt"

    return over_tls


def log_in_with_passkey(client: Client, key: Passkey, user: User) -> None:
    login = "/accounts/2fa/webauthn/login/"
    client.get(login, headers={"x-requested-with": "XMLHttpRequest"})
    client.post(login, {"credential": key.sign(client, user)})
    assert logged_in_as(client) == user.email


def test_staff_of_the_provider_are_staff_in_its_sessions_only(
    issuer: Provider, settings: Settings, passkeys: Callable[[], AbstractContextManager[None]]
) -> None:
    settings.OIDC_CREATE_ACCOUNTS, settings.OIDC_STAFF_GROUP = True, "operators"
    issuer.say(**ADA, groups=["operators"])
    client, with_passkey = browser(), browser()
    key, add = Passkey("sho.rt", "https://sho.rt"), "/accounts/2fa/webauthn/add/"
    log_in(client)
    assert client.get("/admin/").status_code == 200
    user = User.objects.get()
    with passkeys():
        client.get(add)
        added = {"name": "Key", "credential": key.register(client), "passwordless": "on"}
        assert client.post(add, added).status_code == 302
        log_in_with_passkey(with_passkey, key, user)
    refused = with_passkey.get("/admin/", follow=True)
    assert refused.status_code == 403
    assert "because you did not sign in with single sign-on" in refused.content.decode()
    assert client.get("/admin/").status_code == 200
    # The provider removes the person from the group, and says so at the next login, even before the second factor.
    issuer.say(**ADA, groups=[])
    log_in(browser())
    assert client.get("/admin/").status_code == 302


def test_staff_whom_an_operator_appointed_are_staff_in_every_session(alice: NewAccount) -> None:
    User.objects.update(is_staff=True)
    client = browser()
    client.post("/accounts/login/", {"login": "alice@example.com", "password": PASSWORD})
    assert client.get("/admin/").status_code == 200


def test_a_superuser_stays_one_whatever_the_provider_says(issuer: Provider, settings: Settings) -> None:
    """Otherwise, the login of the last one could lock everybody out."""
    settings.OIDC_CREATE_ACCOUNTS = True
    log_in(browser())
    settings.OIDC_STAFF_GROUP = "operators"
    User.objects.update(is_staff=True, is_superuser=True)
    for groups in ([], ["operators"], []):
        issuer.say(**ADA, groups=groups)
        client = browser()
        log_in(client)
        assert client.get("/admin/").status_code == 200
        user = User.objects.get()
        assert (user.is_staff, user.is_superuser, user.is_staff_by_provider) == (True, True, False)
