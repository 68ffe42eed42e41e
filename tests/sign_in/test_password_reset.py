"""A forgotten password is replaced by a link in a mail."""

from __future__ import annotations

import re
from collections.abc import Callable
from smtplib import SMTPServerDisconnected
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.services import NewAccount, create_account, set_active
from sign_in.refusals import MAIL_FAILED
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.pages.html import parse
from testing.sign_in.pages import strict_browser
from tests.sign_in.login_pages import NEW, change, log_in, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def sends_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True


def request_reset(client: Client, email: str = "alice@example.com") -> Any:
    return submit(client, "password/reset/", email=email)


def link_in_mail() -> str:
    (message,) = mail.outbox
    match = re.search(r"https?://\S+", str(message.body))
    assert match is not None
    return match[0]


def test_a_mail_leads_to_a_new_password(sends_mail: None, alice: NewAccount) -> None:
    client, api = strict_browser(), bearer_client(alice.user)
    assert request_reset(client)["Location"] == "/accounts/password/reset/done/"
    assert mail.outbox[0].to == ["alice@example.com"]
    link = link_in_mail()
    assert link.startswith("http://sho.rt/accounts/password/reset/key/")

    form = client.get(link.removeprefix("http://sho.rt"))
    assert form.status_code == 302
    # The page of the form has another address, without the key.
    path = form["Location"].removeprefix("/accounts/")
    response = submit(client, path, password1=NEW, password2=NEW)
    assert response["Location"] == "/accounts/password/reset/key/done/"
    assert api.get("/api/auth/me").status_code == 401
    assert log_in(strict_browser(), password=NEW).status_code == 302

    again = strict_browser().get(link.removeprefix("http://sho.rt"))
    assert (again.status_code, parse(again).texts["h1"].strip()) == (200, "Bad Token")


@pytest.mark.parametrize("host", ["203.0.113.66", "[2001:db8::1]:8000", "SHO.RT:8000"])
def test_the_address_in_a_mail_is_never_that_of_the_request(
    host: str, sends_mail: None, alice: NewAccount
) -> None:
    """A stranger chooses the Host header of the request that sends the mail."""
    client = strict_browser(host=host)
    request_reset(client)
    assert link_in_mail().startswith("http://sho.rt/accounts/")
    message = mail.outbox[0]
    assert host not in f"{message.subject} {message.body} {message.from_email}"


def test_page_and_mails_do_not_reveal_who_has_an_account(sends_mail: None, alice: NewAccount) -> None:
    dormant = create_account(email="dormant@example.com", password=PASSWORD).user
    set_active(user=dormant, is_active=False)
    without_password = create_account(email="external@example.com", password=PASSWORD).user
    without_password.set_unusable_password()
    without_password.save()
    emails = ("alice@example.com", "nobody@example.com", "dormant@example.com", "external@example.com")
    responses = [request_reset(strict_browser(), email) for email in emails]
    assert {(response.status_code, response["Location"]) for response in responses} == {
        (302, "/accounts/password/reset/done/")
    }
    assert [message.subject for message in mail.outbox] == [
        "[sho.rt] New password",
        *["[sho.rt] No account"] * 3,
    ]


def test_mails_to_one_address_are_limited(sends_mail: None, alice: NewAccount) -> None:
    addresses = [f"203.0.{number}.5" for number in range(6)]
    statuses = [request_reset(strict_browser(address)).status_code for address in addresses]
    assert statuses == [302] * 5 + [429]
    assert len(mail.outbox) == 5


def test_mails_caused_by_one_network_are_limited(sends_mail: None) -> None:
    client = strict_browser()
    statuses = [request_reset(client, f"user{number}@example.com").status_code for number in range(21)]
    assert statuses == [302] * 20 + [429]
    assert len(mail.outbox) == 20


def test_without_a_mail_server_the_page_says_so(alice: NewAccount) -> None:
    for response in (strict_browser().get("/accounts/password/reset/"), request_reset(strict_browser())):
        assert response.status_code == 200
        assert "This service sends no mail" in response.content.decode()
    assert mail.outbox == []


def test_a_mail_server_that_does_not_respond_gets_503(
    sends_mail: None,
    alice: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    def refuse(*_: object) -> int:
        raise SMTPServerDisconnected

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    response = request_reset(strict_browser())
    assert (response.status_code, parse(response).texts["h1"]) == (503, MAIL_FAILED.title)
    # A change is made even if the notification cannot be sent.
    client = strict_browser()
    log_in(client)
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        assert change(client).status_code == 302
    assert len(callbacks) == 1


def test_the_owner_gets_a_mail_about_a_new_password(
    sends_mail: None,
    settings: Settings,
    alice: NewAccount,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    settings.BRAND_NAME = "Müller & Söhne"
    client = strict_browser()
    log_in(client)
    with django_capture_on_commit_callbacks(execute=True):
        change(client)
    (message,) = mail.outbox
    assert (message.to, message.subject) == (["alice@example.com"], "[Müller & Söhne] Password Changed")
    assert str(message.body).rstrip().endswith("\n\nMüller & Söhne\nsho.rt")


def test_a_link_of_a_former_secret_sets_no_password(
    sends_mail: None, alice: NewAccount, settings: Settings
) -> None:
    request_reset(strict_browser())
    path = link_in_mail().removeprefix("http://sho.rt")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new-" + "y" * 50, [settings.SECRET_KEY]
    assert parse(strict_browser().get(path)).texts["h1"].strip() == "Bad Token"
