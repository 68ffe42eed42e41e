from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from testing.analytics.clicks import clicks, drain
from testing.visitors.agents import FIREFOX, GOOGLEBOT

pytestmark = pytest.mark.slow

MakeLink = Callable[..., dict[str, Any]]

VISITORS, MAX_CLICKS, ROUNDS = 200, 25, 20


@pytest.mark.parametrize("max_clicks", [1, 2, 7])
def test_a_link_redirects_exactly_max_clicks_times(
    visitor: Client, api: APIClient, make_link: MakeLink, max_clicks: int
) -> None:
    link = make_link(restrictions={"maxClicks": max_clicks})

    statuses = [visitor.get(f"/{link['shortCode']}").status_code for _ in range(max_clicks + 2)]

    assert statuses == [302] * max_clicks + [410, 410]
    assert clicks(api, link) == max_clicks


def test_a_used_up_link_is_refused_with_its_reason(visitor: Client, make_link: MakeLink) -> None:
    link = make_link(restrictions={"maxClicks": 1})
    visitor.get(f"/{link['shortCode']}")

    response = visitor.get(f"/{link['shortCode']}", headers={"accept": "application/json"})

    assert response.status_code == 410
    assert response.json()["reason"] == "limit_reached"
    assert visitor.head(f"/{link['shortCode']}").status_code == 410


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("HEAD", {}),
        ("GET", {"sec-purpose": "prefetch"}),
        ("GET", {"x-moz": "prefetch"}),
        ("GET", {"user-agent": GOOGLEBOT}),
        ("GET", {"user-agent": ""}),
    ],
)
def test_a_visit_that_is_not_a_click_does_not_use_up_the_limit(
    visitor: Client, api: APIClient, make_link: MakeLink, method: str, headers: dict[str, str]
) -> None:
    link = make_link(restrictions={"maxClicks": 1})

    for _ in range(3):
        response = visitor.generic(method, f"/{link['shortCode']}", headers=headers)
        assert (response.status_code, response.get("Location")) == (200, None)

    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    assert visitor.generic(method, f"/{link['shortCode']}", headers=headers).status_code == 410
    assert clicks(api, link) == 1


def test_all_codes_of_a_link_share_its_limit(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(customCode="spring", restrictions={"maxClicks": 3})
    api.put(f"/api/urls/{link['_id']}", {"customCode": "summer"})

    codes = [link["shortCode"], "spring", "summer", "spring", link["shortCode"]]
    assert [visitor.get(f"/{code}").status_code for code in codes] == [302, 302, 302, 410, 410]


def test_the_limit_can_be_set_raised_lowered_and_removed(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()

    def visits_after(restrictions: dict[str, Any] | None) -> list[int]:
        drain()
        response = api.put(f"/api/urls/{link['_id']}", {"restrictions": restrictions})
        assert response.status_code == 200
        return [visitor.get(f"/{link['shortCode']}").status_code for _ in range(2)]

    assert visits_after({"maxClicks": 1}) == [302, 410]
    assert visits_after({"maxClicks": 3}) == [302, 302]
    assert visits_after({"maxClicks": 2}) == [410, 410]
    assert visits_after({"maxClicks": 4}) == [302, 410]
    assert visits_after(None) == [302, 302]
    assert visits_after({"maxClicks": 6}) == [410, 410]
    assert clicks(api, link) == 6


class Visitors(local):
    """One test client per thread: creating one takes longer than many visits."""

    def __init__(self) -> None:
        self.browser = Client(headers={"host": "sho.rt", "user-agent": FIREFOX})

    def visit(self, code: str) -> int:
        return self.browser.get(f"/{code}").status_code


def test_of_200_concurrent_visitors_exactly_25_are_redirected(
    threads: ThreadPoolExecutor, api: APIClient, make_link: MakeLink
) -> None:
    visitors = Visitors()

    rounds = []
    for _ in range(ROUNDS):
        link = make_link(restrictions={"maxClicks": MAX_CLICKS})
        statuses = Counter(threads.map(visitors.visit, [link["shortCode"]] * VISITORS))
        rounds.append((statuses, clicks(api, link)))

    assert rounds == [({302: 25, 410: 175}, 25)] * ROUNDS


def test_every_concurrent_click_without_a_limit_is_counted(
    threads: ThreadPoolExecutor, api: APIClient, make_link: MakeLink
) -> None:
    visitors, link = Visitors(), make_link()

    statuses = Counter(threads.map(visitors.visit, [link["shortCode"]] * 400))

    assert statuses == {302: 400}
    assert clicks(api, link) == 400
    assert api.get("/api/urls/stats").json()["totalClicks"] == 400
