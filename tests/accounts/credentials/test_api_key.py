import logging

import pytest
from django.db import connection
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts import api_keys
from accounts.models import ApiKey
from accounts.services import NewAccount
from testing.accounts.accounts import bearer_client, key_status
from tests.accounts.credentials.api_keys import NOT_GIVEN, TOKEN_ONLY, read, rotate
from tests.accounts.credentials.api_keys import alice as alice

REFUSED = {"success": False, "message": "The API key is not valid.", "code": "not_authenticated"}
KEY_IN_WRONG_HEADER = "This is an API key, not a token. Send it in the X-API-Key header."


def test_an_almost_correct_key_is_refused(alice: NewAccount, anonymous: APIClient) -> None:
    key = alice.api_key
    nearly = {
        "empty": "",
        "space": " ",
        "prefix only": "sl_live_",
        "without prefix": key[8:],
        "other prefix": "sl_test_" + key[8:],
        "capital prefix": "SL_LIVE_" + key[8:],
        "last character cut": key[:-1],
        "first character cut": key[1:],
        "without checksum": key[:-6],
        "one more character": key + "0",
        "twice": key + key,
        "space before": " " + key,
        "space after": key + " ",
        "newline after": key + "\n",
        "NUL after": key + "\0",
        "tab after": key + "\t",
        "quoted": f'"{key}"',
        "list": f"{key}, {key}",
        "scheme": f"Bearer {key}",
        "swapped case": key[:8] + key[8:].swapcase(),
        "upper case": key.upper(),
        "lower case": key.lower(),
        "reversed": key[::-1],
        "percent-encoded": key.replace("_", "%5F"),
        "not ASCII": key[:-1] + "é",
        "superscript digits": "sl_live_" + "²" * 38,
        "its digest": api_keys.digest(key).hex(),
        "sealed copy": bytes(ApiKey.objects.get().sealed).hex(),
        "SQL": "' OR 1=1 --",
        "wildcard": "%",
        "64 KB": "x" * 65_536,
        "well formed, never issued": api_keys.new_key(),
        "null": "null",
    }
    responses = {}
    for name, forged in nearly.items():
        response = anonymous.get("/api/urls", headers={"x-api-key": forged})
        responses[name] = (response.status_code, response.json(), response.headers["WWW-Authenticate"])
    assert responses == dict.fromkeys(nearly, (401, REFUSED, 'Bearer realm="api"'))
    assert key_status(key) == 200


def test_a_wrong_key_is_refused_even_with_a_valid_token(bearer: APIClient) -> None:
    response = bearer.get("/api/urls", headers={"x-api-key": "wrong"})
    assert (response.status_code, response.json()) == (401, REFUSED)


# Where a request may contain it


@pytest.mark.parametrize("name", ["apiKey", "api_key", "apikey", "key", "X-API-Key", "x-api-key", "token"])
def test_key_is_accepted_only_in_the_header(name: str, alice: NewAccount, anonymous: APIClient) -> None:
    responses = [
        anonymous.get("/api/urls", {name: alice.api_key}),
        anonymous.post(f"/api/urls?{name}={alice.api_key}", {"originalUrl": "https://example.com/"}),
        anonymous.post("/api/urls", {"originalUrl": "https://example.com/", name: alice.api_key}),
        anonymous.get("/api/urls", headers={"cookie": f"{name}={alice.api_key}"}),
    ]
    assert [(response.status_code, response.json()) for response in responses] == [(401, NOT_GIVEN)] * 4


@pytest.mark.parametrize("scheme", ["Bearer", "ApiKey", "Api-Key", "Token", "Basic"])
def test_key_in_the_authorization_header_is_refused(
    scheme: str, alice: NewAccount, anonymous: APIClient
) -> None:
    response = anonymous.get("/api/urls", headers={"authorization": f"{scheme} {alice.api_key}"})
    assert (response.status_code, response.json()) == (401, {**NOT_GIVEN, "message": KEY_IN_WRONG_HEADER})


