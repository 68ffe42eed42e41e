"""Sign-up: a mailed link proves the address before the account exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from smtplib import SMTPServerDisconnected
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django import Settings

from accounts import invitations
from accounts.models import Session, User
from accounts.rights import Role
from accounts.services import NewAccount
from shortener_project.configuration.env import MailServer
from shortener_project.configuration.sign_in import provider_settings, sign_in_settings
from sign_in.sign_up import LINK_SECONDS
from testing.accounts.accounts import PASSWORD
from testing.accounts.workspaces import team
from testing.pages.html import parse
from testing.sign_in.pages import logged_in_as
from testing.threads import at_once

pytestmark = pytest.mark.django_db
EMAIL = "grace@example.com"
PROVIDER = provider_settings("https://id.example", "x", "y")


@pytest.fixture(autouse=True)
def sends_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True
    settings.SIGNUP = "open"


def browser(address: str = "203.0.113.5", host: str = "sho.rt") -> Client:
    return Client(headers={"host": host}, REMOTE_ADDR=address)


def request_link(client: Client, email: str = EMAIL, **fields: str) -> Any:
    return client.post("/accounts/signup/", {"email": email, **fields})


def link() -> str:
    match = re.search(r"http://sho\.rt(/accounts/signup/confirm/\S+)", str(mail.outbox[-1].body))
    assert match is not None, mail.outbox[-1].body
    return match[1]


def confirm(client: Client, path: str, password: str = PASSWORD, repeated: str | None = None) -> Any:
    fields = {"first_name": "Grace", "last_name": "Hopper", "password": password}
    return client.post(path, {**fields, "repeated": password if repeated is None else repeated})


def test_the_account_exists_once_the_mailed_link_was_used() -> None:
    client = browser()
    assert request_link(client)["Location"] == "/accounts/signup/sent/"
    assert (mail.outbox[0].to, User.objects.count()) == ([EMAIL], 0)
    path = link()
    # A mail program that opens links creates nothing.
    assert client.get(path).status_code == 200
    assert User.objects.count() == 0
    assert confirm(client, path)["Location"] == "/dashboard/overview"
    assert logged_in_as(client) == EMAIL
    user = User.objects.get()
    assert (user.first_name, user.last_name, user.is_staff, user.plan) == ("Grace", "Hopper", False, "free")
    assert Session.objects.get().user == user


def test_a_link_works_once() -> None:
    request_link(browser())
    path = link()
    confirm(browser(), path)
    for response in (browser().get(path), confirm(browser(), path, "another good password")):
        assert response.status_code == 410
    assert User.objects.get().check_password(PASSWORD)


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_uses_of_a_link_one_creates_the_account() -> None:
    request_link(browser())
    path = link()
    statuses = [response.status_code for response in at_once([partial(confirm, browser(), path)] * 6)]
    # Some may be refused because the network hashes passwords already.
    assert set(statuses) <= {302, 410, 429}
    assert (statuses.count(302), User.objects.count()) == (1, 1)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime.now(UTC), tick=False) as traveller:
        yield traveller


def test_a_link_expires(clock: time_machine.Traveller) -> None:
    request_link(browser())
    path = link()
    clock.shift(LINK_SECONDS - 1)
    assert browser().get(path).status_code == 200
    clock.shift(2)
    assert confirm(browser(), path).status_code == 410
    assert User.objects.count() == 0


@pytest.mark.parametrize("token", ["x", "a:b:c", ":::", "e30:1:x", "%00", "\N{SNOWMAN}"])
def test_a_forged_link_creates_nothing(token: str) -> None:
    request_link(browser())
    forged = (f"/accounts/signup/confirm/{token}/", link()[:-2] + "x/", link().replace(":", "a:", 1))
    assert [confirm(browser(), path).status_code for path in forged] == [410] * 3
    assert User.objects.count() == 0


def test_pages_do_not_reveal_who_has_an_account(alice: NewAccount, settings: Settings) -> None:
    settings.SIGNUP = "invited"
    invitations.invite(workspace=team(alice), inviter=alice.user, role=Role.VIEWER, email=EMAIL)
    mail.outbox.clear()
    emails = ("Alice@example.com", EMAIL, "nobody@example.com")
    responses = [request_link(browser(), email) for email in emails]
    assert {(response.status_code, response["Location"]) for response in responses} == {
        (302, "/accounts/signup/sent/")
    }
    assert [message.to for message in mail.outbox] == [["alice@example.com"], [EMAIL], ["nobody@example.com"]]
    assert len({message.subject for message in mail.outbox}) == 1
    texts = [str(message.body) for message in mail.outbox]
    assert ["have an account" in text for text in texts] == [True, False, False]
    assert ["/signup/confirm/" in text for text in texts] == [False, True, False]
    assert ["nobody has invited" in text for text in texts] == [False, False, True]


def test_a_withdrawn_invitation_closes_the_link(alice: NewAccount, settings: Settings) -> None:
    settings.SIGNUP = "invited"
    workspace = team(alice)
    invitation = invitations.invite(workspace=workspace, inviter=alice.user, role=Role.VIEWER, email=EMAIL)
    request_link(browser())
    path = link()
    invitations.withdraw(workspace=workspace, actor=alice.user, public_id=invitation.invitation.public_id)
    assert confirm(browser(), path).status_code == 410
    assert not User.objects.filter(email=EMAIL).exists()


@pytest.mark.parametrize("host", ["203.0.113.66", "SHO.RT:8000"])
def test_the_link_never_has_the_host_of_the_request(host: str) -> None:
    """A stranger chooses the Host header of the request that sends the mail."""
    request_link(browser(host=host))
    assert link()
    assert "203.0.113.66" not in f"{mail.outbox[0].body} {mail.outbox[0].subject} {mail.outbox[0].from_email}"


@pytest.mark.parametrize(
    ("target", "expected"), [("/dashboard/new?x=1", "/dashboard/new?x=1"), ("/abc", None)]
)
def test_the_link_returns_to_pages_of_the_service_only(target: str, expected: str | None) -> None:
    page = browser().get("/accounts/signup/", {"next": target})
    assert parse(page).value_of("next") == target
    request_link(browser(), next=target)
    assert confirm(browser(), link())["Location"] == (expected or "/dashboard/overview")


@pytest.mark.parametrize(
    ("password", "repeated"),
    [("zq7", "zq7"), (PASSWORD, "x"), ("", ""), ("x" * 129, "x" * 129), (EMAIL, EMAIL)],
)
def test_a_password_that_is_not_accepted_creates_nothing(password: str, repeated: str) -> None:
    request_link(browser())
    response = confirm(browser(), link(), password, repeated)
    assert response.status_code == 200
    assert 'role="alert"' in response.content.decode()
    assert f'value="{password or "zq7"}"' not in response.content.decode()
    assert User.objects.count() == 0


@pytest.mark.parametrize(
    "email", ["", "x", "x@", "a b@example.com", "x@example.com\nBcc: y@example.com", "x" * 255]
)
def test_an_invalid_address_gets_no_mail(email: str) -> None:
    assert request_link(browser(), email).status_code == 200
    assert mail.outbox == []


def test_mails_are_limited_together_with_those_about_passwords() -> None:
    statuses = [request_link(browser(f"203.0.{number}.5")).status_code for number in range(4)]
    reset = browser("203.0.9.5").post("/accounts/password/reset/", {"email": EMAIL})
    assert [*statuses, reset.status_code] == [302] * 5
    assert request_link(browser("203.0.10.5")).status_code == 429
    assert len(mail.outbox) == 5
    many = browser()
    answers = [request_link(many, f"user{number}@example.com").status_code for number in range(21)]
    assert answers == [302] * 20 + [429]


def test_a_mail_server_that_does_not_respond_gets_503(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise SMTPServerDisconnected

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    assert request_link(browser()).status_code == 503


def test_without_sign_up_a_link_from_before_creates_nothing(settings: Settings) -> None:
    request_link(browser())
    settings.SIGNUP = "off"
    assert browser().get("/accounts/signup/").status_code == 200
    assert request_link(browser()).status_code == 405
    assert confirm(browser(), link()).status_code == 410
    assert (User.objects.count(), len(mail.outbox)) == (0, 1)


@pytest.mark.parametrize(("signup", "shown"), [("off", False), ("invited", True), ("open", True)])
def test_the_login_page_offers_sign_up_where_it_is_possible(
    signup: str, shown: bool, settings: Settings
) -> None:
    settings.SIGNUP = signup
    assert ("/accounts/signup/" in browser().get("/accounts/login/").content.decode()) is shown


def configured(signup: str, mail_server: MailServer, *, has_password_login: bool = True) -> None:
    sign_in_settings(
        mail=mail_server,
        sender="x",
        provider=PROVIDER,
        has_password_login=has_password_login,
        signup=signup,
    )


@pytest.mark.parametrize("signup", ["invited", "open"])
def test_sign_up_needs_mail_and_passwords(signup: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="needs EMAIL_URL"):
        configured(signup, MailServer())
    with pytest.raises(ImproperlyConfigured, match="needs PASSWORD_LOGIN=on"):
        configured(signup, MailServer("console"), has_password_login=False)
    configured(signup, MailServer("console"))
    configured("off", MailServer(), has_password_login=False)


def test_a_link_of_a_former_secret_creates_nothing(settings: Settings) -> None:
    """Whoever learned that secret could make links for addresses of others."""
    request_link(browser())
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new-" + "y" * 50, [settings.SECRET_KEY]
    assert confirm(browser(), link()).status_code == 410
    assert User.objects.count() == 0
    request_link(browser())
    assert confirm(browser(), link()).status_code == 302
