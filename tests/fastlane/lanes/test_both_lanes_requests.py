"""Which requests the fast lane answers, and that its answers are those of Django."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from testing.cases import for_each
from testing.fastlane.lanes import fast
from testing.redirects.visits import CLIENT, request
from tests.fastlane.lanes.links_of_lanes import NOT_SIMPLE, SIMPLE, check_same, path_of

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]


@for_each("changed", SIMPLE.values(), ids=SIMPLE)
def test_simple_requests_have_the_same_response_and_record_in_both_lanes(
    make_link: MakeLink, changed: dict[str, str | None]
) -> None:
    link = make_link()

    for client in (CLIENT, "2001:db8::9", "::ffff:203.0.113.9"):
        check_same(request(path_of(link), changed), client)


@for_each("changed", NOT_SIMPLE.values(), ids=NOT_SIMPLE)
def test_the_fast_lane_declines_requests_that_are_not_simple(
    make_link: MakeLink, changed: dict[str, str | None]
) -> None:
    link = make_link()

    assert fast(request(path_of(link), changed)) is None


@pytest.mark.parametrize(
    "query", ["?qr=1", "?qr=1&a=b", "?a=b&qr=1", "?qr=2", "?", "?a?b", "?%C3%A4", "?url=//evil.example"]
)
def test_a_query_string_only_distinguishes_scans_from_clicks(make_link: MakeLink, query: str) -> None:
    link = make_link()

    check_same(request(path_of(link, query)))


@pytest.mark.parametrize(
    ("method", "suffix", "version"),
    [
        ("POST", "", "1.1"),
        ("PUT", "", "1.1"),
        ("OPTIONS", "", "1.1"),
        ("get", "", "1.1"),
        ("GET", "", "1.0"),
        ("GET", "", "2.0"),
        ("GET", "//", "1.1"),
        ("GET", "#x", "1.1"),
        ("GET", "?a#x", "1.1"),
        ("GET", "?\xe4", "1.1"),
        ("GET", " ", "1.1"),
        ("GET", "?a b", "1.1"),
        ("GET", ";x", "1.1"),
    ],
)
def test_the_fast_lane_declines_other_request_lines(
    make_link: MakeLink, method: str, suffix: str, version: str
) -> None:
    link = make_link()

    assert fast(request(path_of(link, suffix), method=method, version=version)) is None


def test_the_fast_lane_declines_absolute_targets(make_link: MakeLink) -> None:
    link = make_link()

    assert fast(request(f"http://sho.rt{path_of(link)}")) is None


@pytest.mark.parametrize("rest", [b"x", b"\r\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_the_fast_lane_declines_more_than_one_head(make_link: MakeLink, rest: bytes) -> None:
    data = request(path_of(make_link()))

    assert fast(data + rest) is None


def test_the_fast_lane_declines_every_incomplete_request(make_link: MakeLink) -> None:
    data = request(path_of(make_link()))

    assert [end for end in range(len(data)) if fast(data[:end]) is not None] == []


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "code", ["unknown", "spring/", "ab", "a" * 255, "a-b", "wp-login.php", "%75nknown", "unknown?qr=1", "..."]
)
def test_unknown_codes_have_the_same_response_and_record_in_both_lanes(code: str, method: str) -> None:
    check_same(request(f"/{code}", method=method))


@pytest.mark.parametrize("code", ["a" * 256, "a%2Fb", "", ".", "..", "favicon.ico", "sw.js", "Admin"])
def test_the_fast_lane_declines_paths_that_are_no_codes(code: str) -> None:
    assert fast(request(f"/{code}")) is None
