"""The second factor of a login through the API."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import Session, User
from accounts.second_factor import WrongOtp, use_code
from accounts.services import NewAccount
from testing.accounts.accounts import bearer_client
from testing.attempts import pass_time
from testing.sign_in.totp import STEP_SECONDS, add_passkey, add_totp, code, wrong_code
from testing.sign_in.totp import clock as clock
from tests.accounts.second_factor.codes import log_in, outcome

pytestmark = pytest.mark.django_db


def test_login_without_a_code_asks_for_it(alice: NewAccount, anonymous: APIClient) -> None:
    add_totp(alice.user)
    response = log_in(anonymous)
    assert (response.status_code, response.json()) == (
        401,
        {
            "success": False,
            "message": "This account has a second factor. Repeat the request with a code as otp.",
            "code": "otp_required",
        },
    )
    assert Session.objects.count() == 0


def test_the_same_call_with_a_code_returns_tokens(alice: NewAccount, anonymous: APIClient) -> None:
    add_totp(alice.user)
    response = log_in(anonymous, otp=code())
    assert (response.status_code, sorted(response.json())) == (200, ["refreshToken", "success", "token"])


def test_a_wrong_password_is_reported_before_a_missing_code(alice: NewAccount, anonymous: APIClient) -> None:
    """Otherwise a stranger would learn which accounts have a second factor."""
    add_totp(alice.user)
    for fields in ({}, {"otp": code()}, {"otp": wrong_code()}):
        assert outcome(log_in(anonymous, password="wrong", **fields)) == (401, "not_authenticated")


def test_no_time_step_works_twice(
    alice: NewAccount, anonymous: APIClient, clock: time_machine.Traveller
) -> None:
    add_totp(alice.user)
    used = code()
    assert log_in(anonymous, otp=used).status_code == 200
    assert outcome(log_in(anonymous, otp=used)) == (401, "otp_wrong")
    # Nor does an earlier step that the tolerance for clocks would still accept.
    assert outcome(log_in(anonymous, otp=code(steps_later=-1))) == (401, "otp_wrong")
    clock.shift(STEP_SECONDS)
    assert outcome(log_in(anonymous, otp=used)) == (401, "otp_wrong")
    assert log_in(anonymous, otp=code()).status_code == 200


@pytest.mark.parametrize(("steps", "expected"), [(-2, 401), (-1, 200), (0, 200), (1, 200), (2, 401)])
def test_clocks_may_differ_by_one_step(
    steps: int, expected: int, alice: NewAccount, anonymous: APIClient
) -> None:
    add_totp(alice.user)
    assert log_in(anonymous, otp=code(steps_later=steps)).status_code == expected


@pytest.mark.django_db(transaction=True)
def test_of_twenty_concurrent_uses_of_a_code_one_succeeds(alice: NewAccount) -> None:
    add_totp(alice.user)
    current = code()

    def use(_: int) -> bool:
        try:
            use_code(alice.user, current)
        except Exception:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(20) as threads:
        assert sum(threads.map(use, range(20))) == 1


def test_each_recovery_code_works_once(alice: NewAccount, anonymous: APIClient) -> None:
    first, second, *others = add_totp(alice.user)
    assert len(others) == 8
    statuses = [log_in(anonymous, otp=used).status_code for used in (first, first, second)]
    assert statuses == [200, 401, 200]


def test_after_five_wrong_codes_even_the_right_one_is_refused(
    alice: NewAccount, anonymous: APIClient
) -> None:
    recovery_code, *_ = add_totp(alice.user)
    assert [log_in(anonymous, otp=wrong_code()).status_code for _ in range(6)] == [401] * 5 + [429]
    for right in (code(), recovery_code):
        refused = log_in(anonymous, otp=right)
        assert outcome(refused) == (429, "rate_limited")
        assert refused.headers["RateLimit-Policy"] == '"attempts";q=5;w=900'
    elsewhere = APIClient(headers={"host": "sho.rt"}, REMOTE_ADDR="198.51.100.5")
    assert outcome(log_in(elsewhere, otp=code())) == (429, "rate_limited")

    pass_time(minutes=15)
    assert log_in(anonymous, otp=code()).status_code == 200


def test_right_codes_do_not_count_as_wrong(
    alice: NewAccount, anonymous: APIClient, clock: time_machine.Traveller
) -> None:
    add_totp(alice.user)
    for _ in range(7):
        assert log_in(anonymous, otp=code()).status_code == 200
        clock.shift(STEP_SECONDS)
    assert outcome(log_in(anonymous, otp=wrong_code())) == (401, "otp_wrong")


def test_the_lock_of_one_account_affects_no_other(
    alice: NewAccount, stranger: NewAccount, anonymous: APIClient
) -> None:
    for user in (alice.user, stranger.user):
        add_totp(user)
    assert {log_in(anonymous, otp=wrong_code()).status_code for _ in range(6)} == {401, 429}
    assert log_in(anonymous, "mallory@example.com", otp=code()).status_code == 200


def test_a_code_of_another_account_does_not_work(
    alice: NewAccount, stranger: NewAccount, anonymous: APIClient
) -> None:
    add_totp(alice.user)
    others = add_totp(stranger.user, "JBSWY3DPEHPK3PXP" * 2)
    for wrong in (code("JBSWY3DPEHPK3PXP" * 2), others[0]):
        assert outcome(log_in(anonymous, otp=wrong)) == (401, "otp_wrong")


def test_an_account_without_a_second_factor_ignores_otp(alice: NewAccount, anonymous: APIClient) -> None:
    assert log_in(anonymous, otp="anything").status_code == 200


@pytest.mark.parametrize("text", ["", " ", "ключ", "😀" * 8, "1" * 32, "12 34-56"])
def test_any_text_is_refused_or_wrong(text: str, alice: NewAccount, anonymous: APIClient) -> None:
    add_totp(alice.user)
    assert outcome(log_in(anonymous, otp=text)) in ((400, "validation_error"), (401, "otp_wrong"))


def test_a_code_may_be_typed_in_groups(alice: NewAccount, anonymous: APIClient) -> None:
    add_totp(alice.user)
    typed = code()
    assert log_in(anonymous, otp=f"{typed[:3]} {typed[3:]}").status_code == 200


def test_with_passkeys_only_the_api_takes_a_recovery_code(alice: NewAccount, anonymous: APIClient) -> None:
    recovery_code, *_ = add_totp(alice.user)
    Authenticator.objects.filter(type=Authenticator.Type.TOTP).delete()
    add_passkey(alice.user)
    assert outcome(log_in(anonymous)) == (401, "otp_required")
    assert log_in(anonymous, otp=recovery_code).status_code == 200


def test_me_tells_whether_there_is_a_second_factor(alice: NewAccount, stranger: NewAccount) -> None:
    clients = [bearer_client(alice.user), bearer_client(stranger.user)]
    add_totp(alice.user)
    users = [client.get("/api/auth/me").json()["data"]["user"] for client in clients]
    assert [user["hasTwoFactors"] for user in users] == [True, False]


def test_api_keys_need_no_second_factor(alice: NewAccount, api: APIClient, settings: Settings) -> None:
    settings.REQUIRE_2FA = "all"
    add_totp(alice.user)
    assert api.get("/api/urls").status_code == 200


@pytest.mark.parametrize(
    ("required", "staff", "expected"),
    [
        ("none", False, 200),
        ("none", True, 200),
        ("staff", False, 200),
        ("staff", True, 403),
        ("all", False, 403),
        ("all", True, 403),
    ],
)
def test_accounts_that_need_a_second_factor_cannot_log_in_without(
    required: str, *, staff: bool, expected: int, settings: Settings, alice: NewAccount, anonymous: APIClient
) -> None:
    settings.REQUIRE_2FA = required
    User.objects.filter(pk=alice.user.pk).update(is_staff=staff)
    response = log_in(anonymous)
    assert response.status_code == expected
    if expected == 403:
        assert outcome(response) == (403, "second_factor_required")
        add_totp(alice.user)
        assert log_in(anonymous, otp=code()).status_code == 200


def test_a_login_without_second_factor_takes_one_query_more(alice: NewAccount, anonymous: APIClient) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert log_in(anonymous).status_code == 200
    assert len([query for query in queries if "mfa_authenticator" in query["sql"]]) == 1


def test_a_used_code_stays_used_after_a_failed_use(alice: NewAccount, clock: time_machine.Traveller) -> None:
    add_totp(alice.user)
    used = code()
    use_code(alice.user, used)
    clock.shift(timedelta(seconds=1))
    for _ in range(2):
        with pytest.raises(WrongOtp):
            use_code(alice.user, used)
