"""Mails of the service, what a mail server can answer, and the texts for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.core import mail
from pytest_django import Settings

from accounts import invitations
from accounts.models import User
from accounts.services import UNUSUAL_ADDRESS, NewAccount, create_account
from common.errors import InvalidFields
from redirects.refusals import Refusal
from shortener_project.configuration.env import parse_mail_url
from sign_in import refusals
from testing.accounts.accounts import PASSWORD
from testing.accounts.workspaces import team
from testing.pages.html import parse
from testing.polling import DEADLINE
from testing.sign_in.pages import strict_browser
from testing.sign_in.smtp import MailServer, mail_server
from tests.sign_in.login_pages import change, log_in, submit

pytestmark = pytest.mark.django_db
UNUSUAL = [
    "www.evil.example/login@example.com",
    '"your\\ account\\ expires:\\ https://evil.example"@example.com',
    "a=b@example.com",
    "ada@[192.0.2.1]",
]


@pytest.fixture(autouse=True)
def sends_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True
    settings.SIGNUP = "open"


@pytest.fixture
def server(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as server:
        for name, value in parse_mail_url(server.url).settings.items():
            setattr(settings, name, value)
        settings.EMAIL_TIMEOUT = DEADLINE
        yield server


@pytest.mark.parametrize(
    ("answers", "refusal", "retry_after"),
    [
        ({"RCPT": "450 busy"}, refusals.MAIL_DELAYED, "300"),
        ({"DATA": "451 later"}, refusals.MAIL_DELAYED, "300"),
        ({"MAIL": "530 5.7.0 log in first"}, refusals.MAIL_NO_ACCESS, None),
        ({"RCPT": "530 5.7.0 log in first"}, refusals.MAIL_NO_ACCESS, None),
        ({"RCPT": "550 no such user"}, refusals.MAIL_ADDRESS, None),
        ({"RCPT": "554 no relaying"}, refusals.MAIL_REFUSED, None),
        ({"DATA": "550 looks like spam"}, refusals.MAIL_REFUSED, None),
        ({"DATA": "554 refused"}, refusals.MAIL_REFUSED, None),
    ],
)
def test_each_answer_of_a_mail_server_has_its_text(
    answers: dict[str, str], refusal: Refusal, retry_after: str | None, server: MailServer
) -> None:
    server.answers.update(answers)
    for path in ("signup/", "password/reset/"):
        response = submit(strict_browser(), path, email="grace@example.com")
        assert (response.status_code, response.get("Retry-After")) == (refusal.status, retry_after)
        assert parse(response).texts["p"] == refusal.message


def test_a_mail_server_that_is_gone_does_not_respond(settings: Settings, server: MailServer) -> None:
    with mail_server() as gone:
        pass
    settings.EMAIL_PORT = int(gone.url.rpartition(":")[2])
    response = submit(strict_browser(), "signup/", email="grace@example.com")
    assert (response.status_code, response["Retry-After"]) == (503, "60")
    assert parse(response).texts["p"] == refusals.MAIL_FAILED.message


def test_no_program_answers_a_mail(
    alice: NewAccount, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    client = strict_browser()
    for path in ("signup/", "password/reset/"):
        for email in ("alice@example.com", "nobody@example.com"):
            submit(client, path, email=email)
    log_in(client)
    with django_capture_on_commit_callbacks(execute=True):
        change(client)
        invitations.invite(workspace=team(alice), inviter=alice.user, role="viewer", email="g@example.com")
    assert len(mail.outbox) == 6
    headers = {message.message()["Auto-Submitted"] for message in mail.outbox}
    assert headers == {"auto-generated"}


def test_the_time_of_a_change_has_its_zone(
    alice: NewAccount, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    client = strict_browser()
    now = datetime.now(UTC)
    with time_machine.travel(now, tick=False):
        log_in(client)
        with django_capture_on_commit_callbacks(execute=True):
            change(client)
    [message] = mail.outbox
    assert f"\n- Date: {now:%Y-%m-%d %H:%M} UTC\n" in str(message.body)
    assert "- IP address: 203.0.113.5\n" in str(message.body)


def test_the_mail_for_an_unknown_address_names_it() -> None:
    submit(strict_browser(), "password/reset/", email="nobody@example.com")
    assert "an account of nobody@example.com at sho.rt." in str(mail.outbox[0].body)


def test_the_limit_of_mails_says_how_long_it_lasts() -> None:
    client = strict_browser()
    with time_machine.travel(datetime.now(UTC), tick=False):
        for _ in range(5):
            assert submit(client, "signup/", email="grace@example.com").status_code == 302
    response = submit(client, "signup/", email="grace@example.com")
    assert response.status_code == 429
    minutes = -(-int(response["Retry-After"]) // 60)
    assert parse(response).texts["p"] == f"{refusals.MAILS_LIMITED.message} Try again in {minutes} minutes."
    assert 1 < minutes <= 60


@pytest.mark.parametrize("email", UNUSUAL)
def test_an_address_that_reads_as_something_else_gets_no_account(email: str) -> None:
    response = submit(strict_browser(), "signup/", email=email)
    assert response.context["form"].errors["email"] == [UNUSUAL_ADDRESS]
    assert mail.outbox == []
    with pytest.raises(InvalidFields) as refusal:
        create_account(email=email)
    assert [(error.field, error.message) for error in refusal.value.errors] == [("email", UNUSUAL_ADDRESS)]


@pytest.mark.parametrize("email", ["o'neil+links@example.com", "ada_b.c-d@müller.example", "x@a-b.example"])
def test_ordinary_addresses_get_one(email: str) -> None:
    assert submit(strict_browser(), "signup/", email=email).status_code == 302
    assert mail.outbox[0].to == [email]


@pytest.mark.parametrize("email", UNUSUAL)
def test_mails_do_not_repeat_an_address_that_reads_as_something_else(
    email: str, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    """Operators can give any address to an account, and anybody can request a new password for one."""
    inviter = create_account(email=email, password=PASSWORD, any_address=True)
    with django_capture_on_commit_callbacks(execute=True):
        invitations.invite(
            workspace=team(inviter), inviter=inviter.user, role="viewer", email="g@example.com"
        )
    assert str(mail.outbox[0].body).startswith("A member invites you to the workspace “Team” at sho.rt.")
    User.objects.all().delete()
    submit(strict_browser(), "password/reset/", email=email)
    assert "a new password for your account at sho.rt." in str(mail.outbox[1].body)
