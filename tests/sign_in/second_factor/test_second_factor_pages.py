"""Second factors: set up, used and removed on pages."""

from __future__ import annotations

from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.second_factor import FAILURES_IN_A_ROW
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.accounts.accounts import log_in as api_log_in
from testing.sign_in.pages import browser, logged_in
from testing.sign_in.passkeys import Passkey
from testing.sign_in.totp import STEP_SECONDS, add_passkey, add_totp, code, wrong_code
from testing.sign_in.totp import clock as clock
from tests.sign_in.second_factor.factors import confirm, log_in, set_up

# Recovery codes are created after the commit of an authenticator app.
pytestmark = pytest.mark.django_db(transaction=True)


def send_code(client: Client, text: str) -> Any:
    return client.post("/accounts/2fa/authenticate/", {"code": text})


def test_setting_up_requires_the_password_again(alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    response = client.get("/accounts/2fa/totp/activate/")
    assert response["Location"].startswith("/accounts/reauthenticate/")
    assert Authenticator.objects.count() == 0


def test_after_setting_up_a_login_needs_a_code(alice: NewAccount, clock: time_machine.Traveller) -> None:
    secret = set_up(browser())
    client = browser()
    assert log_in(client)["Location"] == "/accounts/2fa/authenticate/"
    assert not logged_in(client)
    assert send_code(client, wrong_code(secret)).status_code == 200
    assert not logged_in(client)
    clock.shift(STEP_SECONDS)
    assert send_code(client, code(secret)).status_code == 302
    assert logged_in(client)


def test_the_code_that_activated_the_app_does_not_log_in(alice: NewAccount) -> None:
    secret = set_up(browser())
    client = browser()
    log_in(client)
    assert send_code(client, code(secret)).status_code == 200
    assert not logged_in(client)


def test_a_wrong_code_activates_nothing(alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    confirm(client)
    secret = client.get("/accounts/2fa/totp/activate/").context["form"].secret
    assert client.post("/accounts/2fa/totp/activate/", {"code": wrong_code(secret)}).status_code == 200
    assert Authenticator.objects.count() == 0


def test_five_wrong_codes_on_the_page_lock_the_api_too(alice: NewAccount) -> None:
    add_totp(alice.user)
    client = browser()
    log_in(client)
    assert [send_code(client, wrong_code()).status_code for _ in range(6)] == [200] * 5 + [429]
    assert send_code(client, code()).status_code == 429
    body = {"email": "alice@example.com", "password": PASSWORD, "otp": code()}
    assert client.post("/api/auth/login", body, "application/json").status_code == 429
    assert not logged_in(client)


def test_a_recovery_code_logs_in_once(alice: NewAccount) -> None:
    recovery_code, *_ = add_totp(alice.user)
    for expected in (True, False):
        client = browser()
        log_in(client)
        send_code(client, recovery_code)
        assert logged_in(client) is expected


def test_the_password_alone_opens_no_page(alice: NewAccount) -> None:
    add_totp(alice.user)
    User.objects.update(is_staff=True, is_superuser=True)
    client = browser()
    log_in(client)
    for path in ("/accounts/", "/accounts/2fa/", "/accounts/password/change/", "/admin/"):
        assert client.get(path).status_code == 302, path
    assert client.get("/admin/", follow=True).redirect_chain[-1][0].startswith("/accounts/2fa/authenticate/")


def test_recovery_codes_are_shown_only_after_the_password(alice: NewAccount) -> None:
    codes = add_totp(alice.user)
    client = browser()
    client.force_login(alice.user)
    assert client.get("/accounts/2fa/recovery-codes/")["Location"].startswith("/accounts/reauthenticate/")
    confirm(client)
    shown = client.get("/accounts/2fa/recovery-codes/").content.decode()
    assert [text for text in codes if text not in shown] == []


def test_unreadable_second_factors_are_reported_on_the_page(alice: NewAccount, settings: Settings) -> None:
    """They are so after SECRET_KEY was replaced, and its former value removed."""
    recovery_code, *_ = add_totp(alice.user)
    client = browser()
    settings.SECRET_KEY = "another-secret-" + "y" * 50
    log_in(client)
    for text in (code(), recovery_code):
        response = send_code(client, text)
        assert response.status_code == 200
        assert "can no longer read the secret" in response.content.decode()
    assert not logged_in(client)


def test_unreadable_recovery_codes_can_be_replaced(alice: NewAccount, settings: Settings) -> None:
    add_totp(alice.user)
    settings.SECRET_KEY = "another-secret-" + "y" * 50
    client = browser()
    client.force_login(alice.user)
    confirm(client)
    for page in ("", "recovery-codes/", "recovery-codes/generate/", "recovery-codes/download/"):
        response = client.get(f"/accounts/2fa/{page}")
        assert response.status_code == 409
        assert "Generate new recovery codes" in response.content.decode()
    assert client.post("/accounts/2fa/recovery-codes/generate/").status_code == 302
    for page in ("", "recovery-codes/"):
        assert client.get(f"/accounts/2fa/{page}").status_code == 200


@pytest.mark.parametrize("required", ["none", "staff", "all"])
def test_the_last_factor_can_be_removed_unless_it_is_required(
    required: str, alice: NewAccount, settings: Settings
) -> None:
    settings.REQUIRE_2FA = required
    add_totp(alice.user)
    client = browser()
    client.force_login(alice.user)
    confirm(client)
    client.post("/accounts/2fa/totp/deactivate/")
    left = set(Authenticator.objects.values_list("type", flat=True))
    assert left == ({"totp", "recovery_codes"} if required == "all" else set())


@pytest.mark.parametrize(("required", "status"), [("none", 200), ("staff", 302), ("all", 302)])
def test_the_admin_opens_only_with_the_factor_that_is_required(
    required: str, status: int, alice: NewAccount, settings: Settings, clock: time_machine.Traveller
) -> None:
    settings.REQUIRE_2FA = required
    User.objects.update(is_staff=True, is_superuser=True)
    client = browser()
    response = log_in(client)
    assert response["Location"] == ("/dashboard/overview" if required == "none" else "/accounts/2fa/")
    assert client.get("/admin/").status_code == status
    if status == 302:
        assert client.get("/admin/", follow=True).redirect_chain[-1][0] == "/accounts/2fa/"
        set_up(client)
        assert client.get("/admin/").status_code == 200


def test_sessions_that_lack_the_required_factor_are_not_renewed(
    alice: NewAccount, settings: Settings
) -> None:
    """They may have begun before REQUIRE_2FA was set."""
    client = browser()
    refresh = {"refreshToken": api_log_in(alice.user).refresh}
    settings.REQUIRE_2FA = "all"
    assert client.post("/api/auth/refresh", refresh, "application/json").status_code == 401
    add_totp(alice.user)
    assert client.post("/api/auth/refresh", refresh, "application/json").status_code == 200


def test_only_the_owner_sees_and_removes_a_passkey(alice: NewAccount, stranger: NewAccount) -> None:
    add_passkey(alice.user)
    key = Authenticator.objects.get()
    client = browser()
    client.force_login(stranger.user)
    confirm(client)
    for page in ("remove", "edit"):
        path = f"/accounts/2fa/webauthn/keys/{key.pk}/{page}/"
        assert (client.get(path).status_code, client.post(path, {"name": "x"}).status_code) == (404, 404)
    assert Authenticator.objects.get().data["name"] == "Key"


def test_a_hanging_mail_server_does_not_undo_a_second_factor(
    alice: NewAccount, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database ends transactions that wait for it, so the mail is sent after the commit."""
    settings.SENDS_MAIL = True
    in_transaction = []

    def send(*_: object) -> int:
        in_transaction.append(connection.in_atomic_block)
        return 1

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", send)
    set_up(browser())
    assert set(in_transaction) == {False}


def test_the_page_says_that_codes_are_locked(alice: NewAccount) -> None:
    recovery_code, *_ = add_totp(alice.user)
    app = Authenticator.objects.get(type="totp")
    app.data["failures"] = FAILURES_IN_A_ROW
    app.save()
    client = browser()
    log_in(client)
    response = send_code(client, code())
    assert "Use a recovery code, or choose a new password." in response.content.decode()
    assert not logged_in(client)
    assert send_code(client, recovery_code).status_code == 302
    assert logged_in(client)


def test_the_first_factor_ends_all_other_sessions(alice: NewAccount) -> None:
    """A thief may have one of them."""
    own, other, api = browser(), browser(), bearer_client(alice.user)
    log_in(other)
    set_up(own)
    assert "All other sessions of your account were ended." in own.get("/accounts/").content.decode()
    assert (logged_in(own), logged_in(other)) == (True, False)
    assert api.get("/api/auth/me").status_code == 401


def test_another_factor_ends_no_session(alice: NewAccount, settings: Settings) -> None:
    settings.BASE_URL = "https://sho.rt"
    add_totp(alice.user)
    own, api = browser(), bearer_client(alice.user)
    own.force_login(alice.user)
    confirm(own)
    own.get("/accounts/2fa/webauthn/add/")
    key = Passkey("sho.rt", "https://sho.rt")
    own.post("/accounts/2fa/webauthn/add/", {"name": "Key", "credential": key.register(own)})
    assert Authenticator.objects.filter(type="webauthn").count() == 1
    assert api.get("/api/auth/me").status_code == 200


def test_required_factors_are_set_up_in_the_session_that_asks(alice: NewAccount, settings: Settings) -> None:
    settings.REQUIRE_2FA = "all"
    client = browser()
    set_up(client)
    assert client.post("/dashboard/session/token", headers={"origin": "http://sho.rt"}).status_code == 200
