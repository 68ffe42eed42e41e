"""Logins under attack: attackers limit each other but never the owner."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.password_hashing import account_hashing, link_hashing
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD
from testing.attempts import pass_time, slow_down_clock

EMAIL = "alice@example.com"
OFFICE, CAFE = "198.51.100.5", "203.0.113.9"


def log_in(address: str, password: str = "wrong", email: str = EMAIL) -> Any:
    client = APIClient(headers={"host": "sho.rt"}, REMOTE_ADDR=address)
    return client.post("/api/auth/login", {"email": email, "password": password})


def statuses(address: str, attempts: int, email: str = EMAIL) -> list[int]:
    return [log_in(address, email=email).status_code for _ in range(attempts)]


def attack(failures: int = 110) -> list[int]:
    """Sends wrong passwords from as many distant networks."""
    return [log_in(f"10.{number}.7.1").status_code for number in range(failures)]


def test_a_hundred_attackers_do_not_lock_out_the_owner(alice: NewAccount) -> None:
    assert attack() == [401] * 110
    assert log_in(CAFE, PASSWORD).status_code == 200


def test_networks_of_one_ipv6_provider_do_not_lock_out_the_owner(alice: NewAccount) -> None:
    networks = [log_in(f"2001:db8:{site:x}:{number:x}00::1") for site in range(10) for number in range(11)]
    assert {response.status_code for response in networks} == {401}
    assert log_in("2001:db8:ffff::1", PASSWORD).status_code == 200


@pytest.mark.slow
def test_under_attack_an_unknown_network_has_two_attempts(alice: NewAccount) -> None:
    attack(100)
    assert statuses(CAFE, 3) == [401, 401, 429]
    assert log_in(CAFE, PASSWORD).status_code == 429
    assert 1 <= int(log_in(CAFE).headers["Retry-After"]) <= 900
    pass_time(minutes=15)
    assert log_in(CAFE, PASSWORD).status_code == 200


def test_under_attack_a_network_that_logged_in_before_keeps_its_attempts(alice: NewAccount) -> None:
    assert log_in(OFFICE, PASSWORD).status_code == 200
    attack()
    assert statuses(OFFICE, 9) == [401] * 9
    assert log_in(OFFICE, PASSWORD).status_code == 200


def test_the_attack_is_over_an_hour_later(alice: NewAccount) -> None:
    attack(100)
    pass_time(minutes=61)
    assert statuses(CAFE, 11) == [401] * 10 + [429]


def test_an_attack_on_one_account_does_not_affect_another(alice: NewAccount, stranger: NewAccount) -> None:
    attack()
    assert statuses(CAFE, 11, "mallory@example.com") == [401] * 10 + [429]


def test_the_many_networks_of_one_site_share_a_limit(alice: NewAccount) -> None:
    statuses = [log_in(f"2001:db8:7:{number:x}00::1").status_code for number in range(32)]
    assert statuses == [401] * 30 + [429] * 2
    assert log_in("2001:db8:8::1", PASSWORD).status_code == 200


def test_the_many_networks_of_one_provider_share_a_limit(alice: NewAccount) -> None:
    slow_down_clock()
    responses = [log_in(f"10.9.{number}.1") for number in range(202)]
    assert [response.status_code for response in responses] == [401] * 200 + [429] * 2
    assert responses[-1].headers["Retry-After"] == "3600"
    assert log_in("10.10.0.1", PASSWORD).status_code == 200


@pytest.mark.slow
def test_a_known_network_is_not_refused_at_the_limit_of_its_provider(alice: NewAccount) -> None:
    assert log_in("10.9.255.1", PASSWORD).status_code == 200
    assert {log_in(f"10.9.{number}.1").status_code for number in range(200)} == {401}
    assert log_in("10.9.254.1", PASSWORD).status_code == 429

    assert log_in("10.9.255.1", PASSWORD).status_code == 200


def test_the_table_contains_neither_account_nor_network(alice: NewAccount) -> None:
    log_in(OFFICE, PASSWORD)
    with connection.cursor() as cursor:
        cursor.execute("SELECT known::text FROM limits_knownnetwork known")
        [(dump,)] = cursor.fetchall()
        cursor.execute("SELECT relpersistence::text FROM pg_class WHERE relname = 'limits_knownnetwork'")
        assert cursor.fetchone() == ("u",)
    assert EMAIL not in dump
    assert EMAIL.encode().hex() not in dump
    assert OFFICE.encode().hex() not in dump


def test_while_too_many_passwords_are_hashed_a_login_is_refused_and_not_counted(
    alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_hashing, "places", 0)
    with ExitStack() as others:
        for number in range(account_hashing.at_once):
            others.enter_context(account_hashing.admit(f"network {number}"))
        response = log_in(CAFE, PASSWORD)
        assert (response.status_code, response.json()["code"]) == (429, "too_many_at_once")
        assert response.headers["Retry-After"] == "2"
    assert statuses(CAFE, 11) == [401] * 10 + [429]


def test_a_network_cannot_send_correct_passwords_without_pause(settings: Settings, alice: NewAccount) -> None:
    settings.RATE_LIMIT_PASSWORDS = 3
    slow_down_clock()
    responses = [log_in(CAFE, PASSWORD) for _ in range(5)]
    assert [response.status_code for response in responses] == [200] * 3 + [429] * 2
    assert responses[-1].json()["code"] == "rate_limited"
    assert responses[-1].headers["RateLimit-Policy"] == '"default";q=3;w=60'
    assert log_in(OFFICE, PASSWORD).status_code == 200


def test_links_with_passwords_wait_beside_each_other_but_not_without_bound(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"originalUrl": "https://example.com/"}
    monkeypatch.setattr(link_hashing, "places", 0)
    with ExitStack() as others:
        for number in range(link_hashing.at_once):
            others.enter_context(link_hashing.admit(f"network {number}"))
        refused = api.post("/api/urls", {**body, "password": "open sesame"})
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_at_once")
        assert api.post("/api/urls", body).status_code == 201
    assert api.post("/api/urls", {**body, "password": "open sesame"}).status_code == 201
