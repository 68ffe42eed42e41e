"""The account's API key: its form, how it is read and replaced, and where a request has it."""

from __future__ import annotations

import logging
import re
import string
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts import api_keys
from accounts.models import ApiKey, User
from accounts.services import NewAccount, read_api_key, rotate_api_key
from testing.accounts.accounts import PASSWORD, account, bearer_client, key_status, log_in
from testing.cases import for_each

NOT_GIVEN = {
    "success": False,
    "message": "Authentication credentials were not provided.",
    "code": "not_authenticated",
}
TOKEN_ONLY = "This endpoint takes a Bearer token from POST /api/auth/login, not an API key."


@pytest.fixture
def alice(db: None) -> NewAccount:
    """Has no usable password: no test here logs in, and hashing one takes time."""
    user = User.objects.create(email="alice@example.com", password="!")
    return NewAccount(user, PASSWORD, rotate_api_key(user=user))


def rotate(client: APIClient) -> str:
    response = client.post("/api/auth/regenerate-api-key")
    body = response.json()
    assert (response.status_code, body) == (200, {"success": True, "apiKey": body["apiKey"]})
    return body["apiKey"]


def read(client: APIClient) -> object:
    response = client.get("/api/auth/api-key")
    assert response.status_code == 200
    return response.json()


def test_key_is_a_prefix_thirty_two_random_characters_and_a_checksum(alice: NewAccount) -> None:
    assert re.fullmatch(r"sl_live_[0-9A-Za-z]{32}[0-9A-Za-z]{6}", alice.api_key, re.ASCII)


def test_checksum_is_crc32_in_base62() -> None:
    """Calculated by hand, as scanners in other languages do."""
    body = "sl_live_" + "0" * 32
    assert api_keys.is_well_formed(body + "3QF6xy") is True


def test_keys_are_unique_and_use_the_whole_alphabet() -> None:
    new_keys = [api_keys.new_key() for _ in range(500)]
    assert len(set(new_keys)) == 500
    assert {character for key in new_keys for character in key[8:40]} == set(
        string.ascii_letters + string.digits
    )
    assert [key for key in new_keys if not api_keys.is_well_formed(key)] == []


@for_each("position", range(46))
def test_one_wrong_character_anywhere_breaks_the_checksum(position: int) -> None:
    key = api_keys.new_key()
    others = set(string.ascii_letters + string.digits + "_- é\0\n") - {key[position]}
    survivors = [
        other for other in others if api_keys.is_well_formed(key[:position] + other + key[position + 1 :])
    ]
    assert survivors == []


@for_each("position", range(8, 39))
def test_two_swapped_neighbours_break_the_checksum(position: int) -> None:
    key = api_keys.new_key()
    swapped = key[:position] + key[position + 1] + key[position] + key[position + 2 :]
    assert api_keys.is_well_formed(swapped) is (swapped == key)


REFUSED = {"success": False, "message": "The API key is not valid.", "code": "not_authenticated"}
KEY_IN_WRONG_HEADER = "Send an API key in the X-API-Key header, or as Authorization: Bearer."
TOKEN_IN_WRONG_HEADER = "This is a token, not an API key. Send it as Authorization: Bearer."


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