@pytest.mark.parametrize("path", ["/api/urls", "/api/auth/api-key"])
def test_a_key_in_the_wrong_header_is_neither_returned_nor_logged(
    path: str, alice: NewAccount, anonymous: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for authorization in (f"Bearer {alice.api_key}", alice.api_key, f"bearer   {alice.api_key} "):
        response = anonymous.get(path, headers={"authorization": authorization})
        message = KEY_IN_WRONG_HEADER if path == "/api/urls" else TOKEN_ONLY
        assert (response.status_code, response.json()) == (401, {**NOT_GIVEN, "message": message})
        assert alice.api_key[8:] not in str(dict(response.items()))
    assert alice.api_key[8:] not in caplog.text
    assert [record for record in caplog.records if alice.api_key[8:] in str(record.__dict__)] == []


# How long it is valid


def test_key_of_a_disabled_account_is_invalid_until_it_is_enabled(alice: NewAccount) -> None:
    alice.user.is_active = False
    alice.user.save()
    assert key_status(alice.api_key) == 401
    alice.user.is_active = True
    alice.user.save()
    assert key_status(alice.api_key) == 200


def test_key_of_a_deleted_account_is_invalid(alice: NewAccount) -> None:
    alice.user.delete()
    assert key_status(alice.api_key) == 401
    assert ApiKey.objects.count() == 0


def test_key_stays_valid_after_a_change_of_password(alice: NewAccount) -> None:
    alice.user.set_password("another good password")
    alice.user.save()
    assert key_status(alice.api_key) == 200


# How it is stored


def everything_stored() -> str:
    """Every row of every table of accounts and limits, text as it is and bytes both as text and in hexadecimal."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = 'public' AND table_name SIMILAR TO '(accounts|limits)\\_%'"
        )
        columns = cursor.fetchall()
        assert {"accounts_user", "accounts_apikey", "limits_attemptlog"} <= {row[0] for row in columns}
        texts = []
        for table, column, kind in columns:
            forms = ["encode({}, 'escape')", "encode({}, 'hex')"] if kind == "bytea" else ["{}::text"]
            for form in forms:
                cursor.execute(f'SELECT {form.format(column)} FROM "{table}"')
                texts += [str(value) for (value,) in cursor.fetchall()]
    return "\n".join(texts)


def test_no_table_contains_a_key_or_a_password(stranger: NewAccount) -> None:
    key = rotate(bearer_client(stranger.user))
    dump = everything_stored()
    assert api_keys.digest(key).hex() in dump
    secrets = [stranger.api_key, key, key[8:40], key[8:], stranger.password]
    written = [form for secret in secrets for form in (secret, secret.encode().hex(), secret[::-1])]
    assert [form for form in written if form in dump] == []


def test_row_contains_a_digest_and_an_encrypted_copy_of_fixed_size(alice: NewAccount) -> None:
    row = ApiKey.objects.get(user=alice.user)
    assert bytes(row.digest) == api_keys.digest(alice.api_key)
    assert len(row.digest) == 32
    assert len(row.sealed) == 12 + 46 + 16


def test_encrypting_the_same_key_twice_gives_different_copies() -> None:
    key = api_keys.new_key()
    assert len({api_keys.seal(key, "account", "secret") for _ in range(100)}) == 100


def test_encrypted_copy_is_readable_only_with_its_account_and_secret() -> None:
    key = api_keys.new_key()
    sealed = api_keys.seal(key, "alice", "secret")
    assert api_keys.unseal(sealed, "alice", ["secret"]) == key
    assert api_keys.unseal(sealed, "alice", ["new", "older", "secret"]) == key
    assert api_keys.unseal(sealed, "mallory", ["secret"]) is None
    assert api_keys.unseal(sealed, "alice", ["other"]) is None
    assert api_keys.unseal(sealed, "alice", []) is None


@pytest.mark.parametrize("position", [0, 11, 12, 40, 57, 58, -1])
def test_modified_encrypted_copy_is_unreadable(position: int) -> None:
    sealed = bytearray(api_keys.seal(api_keys.new_key(), "alice", "secret"))
    sealed[position] ^= 1
    assert api_keys.unseal(bytes(sealed), "alice", ["secret"]) is None


def test_encrypted_copy_moved_to_another_account_is_unreadable(
    alice: NewAccount, stranger: NewAccount
) -> None:
    stolen = ApiKey.objects.get(user=alice.user).sealed
    ApiKey.objects.filter(user=stranger.user).update(sealed=stolen)
    assert read(bearer_client(stranger.user)) == {"success": True, "apiKey": None}


def test_a_fallback_secret_still_decrypts(alice: NewAccount, bearer: APIClient, settings: Settings) -> None:
    former = settings.SECRET_KEY
    settings.SECRET_KEY = "the-new-secret-" + "y" * 50
    settings.SECRET_KEY_FALLBACKS = ["an-older-one", former]
    assert read(bearer) == {"success": True, "apiKey": alice.api_key}
    assert key_status(alice.api_key) == 200


def test_after_losing_the_secret_the_copy_is_unreadable_but_the_key_works(
    alice: NewAccount, bearer: APIClient, settings: Settings
) -> None:
    settings.SECRET_KEY = "the-new-secret-" + "y" * 50
    assert read(bearer) == {"success": True, "apiKey": None}
    assert key_status(alice.api_key) == 200


def test_new_key_is_encrypted_with_the_current_secret(
    alice: NewAccount, bearer: APIClient, settings: Settings
) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the-new-secret-" + "y" * 50
    key = rotate(bearer)
    settings.SECRET_KEY_FALLBACKS = []
    assert read(bearer) == {"success": True, "apiKey": key}
