"""Wrong codes in a row: the owner's mail, and what still opens the account."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.admin import PasswordForm
from accounts.models import User
from accounts.second_factor import FAILURES_IN_A_ROW
from accounts.services import NewAccount, set_password
from testing.attempts import pass_time
from testing.sign_in.totp import add_passkey, add_totp, code, wrong_code
from testing.sign_in.totp import clock as clock
from testing.threads import at_once
from tests.accounts.second_factor.codes import log_in, outcome

# Mails are sent after the commit.
pytestmark = pytest.mark.django_db(transaction=True)
NEW = "another good password"


@pytest.fixture(autouse=True)
def sends_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True


def fail(client: APIClient, times: int) -> None:
    for number in range(times):
        if number % 5 == 0:
            pass_time(minutes=15)
        assert outcome(log_in(client, otp=wrong_code())) == (401, "otp_wrong")


def almost_lock(user: User) -> None:
    """Count one wrong code less than locks the app."""
    app = Authenticator.objects.get(user=user, type="totp")
    app.data["failures"] = FAILURES_IN_A_ROW - 1
    app.save()


def test_the_owner_gets_a_mail_once_codes_are_refused(alice: NewAccount, anonymous: APIClient) -> None:
    add_totp(alice.user)
    fail(anonymous, 4)
    assert mail.outbox == []
    fail(anonymous, 1)
    [message] = mail.outbox
    assert (message.to, message.subject) == (["alice@example.com"], "[sho.rt] Wrong codes")
    assert "Somebody who knows your password entered 5 wrong codes" in str(message.body)
    # Not one for each lock: the owner knows.
    fail(anonymous, 10)
    assert len(mail.outbox) == 1


def test_a_right_code_begins_anew(alice: NewAccount, anonymous: APIClient) -> None:
    add_totp(alice.user)
    fail(anonymous, 4)
    assert log_in(anonymous, otp=code()).status_code == 200
    fail(anonymous, 4)
    assert mail.outbox == []


@pytest.mark.slow
def test_after_a_hundred_in_a_row_codes_of_the_app_are_refused(
    alice: NewAccount, anonymous: APIClient
) -> None:
    recovery_code, *_ = add_totp(alice.user)
    fail(anonymous, FAILURES_IN_A_ROW)
    pass_time(minutes=15)
    assert [message.subject for message in mail.outbox] == ["[sho.rt] Wrong codes"] * 2
    assert "until you use a recovery code or choose a new password" in str(mail.outbox[1].body)
    for text in (code(), wrong_code()):
        assert outcome(log_in(anonymous, otp=text)) == (401, "otp_locked")
    assert log_in(anonymous, otp=recovery_code).status_code == 200
    assert log_in(anonymous, otp=code()).status_code == 200


@pytest.mark.parametrize("way", ["page", "operator"])
def test_a_new_password_ends_the_lock(way: str, alice: NewAccount, anonymous: APIClient) -> None:
    add_totp(alice.user)
    almost_lock(alice.user)
    fail(anonymous, 1)
    assert outcome(log_in(anonymous, otp=code())) == (401, "otp_locked")
    if way == "page":
        set_password(alice.user, NEW)
    else:
        form = PasswordForm(alice.user, {"password1": NEW, "password2": NEW})
        assert form.is_valid()
        form.save()
    assert log_in(anonymous, password=NEW, otp=code()).status_code == 200


def test_a_new_app_begins_anew(alice: NewAccount, anonymous: APIClient) -> None:
    add_totp(alice.user)
    almost_lock(alice.user)
    Authenticator.objects.all().delete()
    add_totp(alice.user)
    fail(anonymous, 1)
    assert log_in(anonymous, otp=code()).status_code == 200


def test_an_account_with_passkeys_and_recovery_codes_counts_too(
    alice: NewAccount, anonymous: APIClient
) -> None:
    recovery_code, *_ = add_totp(alice.user)
    add_passkey(alice.user)
    Authenticator.objects.filter(type="totp").delete()
    fail(anonymous, 5)
    assert len(mail.outbox) == 1
    pass_time(minutes=15)
    assert log_in(anonymous, otp=recovery_code).status_code == 200
    assert log_in(anonymous, otp=recovery_code).status_code == 401


def test_concurrent_codes_are_all_counted(alice: NewAccount) -> None:
    add_totp(alice.user)
    wrong = wrong_code()
    answers = at_once([lambda: log_in(APIClient(headers={"host": "sho.rt"}), otp=wrong).status_code] * 5)
    failed = answers.count(401)
    assert set(answers) <= {401, 429}
    assert failed >= 1
    assert Authenticator.objects.get(type="totp").data["failures"] == failed
    assert len(mail.outbox) == (1 if failed == 5 else 0)


def test_without_a_mail_server_codes_are_counted(
    alice: NewAccount, anonymous: APIClient, settings: Settings
) -> None:
    settings.SENDS_MAIL = False
    add_totp(alice.user)
    almost_lock(alice.user)
    fail(anonymous, 1)
    assert outcome(log_in(anonymous, otp=code())) == (401, "otp_locked")
    assert mail.outbox == []