@pytest.mark.parametrize("authorization", ["Bearer {}", "bearer   {} ", "BEARER {}"])
def test_a_key_is_also_taken_as_bearer(
    authorization: str, alice: NewAccount, anonymous: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    response = anonymous.get("/api/urls", headers={"authorization": authorization.format(alice.api_key)})

    assert response.status_code == 200
    assert [record for record in caplog.records if alice.api_key[8:] in str(record.__dict__)] == []
    wrong = anonymous.get("/api/urls", headers={"authorization": authorization.format(api_keys.new_key())})
    assert (wrong.status_code, wrong.json()) == (401, REFUSED)


@pytest.mark.parametrize("scheme", ["ApiKey", "Api-Key", "Token", "Basic"])
def test_a_key_with_another_scheme_is_refused(scheme: str, alice: NewAccount, anonymous: APIClient) -> None:
    response = anonymous.get("/api/urls", headers={"authorization": f"{scheme} {alice.api_key}"})
    assert (response.status_code, response.json()) == (401, {**NOT_GIVEN, "message": KEY_IN_WRONG_HEADER})


@pytest.mark.parametrize(
    ("path", "authorization", "message"),
    [
        ("/api/urls", "{}", KEY_IN_WRONG_HEADER),
        ("/api/auth/api-key", "{}", TOKEN_ONLY),
        ("/api/auth/api-key", "Bearer {}", TOKEN_ONLY),
    ],
)
def test_a_key_in_the_wrong_place_is_neither_returned_nor_logged(
    path: str,
    authorization: str,
    message: str,
    alice: NewAccount,
    anonymous: APIClient,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)

    response = anonymous.get(path, headers={"authorization": authorization.format(alice.api_key)})

    assert (response.status_code, response.json()) == (401, {**NOT_GIVEN, "message": message})
    assert alice.api_key[8:] not in str(dict(response.items()))
    assert alice.api_key[8:] not in caplog.text
    assert [record for record in caplog.records if alice.api_key[8:] in str(record.__dict__)] == []


def test_a_token_in_the_header_of_keys_is_told_where_it_belongs(
    alice: NewAccount, anonymous: APIClient
) -> None:
    token = log_in(alice.user).access

    response = anonymous.get("/api/urls", headers={"x-api-key": token})

    assert (response.status_code, response.json()) == (401, {**NOT_GIVEN, "message": TOKEN_IN_WRONG_HEADER})


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


@pytest.mark.parametrize(("method", "path"), [("get", "api-key"), ("post", "regenerate-api-key")])
def test_a_key_cannot_read_or_replace_itself(
    method: str, path: str, alice: NewAccount, api: APIClient
) -> None:
    response = getattr(api, method)(f"/api/auth/{path}")
    assert (response.status_code, response.json(), response.headers["WWW-Authenticate"]) == (
        401,
        {**NOT_GIVEN, "message": TOKEN_ONLY},
        'Bearer realm="api"',
    )
    assert key_status(alice.api_key) == 200


@pytest.mark.parametrize("key", ["", "wrong", api_keys.new_key()], ids=["empty", "malformed", "unknown"])
def test_the_refusal_of_an_invalid_key_does_not_say_that_a_token_is_required(
    key: str, db: None, anonymous: APIClient
) -> None:
    response = anonymous.get("/api/auth/api-key", headers={"x-api-key": key})
    assert (response.status_code, response.json()) == (401, NOT_GIVEN)


def test_owner_reads_the_current_key(alice: NewAccount, stranger: NewAccount) -> None:
    assert read(bearer_client(alice.user)) == {"success": True, "apiKey": alice.api_key}
    assert read(bearer_client(stranger.user)) == {"success": True, "apiKey": stranger.api_key}


def test_a_key_sent_with_a_token_is_allowed(alice: NewAccount, bearer: APIClient) -> None:
    response = bearer.get("/api/auth/api-key", headers={"x-api-key": alice.api_key})
    assert response.json() == {"success": True, "apiKey": alice.api_key}


def test_responses_that_contain_a_key_are_not_cached(bearer: APIClient) -> None:
    responses = [bearer.get("/api/auth/api-key"), bearer.post("/api/auth/regenerate-api-key")]
    assert [response.headers["Cache-Control"] for response in responses] == ["no-store", "no-store"]


def test_account_without_a_key_reads_null_and_can_create_one(alice: NewAccount, bearer: APIClient) -> None:
    ApiKey.objects.all().delete()
    assert read(bearer) == {"success": True, "apiKey": None}
    key = rotate(bearer)
    assert key_status(key) == 200
    assert read(bearer) == {"success": True, "apiKey": key}


@pytest.mark.parametrize("body", [None, {}, {"apiKey": "sl_live_chosen", "user": 1}])
def test_caller_cannot_choose_the_new_key(body: object, alice: NewAccount, bearer: APIClient) -> None:
    response = bearer.post("/api/auth/regenerate-api-key", body)
    key = response.json()["apiKey"]
    assert response.status_code == 200
    assert key != alice.api_key
    assert api_keys.is_well_formed(key)


def test_each_of_twenty_rotations_leaves_one_valid_key(alice: NewAccount, bearer: APIClient) -> None:
    dead: list[str] = []
    living = alice.api_key
    for _ in range(20):
        assert key_status(living) == 200
        dead.append(living)
        living = rotate(bearer)
        assert read(bearer) == {"success": True, "apiKey": living}
        assert key_status(dead[-1]) == 401
    assert len({living, *dead}) == 21
    assert [key_status(key) for key in [*dead, living]] == [*[401] * 20, 200]


def test_rotation_does_not_affect_other_accounts(
    stranger: NewAccount, strange_api: APIClient, bearer: APIClient
) -> None:
    rotate(bearer)
    assert strange_api.get("/api/urls").status_code == 200
    assert read(bearer_client(stranger.user)) == {"success": True, "apiKey": stranger.api_key}


@pytest.mark.django_db(transaction=True)
def test_old_key_is_invalid_on_every_connection_before_the_response() -> None:
    """Checked on another connection, as another worker would."""
    alice = account("alice@example.com")
    bearer = bearer_client(alice.user)

    def statuses(*given: str) -> list[int]:
        try:
            return [key_status(key) for key in given]
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as background:
        old = alice.api_key
        assert background.submit(statuses, old).result() == [200]
        for _ in range(20):
            new = rotate(bearer)
            assert background.submit(statuses, old, new).result() == [401, 200]
            old = new


@pytest.mark.django_db(transaction=True)
def test_concurrent_rotations_leave_one_valid_key_which_is_the_one_read() -> None:
    alice = account("alice@example.com")

    def turn(_: int) -> str:
        try:
            return rotate(bearer_client(alice.user))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        new_keys = list(pool.map(turn, range(16)))
    assert len(set(new_keys)) == 16
    assert ApiKey.objects.count() == 1
    assert [key for key in new_keys if key_status(key) == 200] == [read_api_key(user=alice.user)]
