"""Requests per minute: by account and plan, and by network for requests without a credential."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest
from pytest_django.fixtures import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount, rotate_api_key
from testing.accounts.accounts import PASSWORD, account, bearer_client, key_client
from testing.attempts import age_minutes
from testing.connections import rows
from tests.accounts.api_requests.rate_limits import ELSEWHERE, HERE, NEXT_DOOR, from_address, statuses
from tests.accounts.api_requests.rate_limits import limits as limits

NAMES = (
    "RateLimit",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "RateLimit-Policy",
    "Retry-After",
)


@pytest.fixture
def age(db: None) -> Callable[[float], None]:
    """Makes every minute start this many seconds earlier."""
    return lambda seconds: age_minutes(seconds=seconds)


def limit_headers(response: Any) -> dict[str, str]:
    return {name: response[name] for name in NAMES if name in response}


def test_every_response_states_the_limit_and_what_remains(api: APIClient) -> None:
    limits = [limit_headers(api.get("/api/urls")) for _ in range(2)]

    assert limits == [
        {
            "RateLimit-Limit": "5",
            "RateLimit-Remaining": str(remaining),
            "RateLimit-Reset": "60",
            "RateLimit-Policy": '"default";q=5;w=60',
            "RateLimit": f'"default";r={remaining};t=60',
        }
        for remaining in (4, 3)
    ]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("get", "/api/urls/stats", None, 200),
        ("post", "/api/urls", {"originalUrl": "https://example.com/"}, 201),
        ("post", "/api/urls", {}, 400),
        ("get", "/api/urls/nothing", None, 404),
        ("put", "/api/urls", {}, 405),
    ],
)
def test_every_response_counts_whatever_its_status(
    api: APIClient, method: str, path: str, body: dict[str, str] | None, status: int
) -> None:
    response = getattr(api, method)(path, body)

    assert (response.status_code, response["RateLimit-Remaining"]) == (status, "4")


def test_a_request_over_the_limit_is_429_with_retry_after(
    api: APIClient, age: Callable[[float], None]
) -> None:
    assert statuses(api, 5) == [200] * 5
    age(45)

    refused = api.post("/api/urls", {"originalUrl": "https://example.com/"})

    assert (refused.status_code, refused.json()) == (
        429,
        {
            "success": False,
            "message": "Too many requests. Try again later.",
            "code": "rate_limited",
            "retryAfter": 15,
        },
    )
    assert limit_headers(refused) == {
        "RateLimit-Limit": "5",
        "RateLimit-Remaining": "0",
        "RateLimit-Reset": "15",
        "RateLimit-Policy": '"default";q=5;w=60',
        "RateLimit": '"default";r=0;t=15',
        "Retry-After": "15",
    }
    assert rows("SELECT count(*) FROM links_link") == [(0,)]


def test_after_the_stated_wait_a_request_passes(api: APIClient, age: Callable[[float], None]) -> None:
    assert statuses(api, 6) == [200] * 5 + [429]
    age(59)
    assert statuses(api, 1) == [429]
    age(1)
    assert statuses(api, 6) == [200] * 5 + [429]


def test_refused_requests_do_not_extend_the_wait(api: APIClient, age: Callable[[float], None]) -> None:
    assert statuses(api, 50) == [200] * 5 + [429] * 45
    age(60)
    assert statuses(api, 6) == [200] * 5 + [429]


@pytest.mark.parametrize(("plan", "passing"), [("free", 3), ("pro", 5), ("enterprise", 8)])
def test_the_limit_depends_on_the_plan(db: None, plan: str, passing: int) -> None:
    client = key_client(account("grace@example.com", plan).api_key)

    assert statuses(client, 8) == [200] * passing + [429] * (8 - passing)


def test_a_change_of_plan_applies_from_the_next_request(api: APIClient, alice: NewAccount) -> None:
    assert statuses(api, 6) == [200] * 5 + [429]
    alice.user.plan = "enterprise"
    alice.user.save()
    assert statuses(api, 6) == [200] * 6


def test_key_and_tokens_share_the_limit_of_the_account(
    api: APIClient, bearer: APIClient, alice: NewAccount
) -> None:
    assert statuses(api, 3) == [200] * 3
    assert statuses(bearer, 2) == [200] * 2
    renewed = key_client(rotate_api_key(user=alice.user))
    for client in (bearer, bearer_client(alice.user), renewed):
        assert statuses(client, 1) == [429]


def test_accounts_do_not_share_a_limit(api: APIClient, strange_api: APIClient) -> None:
    assert statuses(api, 6) == [200] * 5 + [429]
    assert statuses(strange_api, 6) == [200] * 5 + [429]


def test_the_limit_of_an_account_does_not_depend_on_the_network(alice: NewAccount) -> None:
    for address in (HERE, ELSEWHERE):
        assert statuses(from_address(address, x_api_key=alice.api_key), 3)[:2] == [200] * 2
    assert statuses(from_address("192.0.2.1", x_api_key=alice.api_key), 1) == [429]


def test_without_limits_nothing_is_counted_or_stated(
    settings: Settings,
    api: APIClient,
    anonymous: APIClient,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    settings.RATE_LIMITS = {"free": 0, "pro": 0, "enterprise": 0}
    settings.RATE_LIMIT_ANONYMOUS = 0

    with django_assert_num_queries(2):
        response = api.get("/api/urls/domains/available")
    with django_assert_num_queries(0):
        refused = anonymous.get("/api/urls")

    assert (limit_headers(response), limit_headers(refused)) == ({}, {})
    assert rows("SELECT count(*) FROM limits_requestcount") == [(0,)]


def test_one_query_confirms_a_key_and_counts_the_request(
    api: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        api.get("/api/urls/domains/available")


def test_counting_a_request_with_a_token_is_one_query(
    bearer: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(3):
        bearer.get("/api/urls/domains/available")


@pytest.mark.parametrize(
    "path",
    [
        "/api/schema",
        "/api/docs",
        "/api/docs/errors/not_found",
        "/dashboard/",
        "/healthz",
        "/readyz",
        "/robots.txt",
    ],
)
def test_pages_have_no_limit(db: None, path: str) -> None:
    responses = [from_address(HERE).get(path) for _ in range(6)]

    assert [(response.status_code, limit_headers(response)) for response in responses] == [(200, {})] * 6


def test_images_have_a_limit_of_their_own(api: APIClient, make_link: Callable[..., dict[str, Any]]) -> None:
    url = api.post("/api/qr-codes", {"urlId": make_link()["_id"]}).json()["data"]["qrCode"]["imageUrl"]
    assert statuses(from_address(HERE), 5)[-1] == 429

    assert [from_address(HERE).get(url).status_code for _ in range(6)] == [200] * 4 + [429] * 2
    assert from_address(ELSEWHERE).get(url).status_code == 200


def test_redirects_do_not_depend_on_the_limits_of_the_api(
    api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    code = make_link()["shortCode"]
    assert statuses(from_address(HERE), 5)[-1] == 429

    assert statuses(from_address(HERE), 20, f"/{code}") == [302] * 20


def test_table_contains_no_address(api: APIClient) -> None:
    api.get("/api/urls")
    from_address(HERE).get("/api/urls")

    assert rows("SELECT length(subject), requests FROM limits_requestcount ORDER BY 1") == [(8, 1), (32, 1)]
    [(dump,)] = rows("SELECT string_agg(c::text, '') FROM limits_requestcount c")
    assert "203.0.113" not in dump
    assert b"203.0.113".hex() not in dump


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
    assert (responses[9]["RateLimit-Policy"], responses[9]["RateLimit-Remaining"]) == (
        '"default";q=50;w=60',
        "40",
    )
    assert (responses[10]["RateLimit-Policy"], responses[10]["RateLimit-Remaining"]) == (
        '"attempts";q=10;w=900',
        "0",
    )


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
