"""Both lanes count the guesses of a network together, and refuse it with the same response."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from ipaddress import ip_network
from typing import Any

import pytest
import time_machine
from pytest_django.fixtures import Settings

from links.guess_counts import guesses
from testing.clock import Clock
from testing.fastlane.lanes import fast, lane_for
from testing.redirects.visits import django, request, without_date
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


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "changed", [{}, {"Accept": "application/json"}, {"Connection": "close"}, {"Accept": None}]
)
def test_the_event_loop_sends_the_same_refusal(
    make_link: MakeLink, method: str, changed: dict[str, str | None]
) -> None:
    link = make_link()
    hit, miss = (request(f"/{code}", changed, method) for code in (link["shortCode"], "guess"))
    lane = lane_for(hit)
    assert fast(hit, HERE, lane) is not None
    guess(60, browser(ELSEWHERE))

    # The responses contain the second.
    now = time.time()
    responses = [lane.answer(data, ELSEWHERE, now) for data in (hit, miss)]
    assert responses[0] == responses[1] is not None
    status, sent, closes, payload = responses[0]
    assert (status, payload, closes) == (429, b"", changed.get("Connection") == "close")
    expected = django(miss, ELSEWHERE)
    assert without_date(sent) == expected.response
    assert expected.records == []
    if changed.get("Accept") and method == "GET":
        head, _, body = sent.partition(b"\r\n\r\n")
        assert f"Retry-After: {json.loads(body)['retryAfter']}".encode() in head.split(b"\r\n")


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded"),
    [
        pytest.param(["10.0.0.0/8"], "10.0.0.7", ELSEWHERE, id="behind a trusted proxy"),
        pytest.param([], f"::ffff:{ELSEWHERE}", None, id="IPv4 address on an IPv6 socket"),
    ],
)
def test_the_event_loop_refuses_the_network_of_the_visitor(
    make_link: MakeLink, settings: Settings, trusted: list[str], peer: str, forwarded: str | None
) -> None:
    settings.TRUSTED_PROXIES = [ip_network(network) for network in trusted]
    data = request(f"/{make_link()['shortCode']}", {"X-Forwarded-For": forwarded})
    lane = lane_for(data)
    guess(60, browser(ELSEWHERE))

    answer = lane.answer(data, peer, time.time())

    assert answer is not None
    assert answer[0] == 429


@pytest.mark.parametrize("is_fast", [True, False])
def test_both_lanes_share_the_links_that_a_network_has_followed(
    make_link: MakeLink, *, is_fast: bool
) -> None:
    followed, other = (request(f"/{make_link()['shortCode']}") for _ in range(2))
    if is_fast:
        assert fast(followed, HERE) is not None
    else:
        django(followed, HERE)
    guess(60)

    for data, status in ((followed, 302), (other, 429)):
        response = lane_for(data).answer(data, SAME_NETWORK, time.time())
        assert response is not None
        assert response[0] == status


def lane_statuses(codes: Iterable[str], address: str = HERE) -> list[bytes]:
    """The statuses of the fast lane's responses, and none of Django's."""
    outcomes = [fast(request(f"/{code}"), address) for code in codes]
    return [outcome.response.split(b" ")[1] for outcome in outcomes if outcome is not None]


def test_both_lanes_count_guesses_together() -> None:
    assert lane_statuses(f"guess{number}" for number in range(40)) == [b"404"] * 40
    assert guess(20) == [404] * 20

    assert guess(1) == [429]
    assert lane_statuses(["guess9"]) == [b"429"]
    assert lane_statuses(["guess9"], ELSEWHERE) == [b"404"]


def test_the_fast_lane_refuses_the_sixty_first_miss(clock: Clock) -> None:
    assert lane_statuses(["guess"] * 62) == [b"404"] * 60 + [b"429"] * 2
    assert guess(1) == [429]
    clock.now += 1.1
    assert lane_statuses(["guess"] * 2) == [b"404", b"429"]


def test_a_fallback_url_in_the_fast_lane_does_not_exempt_guesses(alice: Any) -> None:
    domain_with_fallback(alice.workspace)
    data = request("/guess", {"Host": "go.brand.example"})
    outcomes = [fast(data, HERE) for _ in range(61)]

    assert [outcome.response.split(b" ")[1] for outcome in outcomes if outcome] == [b"302"] * 60 + [b"429"]


def test_a_refusal_that_another_process_caused_meanwhile_is_the_same_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lane has seen no network that is refused, but the last guess of this one is gone when it counts its own."""
    guess(60, browser(ELSEWHERE))
    data = request("/guess")
    with time_machine.travel(time.time(), tick=False):
        lane = lane_for(data)
        monkeypatch.setattr(lane, "_refusing", memoryview(bytearray(8)).cast("d"))
        outcome = fast(data, ELSEWHERE, lane)

    assert outcome == fast(data, ELSEWHERE)
    assert outcome == django(data, ELSEWHERE)
    assert outcome is not None
    assert (outcome.response.split(b" ")[1], outcome.records) == (b"429", [])


def test_both_lanes_name_the_same_seconds_of_a_long_refusal(make_link: MakeLink, clock: Clock) -> None:
    data = request(f"/{make_link()['shortCode']}")
    guesses().spend(HERE, 240)

    with time_machine.travel(time.time(), tick=False):
        outcome = fast(data, HERE)
        assert outcome == django(data, HERE)
    assert outcome is not None
    assert b"\r\nRetry-After: 181\r\n" in outcome.response


def test_the_lane_remembers_at_most_64_follows_in_10_ms(make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    data = request(f"/{code}")
    networks = [f"198.18.{number}.1" for number in range(66)]
    with time_machine.travel(time.time(), tick=False):
        lane, now = lane_for(data), time.time()
        for network in networks[:65]:
            assert lane.answer(data, network, now) is not None
        assert lane.answer(data, networks[65], now + 0.01) is not None

    followed = guesses().followed
    remembered = [followed.has_followed(network, code.encode()) for network in networks]
    assert remembered == [True] * 64 + [False, True]


def test_the_event_loop_says_when_to_try_again(settings: Settings) -> None:
    settings.UNKNOWN_CODE_LIMIT = 6
    guess(6)
    data = request("/guess")

    answer = lane_for(data).answer(data, HERE, time.time())
    assert answer is not None
    assert answer[1].count(b"\r\nRetry-After: 10\r\n") == 1
    assert b"\r\nX-Refusal-Reason: rate_limited\r\n" in answer[1]
    assert without_date(answer[1]) == django(data, HERE).response
