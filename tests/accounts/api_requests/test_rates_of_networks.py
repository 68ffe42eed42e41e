"""The limits of networks, for requests without a valid credential."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from pytest_django.fixtures import Settings

from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD
from tests.accounts.api_requests.rate_limits import ELSEWHERE, HERE, NEXT_DOOR, from_address, statuses
from tests.accounts.api_requests.rate_limits import limits as limits


@pytest.mark.parametrize(
    "headers",
    [{}, {"x-api-key": "sl_live_" + "0" * 32 + "3QF6xy"}, {"authorization": "Bearer x"}, {"authorization": "Basic x"}],
)  # fmt: skip
def test_without_a_valid_credential_the_limit_of_the_network_applies(
    headers: dict[str, str], db: None
) -> None:
    client = from_address(HERE, **headers)

    assert statuses(client, 6) == [401] * 4 + [429] * 2
    assert statuses(from_address(NEXT_DOOR), 1) == [429]
    assert statuses(from_address(ELSEWHERE, **headers), 1) == [401]


def test_public_endpoints_count_for_the_network_too(db: None) -> None:
    client = from_address(HERE)
    body = {"refreshToken": "x"}

    first = client.post("/api/auth/refresh", body)
    assert (first.status_code, first["RateLimit-Limit"], first["RateLimit-Remaining"]) == (401, "4", "3")
    assert [client.post("/api/auth/refresh", body).status_code for _ in range(4)] == [401] * 3 + [429]


def test_a_valid_key_is_not_limited_by_its_network(alice: NewAccount) -> None:
    assert statuses(from_address(HERE), 6)[-1] == 429

    assert statuses(from_address(HERE, x_api_key=alice.api_key), 1) == [200]


def test_the_lockout_of_a_login_states_its_own_limit(settings: Settings, alice: NewAccount) -> None:
    settings.RATE_LIMIT_ANONYMOUS = 50
    body = {"email": "alice@example.com", "password": "wrong"}
    responses = [from_address(HERE).post("/api/auth/login", body) for _ in range(11)]

    assert [response.status_code for response in responses] == [401] * 10 + [429]
    assert (responses[9]["RateLimit-Policy"], responses[9]["RateLimit-Remaining"]) == ("50;w=60", "40")
    assert (responses[10]["RateLimit-Policy"], responses[10]["RateLimit-Remaining"]) == ("10;w=900", "0")


def test_too_many_requests_are_refused_before_any_password_is_hashed(
    settings: Settings, alice: NewAccount
) -> None:
    client = from_address(HERE)
    body = {"email": "alice@example.com", "password": PASSWORD}
    assert [client.post("/api/auth/login", body).status_code for _ in range(6)] == [200] * 4 + [429] * 2


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("203.0.113.5", "203.0.113.255", True),
        ("203.0.113.5", "203.0.114.5", False),
        ("2001:db8:0:a00::1", "2001:db8:0:aff:ffff::2", True),
        ("2001:db8:0:a00::1", "2001:db8:0:b00::1", False),
        ("203.0.113.5", "::ffff:203.0.113.9", True),
    ],
)
def test_addresses_of_one_subscriber_are_one_network(
    db: None, first: str, second: str, *, shared: bool
) -> None:
    assert statuses(from_address(first), 4) == [401] * 4
    assert statuses(from_address(second), 1) == [429 if shared else 401]


def test_an_untrusted_client_cannot_forge_its_network(db: None) -> None:
    forged = [from_address(HERE, x_forwarded_for=f"198.51.{number}.1") for number in range(6)]

    assert [statuses(client, 1)[0] for client in forged] == [401] * 4 + [429] * 2


def test_behind_a_trusted_proxy_each_network_has_its_own_limit(settings: Settings, db: None) -> None:
    settings.TRUSTED_PROXIES = [ip_network("203.0.113.0/24")]

    assert statuses(from_address(HERE, x_forwarded_for=ELSEWHERE), 5) == [401] * 4 + [429]
    assert statuses(from_address(HERE, x_forwarded_for="192.0.2.1"), 1) == [401]
