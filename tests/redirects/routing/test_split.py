from __future__ import annotations

from collections import Counter

import pytest
from pytest_django.fixtures import Settings

from redirects.router import POINTS, Split

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
VISITORS = [(f"203.0.{number >> 8}.{number & 255}", AGENT) for number in range(20_000)]


@pytest.fixture(autouse=True)
def known_key(settings: Settings) -> None:
    """Makes the outcomes constants."""
    settings.SECRET_KEY = "shortener-" + "s" * 50


def test_a_visitor_stays_on_the_same_side() -> None:
    first, second = Split(7, [30, 30]), Split(7, [30, 30])

    assert [first.variant_of(*visitor) for visitor in VISITORS] == [
        second.variant_of(*visitor) for visitor in VISITORS
    ]


def test_each_side_gets_its_share_of_the_visitors() -> None:
    split = Split(7, [30, 50])

    shares = Counter(split.variant_of(*visitor) for visitor in VISITORS)

    # Three standard deviations are at most 0.011.
    deviations = {
        side: abs(shares[side] / len(VISITORS) - share) for side, share in ((0, 0.3), (1, 0.5), (None, 0.2))
    }
    assert all(deviation < 0.011 for deviation in deviations.values()), deviations


def test_without_a_rest_nobody_goes_to_the_target() -> None:
    split = Split(7, [1, 99])

    assert {split.variant_of(*visitor) for visitor in VISITORS} == {0, 1}


def test_the_splits_of_two_links_are_independent() -> None:
    first, second = Split(7, [50]), Split(8, [50])
    both = Counter((first.variant_of(*visitor), second.variant_of(*visitor)) for visitor in VISITORS)

    assert len(both) == 4
    assert all(abs(count / len(VISITORS) - 0.25) < 0.011 for count in both.values()), both


@pytest.mark.parametrize("other", [("203.0.113.9", "another agent"), ("203.0.113.10", AGENT)])
def test_the_point_depends_on_address_and_agent(other: tuple[str, str]) -> None:
    split = Split(7, [50, 50])

    assert split.point_of("203.0.113.9", AGENT) != split.point_of(*other)
    assert 0 <= split.point_of(*other) < POINTS


def test_another_weight_moves_only_the_visitors_between_the_limits() -> None:
    before, after = Split(7, [30, 40]), Split(7, [35, 40])

    moved = {
        (before.variant_of(*visitor), after.variant_of(*visitor))
        for visitor in VISITORS
        if before.variant_of(*visitor) != after.variant_of(*visitor)
    }

    assert moved == {(1, 0), (None, 1)}


def test_another_secret_key_gives_other_points(settings: Settings) -> None:
    before = Split(7, [50]).point_of(*VISITORS[0])
    settings.SECRET_KEY = "another-" + "s" * 50

    assert Split(7, [50]).point_of(*VISITORS[0]) != before
