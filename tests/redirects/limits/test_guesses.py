"""Networks that request too many unknown codes are refused, except on links they have followed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.http.request import HttpHeaders
from pytest_django.fixtures import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from analytics.visitors.visitor import visitor_from
from redirects import refusals
from testing.clock import Clock
from testing.pages.html import assert_page
from testing.redirects.visits import request, visit
from testing.visitors.forgeries import FORGERIES, forged, records
from tests.redirects.limits.guessing import (
    ELSEWHERE,
    HERE,
    SAME_NETWORK,
    browser,
    domain_with_fallback,
    guess,
)
from tests.redirects.limits.guessing import clock as clock
from tests.redirects.limits.guessing import limit as limit

MakeLink = Callable[..., dict[str, Any]]


def test_the_sixty_first_miss_at_once_is_429() -> None:
    assert guess(63) == [404] * 60 + [429] * 3

    refused = browser().get("/guess9")
    assert_page(refused, title=refusals.GUESSING.title, message=refusals.GUESSING.message)
    assert refused["Retry-After"] == "1"
    assert (refused["RateLimit-Policy"], refused["RateLimit-Remaining"]) == ('"attempts";q=60;w=60', "0")


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


def test_the_limit_is_restored_after_a_minute(clock: Clock) -> None:
    assert guess(61)[-1] == 429
    clock.now += 30
    assert guess(31) == [404] * 30 + [429]
    clock.now += 60
    assert guess(61) == [404] * 60 + [429]


def test_refused_requests_do_not_extend_the_block(clock: Clock, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    guess(200)
    clock.now += 1.1

    assert browser().get(f"/{code}").status_code == 302


def test_a_network_is_one_subscribers_prefix() -> None:
    assert guess(60, browser(HERE)) == [404] * 60

    assert guess(1, browser(SAME_NETWORK)) == [429]
    assert guess(1, browser(ELSEWHERE)) == [404]


@pytest.mark.slow
def test_an_ipv6_48_prefix_has_four_times_the_limit() -> None:
    networks = [f"2001:db8:1:{number:x}00::1" for number in range(6)]

    assert [guess(61, browser(address)).count(404) for address in networks] == [60, 60, 60, 60, 0, 0]
    assert guess(1, browser("2001:db8:2::1")) == [404]


@pytest.mark.parametrize("method", ["get", "head", "post"])
@pytest.mark.parametrize("headers", [{}, {"sec-purpose": "prefetch"}, {"user-agent": "Googlebot/2.1"}])
def test_every_kind_of_request_counts_as_a_guess(method: str, headers: dict[str, str]) -> None:
    visitor = browser()
    sent = [getattr(visitor, method)(f"/guess{number}", headers=headers).status_code for number in range(61)]

    assert sent == [404] * 60 + [429]


def test_a_fallback_url_does_not_exempt_guesses(settings: Settings, api: APIClient, alice: Any) -> None:
    domain_with_fallback(alice.workspace)
    visitor = browser(host="go.brand.example")

    assert guess(62, visitor) == [302] * 60 + [429] * 2


def test_invalid_codes_and_unknown_hosts_do_not_count(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(0):
        assert [browser().get("/no/code").status_code for _ in range(70)] == [404] * 70
    assert guess(1) == [404]


def test_zero_disables_the_limit(settings: Settings) -> None:
    settings.UNKNOWN_CODE_LIMIT = 0

    assert set(guess(100)) == {404}


@pytest.mark.parametrize("form", FORGERIES)
def test_forged_addresses_count_as_one_network(settings: Settings, clicks_dir: Path, form: str) -> None:
    """The recorded address is the peer's, and the limit applies at the same count."""
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    visitor = browser()
    statuses = [visitor.get("/guess", headers=header(form, number)).status_code for number in range(64)]

    assert statuses == [404] * 60 + [429] * 4
    assert Counter(record.address for record in records(clicks_dir)) == {HERE: 60}


def test_twenty_thousand_forged_headers_do_not_change_the_address() -> None:
    trusted = [ip_network("10.0.0.0/8")]
    seen = Counter(
        visitor_from(
            {"REMOTE_ADDR": HERE, **HttpHeaders.to_wsgi_names(header(form, number))}, "GET", trusted
        ).address
        for form in FORGERIES
        for number in range(1000)
    )

    assert seen == {HERE: 20_000}


def rows(count: int, prefix: str) -> str:
    lines = [f"https://example.com/,{prefix}{number}" for number in range(count)]
    return "\n".join(["originalUrl,customCode", *lines])


def verdicts(api: APIClient, content: str, **fields: Any) -> list[tuple[int, str | None]]:
    response = api.post("/api/urls/import", {"content": content, **fields}, REMOTE_ADDR=HERE)
    assert response.status_code == 200, response.json()
    return [(row["status"], row.get("code")) for row in response.json()["data"]["results"]]


def test_a_dry_run_import_reveals_no_more_taken_codes_than_the_guess_limit(
    api: APIClient, strange_api: APIClient
) -> None:
    assert set(verdicts(strange_api, rows(80, "hers"), dryRun=False)) == {(201, None)}

    results = verdicts(api, rows(100, "hers"))

    assert results == [(409, "code_taken")] * 60 + [(429, "rate_limited")] * 40
    assert guess(1) == [429]
    refused = api.post("/api/urls/import", {"content": rows(1, "hers")}, REMOTE_ADDR=HERE)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.json()["retryAfter"] == int(refused["Retry-After"])


def test_own_codes_do_not_count_as_guesses(api: APIClient) -> None:
    verdicts(api, rows(80, "mine"), dryRun=False)

    assert verdicts(api, rows(80, "mine")) == [(409, "code_taken")] * 80
    assert guess(1) == [404]


def test_a_real_import_reports_the_result_of_each_row(api: APIClient, strange_api: APIClient) -> None:
    verdicts(strange_api, rows(80, "hers"), dryRun=False)

    content = rows(80, "hers") + "\nhttps://example.com/,another"
    assert verdicts(api, content, dryRun=False) == [(409, "code_taken")] * 80 + [(201, None)]
    assert guess(1) == [429]


def header(form: str, number: int) -> dict[str, str]:
    name, _, value = forged(form, number).partition(": ")
    return {name: value}
