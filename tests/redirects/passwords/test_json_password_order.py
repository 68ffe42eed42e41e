"""Other rules of a link apply before and beside a password in JSON."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from pages.refusals import Refusal
from redirects import refusals
from testing.attempts import slow_down_clock
from testing.visitors.agents import GOOGLEBOT
from tests.redirects.conftest import PASSWORD
from tests.redirects.passwords.json_passwords import MakeLink, check_refusal, counts, post
from tests.redirects.passwords.protected_links import ELSEWHERE, browser, fail, send
from tests.redirects.passwords.protected_links import hashes as hashes


def test_programs_and_forms_share_one_limit(path: str) -> None:
    slow_down_clock()
    assert fail(path, 5) == [401] * 5
    assert [post(path, {"password": "wrong"}).status_code for _ in range(6)] == [401] * 5 + [429]

    blocked = post(path, {"password": PASSWORD})
    check_refusal(blocked, refusals.RATE_LIMITED, retryAfter=900)
    assert blocked["Retry-After"] == "900"
    assert (blocked["RateLimit-Limit"], blocked["RateLimit-Remaining"]) == ("10", "0")
    assert send(browser(), path, PASSWORD).status_code == 429
    assert post(path, {"password": PASSWORD}, address=ELSEWHERE).status_code == 303


def test_the_correct_password_uses_no_attempt(path: str) -> None:
    assert [post(path, {"password": PASSWORD}).status_code for _ in range(15)] == [303] * 15
    assert [post(path, {"password": "wrong"}).status_code for _ in range(11)] == [401] * 10 + [429]


def test_with_the_cookie_of_an_unlocked_link_the_password_is_not_hashed_again(
    link: dict[str, Any], path: str, hashes: list[str]
) -> None:
    cookie = send(browser(), path, PASSWORD).cookies[f"unlocked-{link['_id']}"].value

    for password in (PASSWORD, "wrong"):
        response = post(path, {"password": password}, cookie=f"unlocked-{link['_id']}={cookie}")
        assert response.status_code == 303
    assert hashes == [PASSWORD]
    forged = post(path, {"password": "wrong"}, cookie=f"unlocked-{link['_id']}={cookie}x")
    check_refusal(forged, refusals.WRONG_PASSWORD)


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"expiresAt": "2020-01-01"}, refusals.EXPIRED),
        ({"restrictions": {"allowedCountries": ["GB"]}}, refusals.COUNTRY),
        ({"restrictions": {"allowedDevices": ["mobile"]}}, refusals.DEVICE),
    ],
)
def test_the_other_rules_of_the_link_come_first(
    make_link: MakeLink, fields: dict[str, Any], refusal: Refusal
) -> None:
    path = f"/{make_link(password=PASSWORD, **fields)['shortCode']}"

    check_refusal(post(path, {"password": PASSWORD}), refusal)


def test_a_click_limit_counts_the_visits_of_programs(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(password=PASSWORD, restrictions={"maxClicks": 2})
    path = f"/{link['shortCode']}"

    assert post(path, {"password": "wrong"}).status_code == 401
    # A crawler takes no click of a limited link, so it does not learn the destination.
    crawled = post(path, {"password": PASSWORD}, agent=GOOGLEBOT)
    assert (crawled.status_code, "Location" in crawled) == (200, False)
    assert [post(path, {"password": PASSWORD}).status_code for _ in range(2)] == [303, 303]
    check_refusal(post(path, {"password": PASSWORD}), refusals.LIMIT_REACHED)
    assert counts(api, link) == (2, {"password": 1, "limit_reached": 1})
