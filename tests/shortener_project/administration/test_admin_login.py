"""Lockout of the login page after a few failures, shared with the API's login."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import create_account
from sign_in.refusals import LOGIN_LIMITED
from testing.accounts.accounts import PASSWORD, account
from testing.attempts import pass_time, slow_down_clock
from testing.pages.html import parse
from testing.sign_in.pages import strict_browser

OPERATOR = "operator@example.com"
HERE, NEXT_DOOR, ELSEWHERE = "203.0.113.5", "203.0.113.77", "198.51.100.5"


@pytest.fixture(autouse=True)
def operator(db: None, settings: Settings) -> None:
    # Slow, and not under test here.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    create_account(email=OPERATOR, password=PASSWORD, superuser=True)


def log_in(client: Client, password: str = "wrong", username: str = OPERATOR) -> Any:
    client.get("/accounts/login/")
    token = client.cookies["csrftoken"].value
    return client.post(
        "/accounts/login/?next=/admin/",
        {"login": username, "password": password, "csrfmiddlewaretoken": token},
    )


def fail(times: int, client: Client | None = None, username: str = OPERATOR) -> list[int]:
    client = client or strict_browser()
    return [log_in(client, username=username).status_code for _ in range(times)]


def test_after_five_failures_the_sixth_is_429() -> None:
    slow_down_clock()
    assert fail(8) == [200] * 5 + [429] * 3

    # Refuse even the right password: otherwise guessing could continue during the lockout.
    refused = log_in(strict_browser(NEXT_DOOR), PASSWORD)
    assert refused.status_code == 429
    assert parse(refused).texts["h1"] == LOGIN_LIMITED.title
    assert refused["Retry-After"] == "900"
    assert (refused["RateLimit-Policy"], refused["RateLimit-Remaining"]) == ('"attempts";q=5;w=900', "0")
    assert "sessionid" not in refused.cookies
    for_program = log_in(strict_browser(NEXT_DOOR, accept="application/json"), PASSWORD)
    assert for_program.json()["retryAfter"] == int(for_program["Retry-After"])


def test_lockout_affects_neither_the_login_page_nor_other_networks() -> None:
    fail(6)

    assert strict_browser().get("/accounts/login/").status_code == 200
    assert log_in(strict_browser(ELSEWHERE), PASSWORD).status_code == 302


def test_lockout_ends_after_fifteen_minutes() -> None:
    fail(6)
    pass_time(minutes=14)
    assert fail(1) == [429]
    pass_time(minutes=1)
    assert log_in(strict_browser(), PASSWORD).status_code == 302


def test_correct_password_does_not_count_as_a_failure() -> None:
    assert fail(4) == [200] * 4
    assert [log_in(strict_browser(), PASSWORD).status_code for _ in range(3)] == [302] * 3
    assert fail(2) == [200, 429]


def test_logged_in_operator_may_log_in_again() -> None:
    client = strict_browser()
    assert [log_in(client, PASSWORD).status_code for _ in range(7)] == [302] * 7


@pytest.mark.parametrize(
    "spelling",
    [
        "OPERATOR@example.com",
        " operator@example.com ",
        "\u00a0Operator@Example.com",
    ],
)
def test_spellings_of_an_account_share_its_failure_count(spelling: str) -> None:
    fail(5)

    assert fail(1, username=spelling) == [429]


def test_each_account_has_a_separate_failure_count() -> None:
    fail(6)
    assert fail(6, username="nobody@example.com") == [200] * 5 + [429]


def test_api_and_page_share_failure_counts() -> None:
    api = APIClient(headers={"host": "sho.rt"})
    api.defaults["REMOTE_ADDR"] = HERE
    body = {"email": OPERATOR, "password": "wrong"}

    assert [api.post("/api/auth/login", body).status_code for _ in range(5)] == [401] * 5
    assert fail(1) == [429]
    assert [api.post("/api/auth/login", body).status_code for _ in range(6)] == [401] * 5 + [429]


def test_admin_refuses_an_account_that_is_not_staff() -> None:
    account("alice@example.com")
    client = strict_browser()
    response = log_in(client, PASSWORD, "alice@example.com")
    assert (response.status_code, response["Location"]) == (302, "/admin/")
    refused = client.get("/admin/", follow=True)
    assert (refused.status_code, parse(refused).texts["h1"]) == (403, "No access")
    assert refused.redirect_chain == [("/admin/login/?next=/admin/", 302)]


def test_cross_site_form_is_rejected_before_it_counts() -> None:
    form = {"login": OPERATOR, "password": "x"}
    assert {strict_browser().post("/accounts/login/", form).status_code for _ in range(9)} == {403}
    assert fail(1) == [200]


@pytest.mark.slow
def test_one_network_cannot_try_a_few_passwords_on_every_account() -> None:
    """The limit is a hundred failures per hour over all accounts."""
    spread = [fail(1, username=f"user{number}@example.com")[0] for number in range(102)]
    assert spread == [200] * 100 + [429] * 2
    assert log_in(strict_browser(ELSEWHERE), PASSWORD).status_code == 302
    pass_time(minutes=60)
    assert log_in(strict_browser(), PASSWORD).status_code == 302


@pytest.mark.parametrize("username", ["", "x" * 100_000, "a\0b", "😀", "' OR 1=1 --"])
def test_unusual_usernames_cause_no_server_error(username: str) -> None:
    assert fail(1, username=username) == [200]
