"""The admin's door: locked after a few failures, together with the API's."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import create_account
from redirects import refusals
from tests.attempts import pass_time
from tests.conftest import PASSWORD, account
from tests.redirects.html import parse

OPERATOR = "operator@example.com"
HERE, NEXT_DOOR, ELSEWHERE = "203.0.113.5", "203.0.113.77", "198.51.100.5"


@pytest.fixture(autouse=True)
def operator(db: None, settings: Settings) -> None:
    # Not what is tried here, and slow.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    create_account(email=OPERATOR, password=PASSWORD, superuser=True)


def browser(address: str = HERE, **headers: str) -> Client:
    return Client(enforce_csrf_checks=True, headers={"host": "sho.rt", **headers}, REMOTE_ADDR=address)


def log_in(client: Client, password: str = "wrong", username: str = OPERATOR) -> Any:
    client.get("/admin/login/")
    token = client.cookies["csrftoken"].value
    return client.post(
        "/admin/login/?next=/admin/",
        {"username": username, "password": password, "csrfmiddlewaretoken": token},
    )


def fail(times: int, client: Client | None = None, username: str = OPERATOR) -> list[int]:
    client = client or browser()
    return [log_in(client, username=username).status_code for _ in range(times)]


def test_after_five_failures_the_sixth_is_429() -> None:
    assert fail(8) == [200] * 5 + [429] * 3

    # Not even the right one, or guessing would only have to be patient with the answers.
    refused = log_in(browser(NEXT_DOOR), PASSWORD)
    assert refused.status_code == 429
    assert parse(refused).texts["h1"] == refusals.LOGIN_LIMITED.title
    assert 850 < int(refused["Retry-After"]) <= 900
    assert (refused["RateLimit-Policy"], refused["RateLimit-Remaining"]) == ("5;w=900", "0")
    assert "sessionid" not in refused.cookies


def test_the_page_may_still_be_opened_and_elsewhere_one_may_try() -> None:
    fail(6)

    assert browser().get("/admin/login/").status_code == 200
    assert log_in(browser(ELSEWHERE), PASSWORD).status_code == 302


def test_the_lock_out_ends_after_a_quarter_of_an_hour() -> None:
    fail(6)
    pass_time(minutes=14)
    assert fail(1) == [429]
    pass_time(minutes=1)
    assert log_in(browser(), PASSWORD).status_code == 302


def test_the_right_password_uses_nothing_up() -> None:
    assert fail(4) == [200] * 4
    assert [log_in(browser(), PASSWORD).status_code for _ in range(3)] == [302] * 3
    assert fail(2) == [200, 429]


def test_who_is_in_already_may_log_in_again() -> None:
    client = browser()
    assert [log_in(client, PASSWORD).status_code for _ in range(7)] == [302] * 7


@pytest.mark.parametrize(
    "spelling",
    [
        "OPERATOR@example.com",
        " operator@example.com ",
        "\uff4fperator@example.com",
        "\u00a0Operator@Example.com",
    ],
)
def test_other_spellings_of_an_account_have_no_failures_of_their_own(spelling: str) -> None:
    fail(5)

    assert fail(1, username=spelling) == [429]


def test_accounts_have_failures_of_their_own() -> None:
    fail(6)
    assert fail(6, username="nobody@example.com") == [200] * 5 + [429]


def test_failures_at_the_api_count_here_and_the_other_way_round() -> None:
    api = APIClient(headers={"host": "sho.rt"})
    api.defaults["REMOTE_ADDR"] = HERE
    body = {"email": OPERATOR, "password": "wrong"}

    assert [api.post("/api/auth/login", body).status_code for _ in range(5)] == [401] * 5
    assert fail(1) == [429]
    assert [api.post("/api/auth/login", body).status_code for _ in range(6)] == [401] * 5 + [429]


def test_an_account_that_is_no_staff_fails_like_a_wrong_password() -> None:
    account("alice@example.com")
    client = browser()
    assert [log_in(client, PASSWORD, "alice@example.com").status_code for _ in range(6)] == [200] * 5 + [429]


def test_a_form_from_elsewhere_is_refused_before_it_counts() -> None:
    form = {"username": OPERATOR, "password": "x"}
    assert {browser().post("/admin/login/", form).status_code for _ in range(9)} == {403}
    assert fail(1) == [200]


def test_one_network_cannot_try_a_few_passwords_on_every_account() -> None:
    """A hundred failures an hour, whatever the account."""
    spread = [fail(1, username=f"user{number}@example.com")[0] for number in range(102)]
    assert spread == [200] * 100 + [429] * 2
    assert log_in(browser(ELSEWHERE), PASSWORD).status_code == 302
    pass_time(minutes=60)
    assert log_in(browser(), PASSWORD).status_code == 302


@pytest.mark.parametrize("username", ["", "x" * 100_000, "a\0b", "😀", "' OR 1=1 --"])
def test_whatever_is_typed_is_no_error(username: str) -> None:
    assert fail(1, username=username) == [200]
