"""The limits on guessing the password of a link."""

from collections.abc import Callable
from contextlib import ExitStack
from ipaddress import ip_network
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.password_hashing import link_hashing
from accounts.services import NewAccount
from redirects import refusals
from testing.accounts.accounts import PASSWORD as ACCOUNT_PASSWORD
from testing.attempts import pass_time, slow_down_clock
from testing.pages.html import assert_page
from tests.redirects.conftest import PASSWORD
from tests.redirects.passwords.protected_links import (
    ELSEWHERE,
    HERE,
    SAME_NETWORK,
    browser,
    fail,
    send,
    tokens,
)
from tests.redirects.passwords.protected_links import hashes as hashes

MakeLink = Callable[..., dict[str, Any]]


def test_a_network_is_blocked_after_10_failures(path: str, hashes: list[str]) -> None:
    slow_down_clock()
    assert fail(path, 30) == [401] * 10 + [429] * 20
    assert hashes == ["wrong"] * 10

    page = send(browser(SAME_NETWORK), path, PASSWORD)
    assert page.status_code == 429
    assert_page(page, title=refusals.RATE_LIMITED.title, message=refusals.RATE_LIMITED.message)
    assert page["Retry-After"] == "900"
    assert page["RateLimit-Reset"] == page["Retry-After"]
    assert (page["RateLimit-Limit"], page["RateLimit-Remaining"], page["RateLimit-Policy"]) == (
        "10",
        "0",
        '"attempts";q=10;w=900',
    )
    assert [name for name in page.cookies if name.startswith("unlocked")] == []

    visitor, token = tokens(1, path)
    form = {"csrfmiddlewaretoken": token, "password": PASSWORD}
    for_program = visitor.post(path, form, headers={"accept": "application/json"})
    assert for_program.status_code == 429
    assert for_program["Retry-After"] == "900"
    assert for_program.json() == {
        "success": False,
        "message": refusals.RATE_LIMITED.message,
        "reason": "rate_limited",
        "retryAfter": int(for_program["Retry-After"]),
    }
    assert hashes == ["wrong"] * 10


def test_a_block_applies_to_one_network_and_one_link(make_link: MakeLink, path: str) -> None:
    fail(path, 11)

    assert send(browser(HERE), path, PASSWORD).status_code == 429
    assert send(browser(ELSEWHERE), path, PASSWORD).status_code == 303
    other = make_link(password=PASSWORD)
    assert send(browser(HERE), f"/{other['shortCode']}", PASSWORD).status_code == 303


def test_a_blocked_network_can_still_open_the_page(path: str) -> None:
    opened = browser()
    send(opened, path, PASSWORD)
    fail(path, 11)

    assert browser().get(path).status_code == 401
    assert opened.get(path).status_code == 302


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("203.0.113.5", "203.0.113.255", 429),
        ("203.0.113.5", "203.0.114.5", 303),
        ("2001:db8:0:a00::1", "2001:db8:0:aff:ffff::2", 429),
        ("2001:db8:0:a00::1", "2001:db8:0:b00::1", 303),
        ("203.0.113.5", "::ffff:203.0.113.9", 429),
    ],
)
def test_a_network_is_one_subscribers_prefix(path: str, first: str, second: str, status: int) -> None:
    fail(path, 10, first)

    assert send(browser(second), path, PASSWORD).status_code == status


def test_an_untrusted_client_cannot_forge_another_network(path: str) -> None:
    visitor, token = tokens(1, path)
    form = {"csrfmiddlewaretoken": token, "password": "wrong"}

    statuses = []
    for number in range(12):
        forged = f"198.51.{number}.1"
        headers = {
            "x-forwarded-for": forged,
            "x-real-ip": forged,
            "forwarded": f"for={forged}",
            "client-ip": forged,
        }
        statuses.append(visitor.post(path, form, headers=headers).status_code)

    assert statuses == [401] * 10 + [429] * 2


def test_behind_a_trusted_proxy_each_network_has_its_own_limit(settings: Settings, path: str) -> None:
    settings.TRUSTED_PROXIES = [ip_network("203.0.113.0/24")]
    for _ in range(10):
        send(browser(x_forwarded_for=ELSEWHERE), path, "wrong")

    assert send(browser(x_forwarded_for=ELSEWHERE), path, PASSWORD).status_code == 429
    assert send(browser(x_forwarded_for="192.0.2.1"), path, PASSWORD).status_code == 303


def test_the_correct_password_uses_no_attempt(path: str) -> None:
    assert fail(path, 9) == [401] * 9
    assert [send(browser(), path, PASSWORD).status_code for _ in range(5)] == [303] * 5
    assert fail(path, 2) == [401, 429]


