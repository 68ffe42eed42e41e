"""Passkeys whose responses no browser would send: of another site, without a PIN, and malformed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from django.test import Client
from fido2.utils import websafe_decode, websafe_encode
from pytest_django import Settings

from accounts.models import User
from accounts.services import NewAccount, create_account, set_active
from sign_in.forms import COPIED, MAX_PASSKEYS, NOT_ACCEPTED
from testing.accounts.accounts import PASSWORD
from testing.cases import for_each
from testing.sign_in.pages import browser, logged_in
from testing.sign_in.passkeys import Passkey

pytestmark = pytest.mark.django_db
ADD, LOGIN = "/accounts/2fa/webauthn/add/", "/accounts/2fa/webauthn/login/"
AUTHENTICATE, REAUTHENTICATE = "/accounts/2fa/authenticate/", "/accounts/2fa/webauthn/reauthenticate/"
ORIGIN = "https://sho.rt"


@pytest.fixture(autouse=True)
def behind_tls(settings: Settings) -> None:
    """A proxy ends TLS: requests arrive without it."""
    settings.BASE_URL = ORIGIN


def signed_in(account: NewAccount) -> Client:
    client = browser()
    client.force_login(account.user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def log_in_with_password(client: Client, email: str = "alice@example.com") -> None:
    response = client.post("/accounts/login/", {"login": email, "password": PASSWORD})
    assert response["Location"] == AUTHENTICATE


def begin(client: Client) -> None:
    client.get(LOGIN, headers={"x-requested-with": "XMLHttpRequest"})


def add(client: Client, key: Passkey, **fields: str) -> Any:
    client.get(ADD)
    return client.post(ADD, {"name": "Key", "credential": key.register(client), **fields})


@pytest.fixture
def key(alice: NewAccount) -> Passkey:
    key = Passkey("sho.rt", ORIGIN)
    assert add(signed_in(alice), key, passwordless="on").status_code == 302
    return key


def test_a_passkey_logs_in_behind_a_proxy(key: Passkey, alice: NewAccount) -> None:
    client = browser()
    begin(client)
    client.post(LOGIN, {"credential": key.sign(client, alice.user)})
    assert logged_in(client)


def log_in_with(key: Passkey, user: User, counter: int = 0, **changes: Any) -> Client:
    client = browser()
    begin(client)
    client.post(LOGIN, {"credential": key.sign(client, user, counter=counter, **changes)})
    return client


def test_a_passkey_carries_a_random_handle(key: Passkey, alice: NewAccount, stranger: NewAccount) -> None:
    """Not the number of the account, which tells how many there are."""
    pages = [signed_in(account).get(ADD) for account in (alice, alice, stranger)]
    first, again, other = (page.context["js_data"]["creation_options"]["publicKey"]["user"] for page in pages)
    assert first["id"] == again["id"] != other["id"]
    assert [len(websafe_decode(user["id"])) for user in (first, other)] == [64, 64]
    assert logged_in(log_in_with(key, alice.user, userHandle=first["id"]))


def test_a_passkey_from_before_such_handles_logs_in(key: Passkey, alice: NewAccount) -> None:
    former = websafe_encode(str(alice.user.pk).encode())
    assert logged_in(log_in_with(key, alice.user, userHandle=former))


@for_each("counters", [(1, 1), (2, 1), (50, 10), (1, 0)])
@pytest.mark.slow
def test_a_copy_whose_counter_falls_behind_is_refused(
    counters: tuple[int, int],
    key: Passkey,
    alice: NewAccount,
    settings: Settings,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    settings.SENDS_MAIL = True
    mail.outbox.clear()
    used, behind = counters
    stored = Authenticator.objects.get(type="webauthn")
    stored.data.pop("signatures", None)
    stored.save()
    assert logged_in(log_in_with(key, alice.user, used))
    with django_capture_on_commit_callbacks(execute=True):
        client = log_in_with(key, alice.user, behind)
    assert not logged_in(client)
    assert COPIED in client.get("/accounts/login/").content.decode()
    [message] = mail.outbox
    assert (message.to, message.subject) == (["alice@example.com"], "[sho.rt] Passkey refused")
    assert logged_in(log_in_with(key, alice.user, used + 1))


def test_the_counter_of_the_registration_is_the_first(alice: NewAccount) -> None:
    key = Passkey("sho.rt", ORIGIN, counter=7)
    add(signed_in(alice), key, passwordless="on")
    assert not logged_in(log_in_with(key, alice.user, 7))
    assert logged_in(log_in_with(key, alice.user, 8))


def test_a_passkey_that_does_not_count_keeps_working(key: Passkey, alice: NewAccount) -> None:
    assert [logged_in(log_in_with(key, alice.user)) for _ in range(3)] == [True] * 3


def test_the_counter_is_checked_in_second_factors_and_confirmations(key: Passkey, alice: NewAccount) -> None:
    assert logged_in(log_in_with(key, alice.user, 5))
    client = browser()
    log_in_with_password(client)
    client.get(AUTHENTICATE)
    refused = client.post(AUTHENTICATE, {"credential": key.sign(client, alice.user, counter=5)})
    assert COPIED in refused.content.decode()
    assert not logged_in(client)
    confirming = signed_in(alice)
    confirming.get(REAUTHENTICATE)
    path = f"{REAUTHENTICATE}?next=/accounts/2fa/"
    refused = confirming.post(path, {"credential": key.sign(confirming, alice.user, counter=5)})
    assert refused["Location"] == f"{REAUTHENTICATE}?next=%2Faccounts%2F2fa%2F"
    assert COPIED in confirming.get(REAUTHENTICATE).content.decode()


def test_a_refused_passkey_shows_a_message(key: Passkey, alice: NewAccount) -> None:
    client = log_in_with(key, alice.user, signature="AAAA")
    assert NOT_ACCEPTED in client.get("/accounts/login/").content.decode()
    client = browser()
    log_in_with_password(client)
    client.get(AUTHENTICATE)
    response = client.post(AUTHENTICATE, {"credential": key.sign(client, alice.user, signature="AAAA")})
    assert NOT_ACCEPTED in response.content.decode()


def test_a_response_works_once(key: Passkey, alice: NewAccount) -> None:
    client = browser()
    begin(client)
    credential = key.sign(client, alice.user)
    client.post(LOGIN, {"credential": credential})
    client.post("/accounts/logout/")
    client.post(LOGIN, {"credential": credential})
    assert not logged_in(client)


@pytest.mark.parametrize("page", ["login", "second factor"])
def test_without_a_pin_a_key_is_a_second_factor_only(page: str, key: Passkey, alice: NewAccount) -> None:
    client = browser()
    if page == "login":
        begin(client)
        client.post(LOGIN, {"credential": key.sign(client, alice.user, verifies_user=False)})
    else:
        log_in_with_password(client)
        client.get(AUTHENTICATE)
        client.post(AUTHENTICATE, {"credential": key.sign(client, alice.user, verifies_user=False)})
    assert logged_in(client) is (page == "second factor")


def test_the_challenge_of_another_account_s_second_factor_does_not_replace_the_pin(
    key: Passkey, alice: NewAccount, stranger: NewAccount
) -> None:
    """The thief of a security key gets a challenge without user verification by logging in to their own account."""
    add_passkey_to = Passkey("sho.rt", ORIGIN)
    add(signed_in(stranger), add_passkey_to)
    thief = browser()
    log_in_with_password(thief, stranger.user.email)
    thief.get(AUTHENTICATE)
    assert thief.session["mfa.webauthn.state"]["user_verification"] == "preferred"
    # Ends the login that has begun, but keeps the challenge.
    thief.post("/accounts/logout/")
    thief.post(LOGIN, {"credential": key.sign(thief, alice.user, verifies_user=False)})
    assert not logged_in(thief)


@for_each(
    "origin",
    ["https://evil.example", "https://customer.sho.rt", "http://sho.rt", "https://sho.rt:8443", "null", ""],
)
@for_each("page", ["login", "add"])
@pytest.mark.slow
def test_responses_of_another_site_are_refused(
    page: str, origin: str, key: Passkey, alice: NewAccount
) -> None:
    if page == "login":
        key.origin = origin
        client = browser()
        begin(client)
        client.post(LOGIN, {"credential": key.sign(client, alice.user)})
        assert not logged_in(client)
    else:
        assert add(signed_in(alice), Passkey("sho.rt", origin)).status_code == 200
        assert Authenticator.objects.filter(type="webauthn").count() == 1


def test_a_key_of_a_stranger_opens_no_account(key: Passkey, stranger: NewAccount) -> None:
    client = browser()
    begin(client)
    client.post(LOGIN, {"credential": key.sign(client, stranger.user)})
    assert not logged_in(client)


def test_a_passkey_of_a_disabled_account_does_not_log_in(key: Passkey, alice: NewAccount) -> None:
    set_active(user=alice.user, is_active=False)
    client = browser()
    begin(client)
    client.post(LOGIN, {"credential": key.sign(client, alice.user)})
    assert not logged_in(client)


MALFORMED = [
    *("", "[]", "null", "1", '"x"', "{}", '{"response": null}', '{"response": []}', "NaN", "[" * 100_000),
    *('{"id": 1}', '{"response": {"userHandle": 7}}', '{"a": "\\u0000"}', "9" * 10_000, "{" * 50_000),
]


@pytest.mark.slow
@for_each("path", [ADD, LOGIN, AUTHENTICATE, REAUTHENTICATE])
@for_each("credential", MALFORMED)
def test_malformed_responses_are_refused(path: str, credential: str, key: Passkey, alice: NewAccount) -> None:
    if path == LOGIN:
        client = browser()
        begin(client)
    elif path == AUTHENTICATE:
        client = browser()
        log_in_with_password(client)
        client.get(path)
    else:
        client = signed_in(alice)
        client.get(path)
    assert client.post(path, {"credential": credential, "name": "x"}).status_code in {200, 302}
    assert Authenticator.objects.filter(type="webauthn").count() == 1
    assert path not in {LOGIN, AUTHENTICATE} or not logged_in(client)


@for_each(
    "changes",
    [
        {"authenticatorData": ""},
        {"authenticatorData": "AAAA"},
        {"signature": "AAAA"},
        {"signature": None},
        {"clientDataJSON": "AAAA"},
        {"clientDataJSON": "W1tb"},
        {"userHandle": None},
        {"userHandle": 3},
        {"userHandle": "____"},
        {"userHandle": "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5"},
    ],
)
def test_a_response_with_a_malformed_part_is_refused(
    changes: dict[str, Any], key: Passkey, alice: NewAccount
) -> None:
    client = browser()
    begin(client)
    response = client.post(LOGIN, {"credential": key.sign(client, alice.user, **changes)})
    assert response["Location"] == "/accounts/login/"
    assert not logged_in(client)


def test_the_number_of_passkeys_of_an_account_is_limited(key: Passkey, alice: NewAccount) -> None:
    stored = Authenticator.objects.get(type="webauthn")
    for _ in range(MAX_PASSKEYS - 1):
        stored.pk = None
        stored.save(force_insert=True)
    response = add(signed_in(alice), Passkey("sho.rt", ORIGIN))
    assert f"at most {MAX_PASSKEYS} passkeys" in response.content.decode()
    assert Authenticator.objects.filter(type="webauthn").count() == MAX_PASSKEYS


def test_a_name_is_limited(key: Passkey, alice: NewAccount) -> None:
    stored = Authenticator.objects.get(type="webauthn")
    client = signed_in(alice)
    client.post(f"/accounts/2fa/webauthn/keys/{stored.pk}/edit/", {"name": "x" * 101})
    stored.refresh_from_db()
    assert stored.data["name"] == "Key"


def test_operators_passkeys_count_as_the_factor_that_is_required(settings: Settings, db: None) -> None:
    settings.REQUIRE_2FA = "staff"
    operator = create_account(email="operator@example.com", password=PASSWORD, superuser=True)
    client = signed_in(operator)
    assert client.get("/admin/").status_code == 302
    add(client, Passkey("sho.rt", ORIGIN))
    assert client.get("/admin/").status_code == 200
