"""The secrets of second factors are sealed, and unreadable ones refuse codes."""

from __future__ import annotations

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import Session
from accounts.second_factor import remove_second_factors
from accounts.services import NewAccount, create_account
from testing.accounts.accounts import PASSWORD
from testing.sign_in.totp import SECRET, STEP_SECONDS, add_totp, code
from testing.sign_in.totp import clock as clock
from tests.accounts.second_factor.codes import log_in, outcome

pytestmark = pytest.mark.django_db


def replace_secret_key(settings: Settings, *, keeps_former: bool) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY] if keeps_former else []
    settings.SECRET_KEY = "another-secret-" + "y" * 50


def test_the_database_contains_no_secret(alice: NewAccount) -> None:
    codes = add_totp(alice.user)
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert SECRET not in stored
    assert [used for used in codes if used in stored] == []


def test_secrets_sealed_with_a_former_key_still_open(
    alice: NewAccount, anonymous: APIClient, settings: Settings
) -> None:
    add_totp(alice.user)
    replace_secret_key(settings, keeps_former=True)
    assert log_in(anonymous, otp=code()).status_code == 200


@pytest.mark.parametrize("kind", ["app", "recovery code"])
def test_after_a_use_the_former_key_is_not_needed(
    kind: str, alice: NewAccount, anonymous: APIClient, settings: Settings, clock: time_machine.Traveller
) -> None:
    """A use of either also reseals the other one. An account may never use its recovery codes before it needs them."""
    first, second, *_ = add_totp(alice.user)
    replace_secret_key(settings, keeps_former=True)
    assert log_in(anonymous, otp=code() if kind == "app" else first).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    clock.shift(STEP_SECONDS)
    for otp in (code(), second):
        assert log_in(anonymous, otp=otp).status_code == 200
    if kind == "recovery code":
        assert outcome(log_in(anonymous, otp=first)) == (401, "otp_wrong")


def test_unreadable_second_factors_refuse_every_code(
    alice: NewAccount, anonymous: APIClient, settings: Settings
) -> None:
    recovery_code, *_ = add_totp(alice.user)
    replace_secret_key(settings, keeps_former=False)
    for otp in (code(), recovery_code):
        assert outcome(log_in(anonymous, otp=otp)) == (401, "second_factor_unreadable")
    assert outcome(log_in(anonymous)) == (401, "otp_required")
    assert Session.objects.count() == 0
    remove_second_factors(alice.user)
    assert log_in(anonymous).status_code == 200


def test_a_recovery_code_works_although_the_app_is_unreadable(
    alice: NewAccount, anonymous: APIClient, settings: Settings
) -> None:
    add_totp(alice.user)
    replace_secret_key(settings, keeps_former=False)
    codes = Authenticator.objects.get(type=Authenticator.Type.RECOVERY_CODES)
    codes.delete()
    recovery_code, *_ = RecoveryCodes.activate(alice.user).generate_codes()
    assert outcome(log_in(anonymous, otp=code())) == (401, "second_factor_unreadable")
    assert log_in(anonymous, otp=recovery_code).status_code == 200


def test_recovery_codes_alone_are_no_second_factor(anonymous: APIClient) -> None:
    user = create_account(email="bob@example.com", password=PASSWORD).user
    add_totp(user)
    Authenticator.objects.filter(type=Authenticator.Type.TOTP).delete()
    assert log_in(anonymous, "bob@example.com").status_code == 200
