"""Networks that request too many unknown codes are refused, except on links they have followed before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django.fixtures import DjangoAssertNumQueries

from redirects import refusals
from testing.pages.html import check_page
from testing.redirects.visits import request, visit
from tests.redirects.limits.guessing import ELSEWHERE, HERE, SAME_NETWORK, browser, guess
from tests.redirects.limits.guessing import clock as clock
from tests.redirects.limits.guessing import limit as limit

MakeLink = Callable[..., dict[str, Any]]


def test_the_sixty_first_miss_at_once_is_429() -> None:
    assert guess(63) == [404] * 60 + [429] * 3

    refused = browser().get("/guess9")
    check_page(refused, title=refusals.GUESSING.title, message=refusals.GUESSING.message)
    assert refused["Retry-After"] == "1"
    assert (refused["RateLimit-Policy"], refused["RateLimit-Remaining"]) == ("60;w=60", "0")


def test_above_the_limit_hits_and_misses_get_the_same_response(make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    guess(60)

    hit, miss = browser().get(f"/{code}"), browser().get("/guess9")
    assert (hit.status_code, hit.content, dict(hit.items())) == (429, miss.content, dict(miss.items()))
    assert browser(ELSEWHERE).get(f"/{code}").status_code == 302


@pytest.mark.parametrize("fields", [{}, {"customCode": "spring"}, {"restrictions": {"maxClicks": 5}}])
def test_links_that_the_network_has_followed_before_still_redirect(
    make_link: MakeLink, fields: dict[str, Any]
) -> None:
    link, other = make_link(**fields), make_link()
    code = link["customCode"] or link["shortCode"]
    assert browser(SAME_NETWORK).get(f"/{code}").status_code == 302
    guess(61)

    assert [browser().get(f"/{path}").status_code for path in (code, other["shortCode"])] == [302, 429]


def test_a_refused_visit_does_not_count_as_followed(make_link: MakeLink) -> None:
    code = make_link(password="secret")["shortCode"]
    assert browser().get(f"/{code}").status_code == 401
    guess(60)

    assert browser().get(f"/{code}").status_code == 429


def test_hits_are_not_counted(make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    assert {browser().get(f"/{code}").status_code for _ in range(100)} == {302}

    assert guess(61) == [404] * 60 + [429]


def test_a_refusal_takes_no_database_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    guess(60)

    with django_assert_num_queries(0):
        assert guess(100) == [429] * 100


def test_reserved_paths_are_not_refused() -> None:
    guess(61)

    assert b" 200 " in visit(request("/healthz"), HERE, in_lane=False).response


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"expiresAt": "2020-01-01"}, 410),
        ({"password": "x"}, 401),
        ({"restrictions": {"allowedCountries": ["AQ"]}}, 403),
    ],
)
def test_refused_links_do_not_count_as_guesses(
    make_link: MakeLink, fields: dict[str, Any], status: int
) -> None:
    code = make_link(**fields)["shortCode"]

    assert {browser().get(f"/{code}").status_code for _ in range(70)} == {status}
    assert guess(1) == [404]


def test_previews_of_unknown_codes_count_as_guesses(make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    statuses = [browser().get(f"/guess{number}+").status_code for number in range(62)]

    assert statuses == [404] * 60 + [429] * 2
    assert guess(1) == [429]
    assert browser().get(f"/{code}+").status_code == 429
    assert browser(ELSEWHERE).get(f"/{code}+").status_code == 200


def test_the_refusal_is_json_for_programs() -> None:
    guess(60)

    refused = browser(accept="application/json").get("/guess")
    assert (refused.status_code, refused.json()) == (
        429,
        {
            "success": False,
            "message": refusals.GUESSING.message,
            "reason": "rate_limited",
            "retryAfter": int(refused["Retry-After"]),
        },
    )
