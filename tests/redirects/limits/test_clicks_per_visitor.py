"""``restrictions.maxClicksPerVisitor``: the click limit per address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from links.models import VisitorClicks
from redirects import refusals
from testing.analytics.clicks import drain
from testing.pages.html import assert_json_refusal, assert_page, parse
from testing.visitors.agents import GOOGLEBOT
from tests.redirects.limits.visitor_limits import HERE, THERE, MakeLink, statuses, visit

pytestmark = pytest.mark.django_db


def refused(api: APIClient, link: dict[str, Any]) -> dict[str, int]:
    drain()
    report = api.get(f"/api/analytics/{link['_id']}").json()["data"]
    return {reason: visits for reason, visits in report["refused"].items() if visits}


def test_each_address_has_its_own_limit_within_max_clicks(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(restrictions={"maxClicks": 5, "maxClicksPerVisitor": 2})
    code = link["shortCode"]

    assert statuses(code, 3) == [302, 302, 403]
    assert statuses(code, 3, THERE) == [302, 302, 403]
    assert statuses(code, 2, "192.0.2.1") == [302, 410]
    assert statuses(code, 1) == [410]
    drain()
    assert api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"] == 5


def test_the_limit_per_visitor_works_without_max_clicks(make_link: MakeLink) -> None:
    code = make_link(restrictions={"maxClicksPerVisitor": 1})["shortCode"]

    assert [statuses(code, 2, address) for address in (HERE, THERE)] == [[302, 403]] * 2


def test_a_visitor_over_the_limit_gets_the_reason(make_link: MakeLink) -> None:
    code = make_link(restrictions={"maxClicksPerVisitor": 1})["shortCode"]
    visit(code)

    refusal = refusals.VISITOR_LIMIT_REACHED
    assert_page(visit(code), title=refusal.title, message=refusal.message)
    response = visit(code, accept="application/json")
    assert_json_refusal(response, reason="visitor_limit_reached", message=refusal.message)
    assert response.get("Location") is None


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"], [302, 403, 302]),
        (["203.0.113.5", "203.0.113.6", "::ffff:203.0.113.5"], [302, 302, 403]),
    ],
)
def test_visitors_are_ipv6_64_prefixes_and_ipv4_addresses(
    make_link: MakeLink, addresses: list[str], expected: list[int]
) -> None:
    code = make_link(restrictions={"maxClicksPerVisitor": 1})["shortCode"]

    assert [visit(code, address).status_code for address in addresses] == expected


@pytest.mark.parametrize(
    ("method", "headers"),
    [("head", {}), ("get", {"sec-purpose": "prefetch"}), ("get", {"user-agent": GOOGLEBOT})],
)
@pytest.mark.parametrize("restrictions", [{"maxClicks": 1}, {"maxClicksPerVisitor": 1}])
def test_a_visit_that_is_not_a_click_gets_a_page_without_the_destination(
    make_link: MakeLink, method: str, headers: dict[str, str], restrictions: dict[str, int]
) -> None:
    code = make_link("https://secret.example/", restrictions=restrictions)["shortCode"]

    for _ in range(3):
        response = visit(code, method=method, **headers)
        assert (response.status_code, response.get("Location"), response["Cache-Control"]) == (
            200,
            None,
            "no-store",
        )
        assert "secret.example" not in f"{response.headers} {response.content}"
    if method == "head":
        assert response.content == b""
    else:
        page = parse(response)
        assert page.texts["title"] == refusals.CAPPED.title
        assert page.all("a") == [{"class": "button", "href": f"/{code}", "rel": "nofollow"}]
        in_json = visit(code, method=method, **{**headers, "accept": "application/json"})
        assert in_json.json() == {"success": True, "message": refusals.CAPPED.message}
    assert statuses(code, 1) == [302]


def test_the_visits_are_recorded_under_their_kind(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(restrictions={"maxClicks": 9, "maxClicksPerVisitor": 1})
    code = link["shortCode"]
    visit(code, method="head")
    visit(code, **{"sec-purpose": "prefetch"})
    visit(code, **{"user-agent": GOOGLEBOT})
    statuses(code, 3)
    drain()

    report = api.get(f"/api/analytics/{link['_id']}").json()["data"]
    assert report["totalClicks"] == 1
    assert report["notCounted"] == {"crawler": 1, "prefetch": 1, "head": 1, "ignored": 0}
    assert refused(api, link) == {"visitor_limit_reached": 2}


def test_a_claim_takes_one_statement_besides_the_lookup(
    make_link: MakeLink, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    code = make_link(restrictions={"maxClicks": 3, "maxClicksPerVisitor": 2})["shortCode"]

    for _ in range(2):
        with django_assert_num_queries(2):
            assert visit(code).status_code == 302


@pytest.mark.slow
def test_concurrent_visits_from_one_address_never_exceed_the_limit(
    threads: ThreadPoolExecutor,
    make_link: MakeLink,
) -> None:
    addresses = [HERE, THERE, "192.0.2.1", "192.0.2.2"] * 20
    followed = []
    for _ in range(5):
        code = make_link(restrictions={"maxClicks": 30, "maxClicksPerVisitor": 12})["shortCode"]
        counts = Counter(threads.map(visit_of(code), addresses))
        followed.append(counts[302])

    taken = Counter[int]()
    for link, clicks in VisitorClicks.objects.values_list("link_id", "clicks"):
        assert clicks <= 12
        taken[link] += clicks
    assert (followed, list(taken.values())) == ([30] * 5, [30] * 5)


def visit_of(code: str) -> Callable[[str], int]:
    return lambda address: visit(code, address).status_code
