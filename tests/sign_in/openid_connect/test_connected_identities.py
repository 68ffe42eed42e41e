"""Identities that are connected with an account: the owner sees them, hears of them and ends them; operators, too."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.utils import user_pk_to_url_str
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Permission
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from accounts.models import Change, Session, User
from accounts.services import NewAccount, create_account
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.accounts.admin import Operator, audit
from testing.sign_in.oidc.running import Provider
from testing.sign_in.pages import browser, logged_in_as
from testing.threads import at_once
from tests.sign_in.openid_connect.openid import ADA, at_provider, log_in
from tests.sign_in.openid_connect.openid import issuer as issuer
from tests.sign_in.openid_connect.openid import running as running

pytestmark = pytest.mark.django_db(transaction=True)
NEW_PASSWORD = "another good password"


@pytest.fixture(autouse=True)
def sends_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True


def confirmed(account: NewAccount) -> Client:
    client = browser()
    client.force_login(account.user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def connect(account: NewAccount) -> Client:
    """The client of the owner."""
    client = confirmed(account)
    assert client.get(at_provider(client.post("/accounts/oidc/connect/"))).status_code == 302
    return client


def add_identity(user: User, name: str) -> SocialAccount:
    return SocialAccount.objects.create(
        user=user, provider="oidc", uid=name, extra_data={"email": f"{name}@id.example"}
    )


def disconnect(client: Client, identity: SocialAccount) -> Any:
    return client.post(f"/accounts/oidc/identities/{identity.pk}/remove/", follow=True)


def subjects() -> list[str]:
    return [message.subject for message in mail.outbox]


def text_of_last_mail() -> str:
    return str(mail.outbox[-1].body)


def test_the_owner_sees_a_new_identity_and_gets_a_mail(issuer: Provider, alice: NewAccount) -> None:
    client = connect(alice)
    page = client.get("/accounts/").content.decode()
    assert "ada@example.com, connected 20" in page
    assert [message.to for message in mail.outbox] == [["alice@example.com"]]
    assert subjects() == ["[sho.rt] Single sign-on connected"]
    text = text_of_last_mail()
    assert "ada@example.com can now sign in to your account" in text
    assert "http://sho.rt/accounts/" in text
    assert "127.0.0.1" in text


def test_the_first_login_needs_no_mail(issuer: Provider, settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    client = browser()
    log_in(client)
    assert "ada@example.com, connected 20" in client.get("/accounts/").content.decode()
    assert subjects() == []


def test_the_page_shows_the_latest_address_of_the_identity(issuer: Provider, alice: NewAccount) -> None:
    client = connect(alice)
    issuer.say(**ADA | {"email": "countess@example.com"})
    log_in(browser())
    assert "countess@example.com" in client.get("/accounts/").content.decode()


def test_the_owner_disconnects_an_identity_and_its_sessions_end(issuer: Provider, alice: NewAccount) -> None:
    client = connect(alice)
    intruder, program = browser(), bearer_client(alice.user)
    log_in(intruder)
    assert logged_in_as(intruder) == "alice@example.com"
    response = disconnect(client, SocialAccount.objects.get())
    assert "The identity no longer signs in. All other sessions have ended." in response.content.decode()
    assert (logged_in_as(client), logged_in_as(intruder)) == ("alice@example.com", None)
    assert program.get("/api/auth/me").status_code == 401
    assert log_in(browser()).status_code == 403
    assert "ada@example.com" not in client.get("/accounts/").content.decode()
    assert subjects()[-1] == "[sho.rt] Single sign-on disconnected"
    assert "ada@example.com can no longer sign in" in text_of_last_mail()
    change = Change.objects.filter(object_id=alice.user.public_id).latest("pk")
    assert (change.actor, change.via, change.after) == (alice.user, "page", {"identity": "removed"})


def test_disconnecting_requires_the_password(alice: NewAccount) -> None:
    identity = add_identity(alice.user, "ada")
    client = browser()
    path = f"/accounts/oidc/identities/{identity.pk}/remove/"
    assert client.post(path)["Location"].startswith("/accounts/login/")
    client.force_login(alice.user)
    assert client.post(path)["Location"].startswith("/accounts/reauthenticate/")
    assert client.get(path).status_code in (302, 405)
    assert SocialAccount.objects.count() == 1


def test_an_identity_of_another_account_stays(alice: NewAccount, stranger: NewAccount) -> None:
    identity = add_identity(stranger.user, "theirs")
    response = disconnect(confirmed(alice), identity)
    assert response.status_code == 200
    assert "no longer signs in" not in response.content.decode()
    assert SocialAccount.objects.get() == identity
    assert subjects() == []


def test_the_last_way_in_stays(issuer: Provider, settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    client = browser()
    log_in(client)
    user = User.objects.get()
    own, other = SocialAccount.objects.get(), add_identity(user, "other")
    assert "no longer signs in" in disconnect(client, other).content.decode()
    refused = disconnect(client, own)
    assert "This is the only way to sign in to your account." in refused.content.decode()
    assert SocialAccount.objects.get() == own


def test_a_password_that_is_not_accepted_is_no_way_in(
    issuer: Provider, settings: Settings, alice: NewAccount
) -> None:
    client = connect(alice)
    settings.PASSWORD_LOGIN = False
    client = browser()
    log_in(client)
    assert "This is the only way" in disconnect(client, SocialAccount.objects.get()).content.decode()
    settings.PASSWORD_LOGIN = True
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert "no longer signs in" in disconnect(client, SocialAccount.objects.get()).content.decode()


@pytest.mark.slow
def test_of_two_last_identities_one_stays(issuer: Provider, settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    clients = [browser(), browser()]
    for client in clients:
        log_in(client)
    user = User.objects.get()
    identities = [SocialAccount.objects.get(), add_identity(user, "other")]
    at_once(
        [
            lambda pair=pair: disconnect(*pair)  # type: ignore[misc] # the default binds the value of the loop
            for pair in zip(clients, identities, strict=True)
        ]
    )
    assert SocialAccount.objects.count() == 1


def change_on_page(account: NewAccount) -> Any:
    client = confirmed(account)
    fields = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    return client.post("/accounts/password/change/", fields, follow=True)


def reset_on_page(account: NewAccount) -> Any:
    client = browser()
    token = PasswordResetTokenGenerator().make_token(account.user)
    mailed = f"/accounts/password/reset/key/{user_pk_to_url_str(account.user)}-{token}/"
    form = client.get(mailed)["Location"]
    return client.post(form, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}, follow=True)


def change_over_api(account: NewAccount) -> Any:
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    return bearer_client(account.user).post("/api/auth/change-password", body)


def change_by_operator(account: NewAccount) -> Any:
    operator = create_account(email="operator@example.com", password=PASSWORD, superuser=True).user
    client = Operator(headers={"host": "sho.rt"})
    client.force_login(operator)
    fields = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD, "usable_password": "true"}
    return client.send(f"accounts/user/{account.user.pk}/password/", **fields)


@pytest.mark.parametrize("change", [change_on_page, reset_on_page, change_over_api, change_by_operator])
def test_a_new_password_names_the_identities_that_still_log_in(change: Any, alice: NewAccount) -> None:
    for name in ("ada", "mallory"):
        add_identity(alice.user, name)
    response = change(alice)
    alice.user.refresh_from_db()
    assert alice.user.check_password(NEW_PASSWORD)
    if change in (change_on_page, reset_on_page):
        named = (
            "These identities of single sign-on still sign in to your account: ada@id.example, connected on"
        )
        assert named in response.content.decode()
    [message] = [message for message in mail.outbox if "still sign in" in message.subject]
    assert message.to == ["alice@example.com"]
    assert message.subject == "[sho.rt] Who can still sign in to your account"
    lines = [line.split(",")[0] for line in str(message.body).splitlines() if line.startswith("- ")]
    assert lines == ["- ada@id.example", "- mallory@id.example"]
    assert "http://sho.rt/accounts/" in str(message.body)
    # A change of the password disconnects nobody.
    assert SocialAccount.objects.count() == 2


@pytest.mark.parametrize("change", [change_on_page, change_over_api])
def test_without_identities_a_new_password_names_none(change: Any, alice: NewAccount) -> None:
    change(alice)
    assert [subject for subject in subjects() if "still log in" in subject] == []


def test_an_operator_disconnects_accounts(alice: NewAccount, stranger: NewAccount) -> None:
    for account in (alice, stranger):
        add_identity(account.user, account.user.email.split("@")[0])
    owner = bearer_client(alice.user)
    operator = create_account(email="operator@example.com", password=PASSWORD, superuser=True).user
    add_identity(operator, "operator")
    client = Operator(headers={"host": "sho.rt"})
    client.force_login(operator)
    client.act("accounts/user/", "remove_identities", [alice.user, operator])
    assert set(SocialAccount.objects.values_list("uid", flat=True)) == {"mallory", "operator"}
    assert audit() == [("operator@example.com", "alice@example.com", "Disconnected from single sign-on.")]
    change = Change.objects.filter(object_id=alice.user.public_id).latest("pk")
    assert (change.via, change.after) == ("operator", {"identity": "removed"})
    assert owner.get("/api/auth/me").status_code == 401
    assert (mail.outbox[-1].to, subjects()) == (
        ["alice@example.com"],
        ["[sho.rt] Single sign-on disconnected"],
    )


def test_only_superusers_disconnect_staff(alice: NewAccount) -> None:
    clerk, staff = (
        create_account(email=f"{name}@example.com", password=PASSWORD).user for name in ("clerk", "staff")
    )
    User.objects.filter(pk__in=[clerk.pk, staff.pk]).update(is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(codename__in=["change_user", "view_user"]))
    for user in (staff, alice.user):
        add_identity(user, user.email)
    client = Operator(headers={"host": "sho.rt"})
    client.force_login(clerk)
    client.act("accounts/user/", "remove_identities", [staff, alice.user])
    assert SocialAccount.objects.get().user == staff


def test_a_command_disconnects_an_account(
    alice: NewAccount, stranger: NewAccount, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        add_identity(alice.user, name)
    add_identity(stranger.user, "three")
    bearer_client(alice.user)
    call_command("remove_identities", "Alice@example.com")
    assert capsys.readouterr().out == "Removed: 2\n"
    assert SocialAccount.objects.get().user == stranger.user
    assert not Session.objects.filter(user=alice.user, ended_at=None).exists()
    changes = Change.objects.filter(object_id=alice.user.public_id, after={"identity": "removed"})
    assert set(changes.values_list("via", flat=True)) == {"service"}
    call_command("remove_identities", "alice@example.com")
    assert capsys.readouterr().out == "Removed: 0\n"
    assert len(mail.outbox) == 1
    with pytest.raises(CommandError, match="Unknown account"):
        call_command("remove_identities", "nobody@example.com")
