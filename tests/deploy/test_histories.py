"""The judge of the failover proof, on histories with known verdicts."""

from __future__ import annotations

from math import inf

import pytest

from testing.failover.history import Addition, Listing, Operation, register_problem, set_problems


def read(began: float, ended: float, value: str) -> Operation:
    return Operation("read", began, ended, value)


def write(began: float, ended: float, value: str) -> Operation:
    return Operation("write", began, ended, value)


def cas(began: float, ended: float, expected: str, value: str, *, is_refused: bool = False) -> Operation:
    return Operation("cas", began, ended, value, expected, is_refused)


LINEARIZABLE = {
    "a read during a write sees either value": [write(0, 10, "b"), read(1, 2, "a"), read(3, 4, "b")],
    "an unknown write takes effect late": [write(0, inf, "b"), read(1, 2, "a"), read(8, 9, "b")],
    "an unknown write never takes effect": [write(0, inf, "b"), read(1, 2, "a"), read(8, 9, "a")],
    "a swap follows a write": [write(0, 1, "b"), cas(2, 3, "b", "c"), read(4, 5, "c")],
    "a swap is refused by an unknown write": [write(0, inf, "b"), cas(1, 2, "a", "c", is_refused=True)],
    "two writes at once, seen in one order": [
        write(0, 5, "b"),
        write(0, 5, "c"),
        read(6, 7, "b"),
        read(8, 9, "b"),
    ],
}
NOT_LINEARIZABLE = {
    "an acknowledged write is lost": [write(0, 1, "b"), read(2, 3, "a")],
    "a value comes back": [write(0, 10, "b"), read(1, 2, "b"), read(3, 4, "a")],
    "a swap succeeds twice": [cas(0, 1, "a", "b"), cas(2, 3, "a", "c")],
    "a swap is refused without a reason": [cas(1, 2, "a", "c", is_refused=True)],
    "two writes at once, seen in two orders": [
        write(0, 5, "b"), write(0, 5, "c"), read(6, 7, "b"), read(8, 9, "c"),
    ],
    "nobody wrote the value": [read(0, 1, "z")],
}  # fmt: skip


@pytest.mark.parametrize("name", LINEARIZABLE)
def test_linearizable(name: str) -> None:
    assert register_problem("a", LINEARIZABLE[name]) is None


@pytest.mark.parametrize("name", NOT_LINEARIZABLE)
def test_not_linearizable(name: str) -> None:
    assert register_problem("a", NOT_LINEARIZABLE[name]) is not None


def listing(began: float, *values: str) -> Listing:
    return Listing(frozenset(values), began, began + 1)


def test_sets() -> None:
    known, unknown, never = Addition("k", 0, 1), Addition("u", 0, inf), Addition("n", 0, inf)
    additions = [known, unknown, never]
    assert set_problems(additions, [listing(2, "k"), listing(4, "k", "u"), listing(6, "k", "u")]) == []
    assert set_problems(additions, [listing(2, "k"), listing(4)]) == [
        "'k' is missing in 1 listings, the last 3.000 s later"
    ]
    assert set_problems(additions, [listing(2, "k", "u"), listing(4, "k")]) == [
        "'u' is missing in 1 listings, the last 1.000 s later"
    ]
    assert set_problems(additions, [listing(2, "k", "x")]) == ["'x' was listed and never added"]
