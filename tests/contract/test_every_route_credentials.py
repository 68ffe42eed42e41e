"""Every route refuses missing, bad and malformed credentials."""

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from testing.accounts.accounts import bearer_client
from testing.accounts.fixtures import alice as alice
from testing.contract.every_route import (
    NOT_GIVEN,
    PRIVATE,
    WITH_A_TOKEN_ONLY,
    Route,
    assert_unauthorized,
    for_every_call,
    send,
)

BAD_KEY = "The API key is not valid."
BAD_TOKEN = "The token is not valid or has expired."


@for_every_call(PRIVATE)
def test_without_a_credential_it_is_401(method: str, route: Route, anonymous: APIClient) -> None:
    assert_unauthorized(send(anonymous, method, route.with_id(), b"{}"), NOT_GIVEN)


@for_every_call(PRIVATE)
def test_with_a_bad_key_it_is_401(method: str, route: Route, anonymous: APIClient, db: None) -> None:
    message = NOT_GIVEN if route.path in WITH_A_TOKEN_ONLY else BAD_KEY
    for key in ("", "wrong", "sl_live_" + "0" * 38, "sl_live_" + "0" * 32 + "3QF6xy"):
        assert_unauthorized(send(anonymous, method, route.with_id(), b"{}", x_api_key=key), message)


@for_every_call(PRIVATE)
def test_with_a_malformed_token_it_is_401(method: str, route: Route, anonymous: APIClient) -> None:
    for authorization in ("Bearer", "Bearer x", "bearer a.b.c", "Bearer é", "Bearer null"):
        response = send(anonymous, method, route.with_id(), b"{}", authorization=authorization)
        assert_unauthorized(response, BAD_TOKEN)


@for_every_call(PRIVATE)
def test_with_another_scheme_it_is_401(method: str, route: Route, anonymous: APIClient) -> None:
    for authorization in ("", "Basic eDp5", "Token x", "x"):
        response = send(anonymous, method, route.with_id(), b"{}", authorization=authorization)
        assert_unauthorized(response, NOT_GIVEN)


@for_every_call(PRIVATE)
@pytest.mark.slow
def test_key_of_a_disabled_account_is_401(
    method: str, route: Route, alice: NewAccount, api: APIClient
) -> None:
    alice.user.is_active = False
    alice.user.save()
    message = NOT_GIVEN if route.path in WITH_A_TOKEN_ONLY else BAD_KEY
    assert_unauthorized(send(api, method, route.with_id(), b"{}"), message)
    assert_unauthorized(send(bearer_client(alice.user), method, route.with_id(), b"{}"), BAD_TOKEN)
