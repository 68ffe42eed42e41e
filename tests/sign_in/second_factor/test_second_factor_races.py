"""Concurrent changes of the second factors of an account."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection, transaction
from django.test import Client
from pytest_django import Settings

from accounts.services import NewAccount
from sign_in.forms import MAX_PASSKEYS
from testing.accounts.accounts import PASSWORD
from testing.connections import is_a_connection_blocked
from testing.polling import eventually
from testing.sign_in.passkeys import Passkey
from testing.sign_in.totp import add_passkey, add_totp, code

pytestmark = pytest.mark.django_db(transaction=True)
ADD, ACTIVATE = "/accounts/2fa/webauthn/add/", "/accounts/2fa/totp/activate/"
DEACTIVATE = "/accounts/2fa/totp/deactivate/"


def signed_in(account: NewAccount) -> Client:
    client = Client(headers={"host": "sho.rt"})
    client.force_login(account.user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def path_of_removal() -> str:
    passkey = Authenticator.objects.get(type="webauthn")
    return f"/accounts/2fa/webauthn/keys/{passkey.pk}/remove/"


def addition(client: Client) -> Callable[[], Any]:
    """The request that adds a passkey, after the page that it belongs to."""
    client.get(ADD)
    credential = Passkey("sho.rt", "https://sho.rt").register(client)
    return partial(client.post, ADD, {"name": "Key", "credential": credential})


def second_waits_for_first(first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """Starts the second call before the transaction of the first call ends. Returns the second response."""

    def run() -> Any:
        try:
            return second()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as background:
        with transaction.atomic():
            first()
            response = background.submit(run)
            eventually(lambda: is_a_connection_blocked() or response.done())
        return response.result()


@pytest.mark.parametrize("method", ["post", "put"])
def test_concurrent_removals_keep_the_required_factor(
    method: str, alice: NewAccount, settings: Settings
) -> None:
    settings.REQUIRE_2FA = "all"
    add_totp(alice.user)
    add_passkey(alice.user)
    first, second = signed_in(alice), signed_in(alice)
    second_waits_for_first(
        partial(first.post, path_of_removal()), partial(getattr(second, method), DEACTIVATE)
    )
    assert set(Authenticator.objects.values_list("type", flat=True)) == {"totp", "recovery_codes"}


def test_concurrent_additions_do_not_exceed_the_limit_of_passkeys(
    alice: NewAccount, settings: Settings
) -> None:
    settings.BASE_URL = "https://sho.rt"
    assert addition(signed_in(alice))().status_code == 302
    # The first factor has ended all other sessions.
    additions = [addition(signed_in(alice)) for _ in range(2)]
    stored = Authenticator.objects.get(type="webauthn")
    for _ in range(MAX_PASSKEYS - 2):
        stored.pk = None
        stored.save(force_insert=True)
    response = second_waits_for_first(*additions)
    assert f"at most {MAX_PASSKEYS} passkeys" in response.content.decode()
    assert Authenticator.objects.filter(type="webauthn").count() == MAX_PASSKEYS


def counting_passkey(alice: NewAccount) -> Passkey:
    client, key = signed_in(alice), Passkey("sho.rt", "https://sho.rt")
    client.get(ADD)
    client.post(ADD, {"name": "Key", "credential": key.register(client), "passwordless": "on"})
    return key


def login(key: Passkey, alice: NewAccount, counter: int) -> Callable[[], Any]:
    client = Client(headers={"host": "sho.rt"})
    path = "/accounts/2fa/webauthn/login/"
    client.get(path, headers={"x-requested-with": "XMLHttpRequest"})
    return partial(client.post, path, {"credential": key.sign(client, alice.user, counter=counter)})


def test_of_two_copies_that_log_in_at_once_one_is_refused(alice: NewAccount, settings: Settings) -> None:
    settings.BASE_URL = "https://sho.rt"
    key = counting_passkey(alice)
    response = second_waits_for_first(login(key, alice, 5), login(key, alice, 5))
    assert response["Location"] == "/accounts/login/"


def test_a_new_name_does_not_bring_a_former_counter_back(alice: NewAccount, settings: Settings) -> None:
    settings.BASE_URL = "https://sho.rt"
    key = counting_passkey(alice)
    client = signed_in(alice)
    path = path_of_removal().replace("remove", "edit")
    response = second_waits_for_first(login(key, alice, 5), partial(client.post, path, {"name": "Blue"}))
    assert response.status_code == 302
    stored = Authenticator.objects.get(type="webauthn")
    assert (stored.data["name"], stored.data["signatures"]) == ("Blue", 5)


def test_second_concurrent_activation_of_an_app_is_redirected(alice: NewAccount) -> None:
    activations = []
    for client in (signed_in(alice), signed_in(alice)):
        secret = client.get(ACTIVATE).context["form"].secret
        activations.append(partial(client.post, ACTIVATE, {"code": code(secret)}))
    response = second_waits_for_first(*activations)
    assert (response.status_code, response["Location"]) == (302, DEACTIVATE)
    assert Authenticator.objects.filter(type="totp").count() == 1


def test_passkey_is_not_removed_by_the_method_delete(alice: NewAccount, settings: Settings) -> None:
    """Django's view would remove it without the check whether it is required."""
    settings.REQUIRE_2FA = "all"
    add_passkey(alice.user)
    assert signed_in(alice).delete(path_of_removal()).status_code == 405
    assert Authenticator.objects.filter(type="webauthn").count() == 1
