"""The metrics of the event loop's answers have the same outcomes as those of the Django view."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import time_machine

from accounts.services import NewAccount
from common.host.metrics import REGISTRY
from fastlane.fast.counts import Counts
from testing.fastlane.lanes import lane_for
from testing.redirects.following import CUSTOM_HOST, custom_domain
from testing.redirects.visits import django, request
from testing.visitors.addresses import AMERICAN

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]


def measured(lane: str, outcome: str) -> list[float]:
    """Requests with the outcome, and observed latencies."""
    samples = (
        ("shortener_redirects_total", {"lane": lane, "outcome": outcome}),
        ("shortener_redirect_seconds_count", {"lane": lane}),
    )
    return [REGISTRY.get_sample_value(name, labels) or 0.0 for name, labels in samples]


def difference(before: list[float], after: list[float]) -> list[float]:
    return [new - old for old, new in zip(before, after, strict=True)]


@pytest.mark.parametrize(
    ("code", "host", "outcome"),
    [
        ("plain", "sho.rt", "302"),
        ("unknown", "sho.rt", "unknown_code"),
        ("unknown", CUSTOM_HOST, "elsewhere"),
        ("country", "sho.rt", "country"),
        ("device", "sho.rt", "device"),
    ],
)
def test_both_lanes_count_the_same_outcome(
    alice: NewAccount, make_link: MakeLink, code: str, host: str, outcome: str
) -> None:
    domain = custom_domain(alice)
    domain.not_found_url = "https://example.com/lost"
    domain.save()
    make_link(customCode="plain")
    make_link(customCode="country", restrictions={"allowedCountries": ["JP"]})
    make_link(customCode="device", restrictions={"allowedDevices": ["tablet"]})
    data = request(f"/{code}", {"Host": host})
    before_view = measured("django", outcome)
    django(data, AMERICAN)
    by_view = difference(before_view, measured("django", outcome))

    before_lane, counts = measured("fast", outcome), Counts()
    with time_machine.travel(time.time(), tick=False):
        answer = lane_for(data).answer(data, AMERICAN, time.time())
    assert answer is not None
    counts.add([answer[0]], 0.001)
    counts.report()

    assert difference(before_lane, measured("fast", outcome)) == by_view == [1, 1]


def test_a_preview_in_the_lane_is_one_lookup(make_link: MakeLink) -> None:
    make_link(customCode="plain")
    data = request("/plain+")

    def hits() -> float:
        return REGISTRY.get_sample_value("shortener_destination_lookups_total", {"result": "hit"}) or 0.0

    with time_machine.travel(time.time(), tick=False):
        lane, before = lane_for(data), hits()
        assert lane.answer(data, AMERICAN, time.time()) is not None

    assert hits() == before + 1
