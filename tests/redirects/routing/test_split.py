from __future__ import annotations

from collections import Counter

import pytest
from pytest_django.fixtures import Settings

from redirects.router import TARGET, Split

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
VISITORS = [(f"203.0.{number >> 8}.{number & 255}", AGENT) for number in range(20_000)]


@pytest.fixture(autouse=True)
def known_key(settings: Settings) -> None:
    """Makes the outcomes constants."""
    settings.SECRET_KEY = "shortener-" + "s" * 50


def test_a_visitor_stays_on_the_same_side_in_whatever_order() -> None:
    first, second = Split(7, {1: 30, 2: 30}), Split(7, {2: 30, 1: 30})

    assert [first.branch_of(*visitor) for visitor in VISITORS] == [
        second.branch_of(*visitor) for visitor in VISITORS
    ]


def test_each_side_gets_its_share_of_the_visitors() -> None:
    split = Split(7, {4: 30, 15: 50})

    shares = Counter(split.branch_of(*visitor) for visitor in VISITORS)

    # Three standard deviations are at most 0.011.
    deviations = {
        side: abs(shares[side] / len(VISITORS) - share)
        for side, share in ((4, 0.3), (15, 0.5), (TARGET, 0.2))
    }
    assert all(deviation < 0.011 for deviation in deviations.values()), deviations


def test_without_a_rest_nobody_goes_to_the_target() -> None:
    split = Split(7, {1: 1, 2: 99})

    assert {split.branch_of(*visitor) for visitor in VISITORS} == {1, 2}


def test_the_splits_of_two_links_are_independent() -> None:
    first, second = Split(7, {1: 50}), Split(8, {1: 50})
    both = Counter((first.branch_of(*visitor), second.branch_of(*visitor)) for visitor in VISITORS)

    assert len(both) == 4
    assert all(abs(count / len(VISITORS) - 0.25) < 0.011 for count in both.values()), both


def test_the_side_depends_on_address_and_agent() -> None:
    split = Split(7, dict.fromkeys(range(1, 16), 6))
    sides = {
        split.branch_of(address, agent) for address in ("203.0.113.9", "203.0.113.10") for agent in "abcd"
    }

    assert len(sides) > 4


@pytest.mark.parametrize("raised", [1, 2, 3])
def test_another_weight_moves_few_visitors_whatever_its_place(raised: int) -> None:
    before = {1: 20, 2: 20, 3: 20}
    moves = Counter(
        (Split(7, before).branch_of(*visitor), Split(7, {**before, raised: 30}).branch_of(*visitor))
        for visitor in VISITORS
    )
    moved = {sides: visitors for sides, visitors in moves.items() if sides[0] != sides[1]}

    # Two shares change, that of the branch and that of the target: 13.6 % of the visitors move (three standard
    # deviations are 0.7 %), and nobody from one of the other branches to another.
    assert abs(sum(moved.values()) / len(VISITORS) - 0.136) < 0.008
    assert all(side == TARGET or raised == to for side, to in moved)


def test_the_former_weight_restores_the_former_sides() -> None:
    split, changed, restored = Split(7, {1: 30, 2: 40}), Split(7, {1: 50, 2: 40}), Split(7, {1: 30, 2: 40})

    assert [split.branch_of(*visitor) for visitor in VISITORS[:2_000]] == [
        restored.branch_of(*visitor) for visitor in VISITORS[:2_000]
    ]
    assert [split.branch_of(*visitor) for visitor in VISITORS[:2_000]] != [
        changed.branch_of(*visitor) for visitor in VISITORS[:2_000]
    ]


def test_another_secret_key_gives_other_sides(settings: Settings) -> None:
    before = [Split(7, {1: 50}).branch_of(*visitor) for visitor in VISITORS[:200]]
    settings.SECRET_KEY = "another-" + "s" * 50

    assert [Split(7, {1: 50}).branch_of(*visitor) for visitor in VISITORS[:200]] != before