def test_failures_expire_after_15_minutes(path: str) -> None:
    fail(path, 10)
    pass_time(minutes=14)
    assert send(browser(), path, PASSWORD).status_code == 429
    pass_time(minutes=1)
    assert send(browser(), path, PASSWORD).status_code == 303
    assert fail(path, 11) == [401] * 10 + [429]


def test_the_window_slides(path: str) -> None:
    fail(path, 6)
    pass_time(minutes=10)
    fail(path, 4)
    assert send(browser(), path, PASSWORD).status_code == 429

    pass_time(minutes=6)
    assert fail(path, 7) == [401] * 6 + [429]


def fail_everywhere(path: str, networks: int = 100) -> list[int]:
    """Fail once from each of ``networks`` unrelated networks."""
    return [status for number in range(networks) for status in fail(path, 1, f"10.{number}.7.1")]


@pytest.mark.slow
def test_failures_of_other_networks_do_not_lock_a_visitor_out(path: str) -> None:
    assert fail_everywhere(path, 110) == [401] * 110
    assert send(browser(ELSEWHERE), path, PASSWORD).status_code == 303


@pytest.mark.slow
def test_after_100_failures_an_unknown_network_has_two_attempts(path: str) -> None:
    fail_everywhere(path)
    assert fail(path, 4, ELSEWHERE) == [401] * 2 + [429] * 2
    assert send(browser(ELSEWHERE), path, PASSWORD).status_code == 429
    pass_time(minutes=15)
    assert send(browser(ELSEWHERE), path, PASSWORD).status_code == 303


def test_a_network_that_unlocked_the_link_today_keeps_ten_attempts(path: str) -> None:
    assert send(browser(ELSEWHERE), path, PASSWORD).status_code == 303
    fail_everywhere(path)
    assert fail(path, 11, ELSEWHERE) == [401] * 10 + [429]


@pytest.mark.slow
def test_failures_on_one_link_do_not_affect_another(make_link: MakeLink, path: str) -> None:
    other = f"/{make_link(password=PASSWORD)['shortCode']}"
    fail_everywhere(path)
    assert fail(other, 11, ELSEWHERE) == [401] * 10 + [429]


def test_a_rejection_by_the_hashing_limit_uses_no_attempt(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_hashing, "places", 0)
    with ExitStack() as others:
        for number in range(link_hashing.at_once):
            others.enter_context(link_hashing.admit(f"network {number}"))
        response = send(browser(), path, PASSWORD)
        assert (response.status_code, response["Retry-After"]) == (429, "2")
    assert fail(path, 11) == [401] * 10 + [429]


def test_a_network_cannot_send_correct_passwords_without_pause(
    settings: Settings, make_link: MakeLink, path: str, hashes: list[str]
) -> None:
    settings.RATE_LIMIT_PASSWORDS = 3
    slow_down_clock()
    other = f"/{make_link(password=PASSWORD)['shortCode']}"
    sent = [path, other, path, other, path]
    assert [send(browser(HERE), to, PASSWORD).status_code for to in sent] == [303] * 3 + [429] * 2
    assert hashes == [PASSWORD] * 3
    page = send(browser(HERE), path, PASSWORD)
    assert (page["RateLimit-Limit"], page["RateLimit-Policy"]) == ("3", '"default";q=3;w=60')
    assert send(browser(ELSEWHERE), path, PASSWORD).status_code == 303

    assert send(browser("2001:db8:7:100::1"), path, PASSWORD).status_code == 303
    statuses = [send(browser(f"2001:db8:7:{n}00::1"), path, PASSWORD).status_code for n in range(2, 5)]
    assert statuses == [303, 303, 429]


def test_a_browser_that_unlocked_the_link_causes_no_more_hashing(path: str, hashes: list[str]) -> None:
    unlocked = browser(HERE)
    assert send(unlocked, path, PASSWORD).status_code == 303
    for _ in range(3):
        assert unlocked.post(path, {"password": PASSWORD}).status_code == 303
        program = unlocked.post(path, {"password": PASSWORD}, content_type="application/json")
        assert (program.status_code, program["Location"]) == (303, "https://example.com/page")
    assert hashes == [PASSWORD]


def test_visitors_of_links_do_not_take_the_places_of_logins(alice: NewAccount, path: str) -> None:
    with ExitStack() as visitors:
        for number in range(link_hashing.at_once):
            visitors.enter_context(link_hashing.admit(f"network {number}"))
        client = APIClient(headers={"host": "sho.rt"}, REMOTE_ADDR=HERE)
        sent = {"email": "alice@example.com", "password": ACCOUNT_PASSWORD}
        assert client.post("/api/auth/login", sent).status_code == 200
