"""Who asks for codes that do not exist waits after a while; who follows links does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.http.request import HttpHeaders
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from analytics.visitor import visitor_from
from domains.models import Domain
from redirects import refusals
from tests.attempts import pass_time
from tests.conftest import FIREFOX
from tests.redirects.forgeries import FORGERIES, forged, records
from tests.redirects.html import check_page

HERE, NEXT_DOOR, ELSEWHERE = "203.0.113.5", "203.0.113.77", "198.51.100.5"
MakeLink = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def limit(settings: Settings, db: None) -> None:
    settings.UNKNOWN_CODE_LIMIT = 60


def browser(address: str = HERE, **headers: str) -> Client:
    return Client(headers={"host": "sho.rt", "user-agent": FIREFOX, **headers}, REMOTE_ADDR=address)


def guess(count: int, visitor: Client | None = None) -> list[int]:
    visitor = visitor or browser()
    return [visitor.get(f"/guess{number}").status_code for number in range(count)]


def test_the_sixty_first_miss_in_a_minute_is_429() -> None:
    assert guess(63) == [404] * 60 + [429] * 3

    refused = browser().get("/guess9")
    check_page(refused, title=refusals.GUESSING.title, message=refusals.GUESSING.message)
    assert 50 < int(refused["Retry-After"]) <= 60
    assert (refused["RateLimit-Policy"], refused["RateLimit-Remaining"]) == ("60;w=60", "0")


def test_hits_from_the_same_address_still_redirect(make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    assert guess(61)[-1] == 429

    assert [browser().get(f"/{code}").status_code for _ in range(100)] == [302] * 100


def test_hits_are_not_counted(make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    assert {browser().get(f"/{code}").status_code for _ in range(100)} == {302}

    assert guess(61) == [404] * 60 + [429]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"expiresAt": "2020-01-01"}, 410),
        ({"password": "x"}, 401),
        ({"restrictions": {"allowedCountries": ["AQ"]}}, 403),
    ],
)
def test_links_that_are_not_to_be_followed_are_no_guesses(
    make_link: MakeLink, fields: dict[str, Any], status: int
) -> None:
    code = make_link(**fields)["shortCode"]

    assert {browser().get(f"/{code}").status_code for _ in range(70)} == {status}
    assert guess(1) == [404]


def test_asking_where_guesses_would_lead_is_guessing(make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    found = [browser().get(f"/guess{number}+").status_code for number in range(62)]

    assert found == [404] * 60 + [429] * 2
    assert guess(1) == [429]
    assert browser().get(f"/{code}+").status_code == 200


def test_a_program_is_told_in_json() -> None:
    guess(60)

    refused = browser(accept="application/json").get("/guess")
    assert (refused.status_code, refused.json()) == (
        429,
        {"success": False, "message": refusals.GUESSING.message, "reason": "rate_limited"},
    )


def test_the_minute_slides() -> None:
    guess(40)
    pass_time(seconds=30)
    guess(20)
    assert guess(1) == [429]
    pass_time(seconds=31)
    assert guess(41) == [404] * 40 + [429]


def test_a_network_is_what_one_subscriber_has() -> None:
    assert guess(60, browser(HERE)) == [404] * 60

    assert guess(1, browser(NEXT_DOOR)) == [429]
    assert guess(1, browser(ELSEWHERE)) == [404]


@pytest.mark.parametrize("ask", ["get", "head", "post"])
@pytest.mark.parametrize("headers", [{}, {"sec-purpose": "prefetch"}, {"user-agent": "Googlebot/2.1"}])
def test_no_way_of_asking_is_for_free(ask: str, headers: dict[str, str]) -> None:
    visitor = browser()
    sent = [getattr(visitor, ask)(f"/guess{number}", headers=headers).status_code for number in range(61)]

    assert sent == [404] * 60 + [429]


def test_a_domain_that_sends_the_lost_elsewhere_tells_no_guesser_more(
    settings: Settings, api: APIClient, alice: Any
) -> None:
    Domain.objects.create(
        owner=alice.user,
        domain="go.brand.example",
        host="go.brand.example",
        status="active",
        not_found_url="https://brand.example/lost",
    )
    visitor = browser(host="go.brand.example")

    assert guess(62, visitor) == [302] * 60 + [429] * 2


def test_paths_that_cannot_be_codes_and_hosts_that_are_not_ours_cost_nothing(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(0):
        assert [browser().get("/no/code").status_code for _ in range(70)] == [404] * 70
    assert guess(1) == [404]


def test_zero_is_no_limit(settings: Settings) -> None:
    settings.UNKNOWN_CODE_LIMIT = 0

    assert set(guess(100)) == {404}


@pytest.mark.parametrize("form", FORGERIES)
def test_forged_addresses_are_one_network(settings: Settings, clicks_dir: Path, form: str) -> None:
    """What is recorded is the peer, and the limit holds at the same count."""
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    visitor = browser()
    found = [visitor.get("/guess", headers=header(form, number)).status_code for number in range(64)]

    assert found == [404] * 60 + [429] * 4
    assert Counter(record.address for record in records(clicks_dir)) == {HERE: 64}


def test_twenty_thousand_forgeries_move_no_address() -> None:
    trusted = [ip_network("10.0.0.0/8")]
    seen = Counter(
        visitor_from(
            {"REMOTE_ADDR": HERE, **HttpHeaders.to_wsgi_names(header(form, number))}, "GET", trusted
        ).address
        for form in FORGERIES
        for number in range(1000)
    )

    assert seen == {HERE: 20_000}


def header(form: str, number: int) -> dict[str, str]:
    name, _, value = forged(form, number).partition(": ")
    return {name: value}
