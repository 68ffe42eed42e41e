"""Simulations record nothing; who may request which, and with which details."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import time_machine
from django.conf import settings as django_settings
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from links.models import ClickCounter
from testing.cases import for_each
from testing.visitors.addresses import AMERICAN
from testing.visitors.agents import GOOGLEBOT
from testing.visitors.forgeries import records
from tests.redirects.simulation.simulated import (
    DESTINATION,
    FOLLOWED,
    Simulate,
    detail,
    last,
    rows_of_every_table,
)

MakeLink = Callable[..., dict[str, Any]]


def test_the_number_of_clicks_of_an_address_is_not_shown(
    make_link: MakeLink, simulate: Simulate, visitor: Client
) -> None:
    link = make_link(restrictions={"maxClicksPerVisitor": 9})
    before = simulate(link, address=AMERICAN)
    assert visitor.get(f"/{link['shortCode']}", REMOTE_ADDR=AMERICAN).status_code == 302

    assert detail(simulate(link, address=AMERICAN), "claim") == detail(before, "claim")


def test_a_program_that_posts_the_password_is_redirected_with_303(
    make_link: MakeLink, simulate: Simulate
) -> None:
    link = make_link(DESTINATION, password="secret", redirectType=301)

    assert simulate(link, method="POST", unlocked=True)["outcome"] == {**FOLLOWED, "status": 303}
    assert simulate(link, unlocked=True)["outcome"] == {**FOLLOWED, "status": 301}


def test_a_visit_without_a_time_is_now(make_link: MakeLink, simulate: Simulate) -> None:
    link = make_link(expiresAt="2098-12-31T23:59:59Z")

    assert simulate(link)["outcome"]["status"] == 302
    with time_machine.travel("2098-12-31T23:59:59Z", tick=False):
        assert last(simulate(link))[2] == (
            "The link expires on 2098-12-31 at 23:59:59 UTC; the visit is on 2098-12-31 at 23:59:59 UTC."
        )


def test_a_simulation_counts_claims_and_records_nothing(
    api: APIClient, make_link: MakeLink, simulate: Simulate
) -> None:
    links = [
        make_link(),
        make_link(restrictions={"maxClicks": 1, "maxClicksPerVisitor": 1}),
        make_link(isActive=False),
        make_link(password="secret"),
        make_link(split=[{"name": name, "url": f"https://{name}.example/", "weight": 50} for name in "bc"]),
    ]
    # The calls of the API itself are counted for its rate limit.
    simulate(links[0])
    before = rows_of_every_table()

    for link in links:
        for visit in ({"address": AMERICAN}, {"userAgent": GOOGLEBOT}, {"unlocked": True, "method": "POST"}):
            simulate(link, **visit)

    assert rows_of_every_table() == before
    assert len(before) > 30
    assert set(ClickCounter.objects.values_list("clicks", flat=True)) == {0}
    assert records(django_settings.CLICKS_DIR) == []


def test_a_strangers_simulation_is_404(
    strange_api: APIClient, anonymous: APIClient, make_link: MakeLink
) -> None:
    path = f"/api/urls/{make_link()['_id']}/simulate"

    assert strange_api.post(path, {}).json() == {
        "success": False,
        "message": "URL not found.",
        "code": "not_found",
    }
    assert anonymous.post(path, {}).status_code == 401
    assert strange_api.post("/api/urls/not-an-id/simulate", {}).status_code == 404


def test_a_token_is_accepted(bearer: APIClient, make_link: MakeLink) -> None:
    response = bearer.post(f"/api/urls/{make_link(DESTINATION)['_id']}/simulate", {})

    assert response.json()["data"]["outcome"] == FOLLOWED


def test_simulations_count_towards_the_rate_limit(
    settings: Settings, api: APIClient, make_link: MakeLink
) -> None:
    path = f"/api/urls/{make_link()['_id']}/simulate"
    settings.RATE_LIMITS = {"free": 1, "pro": 2, "enterprise": 0}

    responses = [api.post(path, {}) for _ in range(3)]

    assert [response.status_code for response in responses] == [200, 200, 429]
    assert [response["RateLimit-Remaining"] for response in responses] == ["1", "0", "0"]


@for_each(
    ("visit", "field", "code"),
    [
        ({"country": "XX"}, "country", "country"),
        ({"address": "8.8.8"}, "address", "address"),
        ({"address": "fe80::1%eth0/x"}, "address", "address"),
        ({"address": ""}, "address", "blank"),
        ({"device": "phone"}, "device", "device"),
        ({"userAgent": "x" * 4097}, "userAgent", "max_length"),
        ({"language": 7}, "language", "invalid"),
        ({"referrer": "x" * 4097}, "referrer", "max_length"),
        ({"query": ["a"]}, "query", "invalid"),
        ({"time": "soon"}, "time", "invalid"),
        ({"time": "9999-12-31"}, "time", "out_of_range"),
        ({"time": "0001-01-01"}, "time", "out_of_range"),
        ({"unlocked": "yes"}, "unlocked", "invalid"),
        ({"method": "PUT"}, "method", "method"),
        ({"adress": "8.8.8.8"}, "adress", "unknown_field"),
    ],
)
def test_bad_descriptions_are_400(
    api: APIClient, make_link: MakeLink, visit: dict[str, Any], field: str, code: str
) -> None:
    response = api.post(f"/api/urls/{make_link()['_id']}/simulate", visit)

    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [(field, code)]


def test_null_is_the_default_of_every_field(make_link: MakeLink, simulate: Simulate) -> None:
    link = make_link()
    names = (
        "country",
        "address",
        "device",
        "userAgent",
        "language",
        "referrer",
        "query",
        "time",
        "unlocked",
        "method",
    )

    assert simulate(link, **dict.fromkeys(names)) == simulate(link)


def test_a_simulation_takes_three_queries(
    api: APIClient, make_link: MakeLink, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    path = f"/api/urls/{make_link()['_id']}/simulate"
    api.post(path, {})

    # The credential, the link, and the redirect's own query.
    with django_assert_num_queries(3):
        api.post(path, {})
