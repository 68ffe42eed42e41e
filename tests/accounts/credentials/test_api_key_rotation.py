"""Reading and replacing an API key."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts import api_keys
from accounts.models import ApiKey
from accounts.services import NewAccount, read_api_key
from testing.accounts.accounts import account, bearer_client, key_status
from tests.accounts.credentials.api_keys import NOT_GIVEN, TOKEN_ONLY, read, rotate
from tests.accounts.credentials.api_keys import alice as alice


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
