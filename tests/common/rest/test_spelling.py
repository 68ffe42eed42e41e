from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.rest.unknown_fields import is_similar, is_within, normalized


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("maxClicks", "max_clicks"),
        ("maxClicks", "MAX-CLICKS"),
        ("maxClicks", "restrictions.maxClicks"[13:]),
        ("_id", "id"),
        ("tags", "tags[]"),
    ],
)
def test_case_and_punctuation_do_not_distinguish_names(first: str, second: str) -> None:
    assert normalized(first) == normalized(second)


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("title", "title", 0),
        ("titel", "title", 1),  # swapped
        ("tite", "title", 1),
        ("tiitle", "title", 1),
        ("tible", "title", 1),
        ("pasword", "password", 1),
        ("pwssaord", "password", 2),
        ("psswrd", "password", 2),
        ("apsswrod", "password", 2),  # two swaps
        ("isactvie", "isactive", 1),
        ("abcdefgh", "password", 3),
        # A swapped pair is not edited again: "optimal string alignment" has three edits, the true distance is two.
        ("ca", "abc", 3),
    ],
)
def test_edits_between_texts(first: str, second: str, edits: int) -> None:
    for allowed in range(3):
        assert is_within(allowed, first, second) is (allowed >= edits)
        assert is_within(allowed, second, first) is (allowed >= edits)


def distance(first: str, second: str) -> int:
    """Optimal string alignment, by the textbook's table."""
    table = [[max(i, j) for j in range(len(second) + 1)] for i in range(len(first) + 1)]
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            replaced = table[i - 1][j - 1] + (first[i - 1] != second[j - 1])
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, replaced)
            if i > 1 and j > 1 and first[i - 2 : i] == second[j - 2 : j][::-1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_edits_are_those_of_the_textbook(first: str, second: str) -> None:
    for allowed in range(3):
        assert is_within(allowed, first, second) is (distance(first, second) <= allowed)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a", "q", False),
        ("id", "ic", False),
        ("ids", "id", True),
        ("url", "utm", False),
        ("tag", "tags", True),
        ("name", "page", False),
        ("lmt", "limit", True),
        ("expires", "expiresat", True),
        ("comment", "description", False),
    ],
)
def test_short_names_allow_fewer_edits(first: str, second: str, expected: bool) -> None:
    assert is_similar(first, second, 2) is expected
