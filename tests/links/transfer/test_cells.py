from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from links.transfer.cells import boolean, guard, joined, number, split, unguard
from testing.cases import for_each
from tests.links.transfer.formulas import PAYLOADS


@for_each("payload", PAYLOADS)
def test_formulas_are_escaped(payload: str) -> None:
    assert guard(payload) == f"'{payload}"
    assert unguard(guard(payload)) == payload


@pytest.mark.parametrize(
    "text", ["", "a", "a=1", "'quoted'", "'", "''", "https://example.com/?a=-1", "ä", " a"]
)
def test_other_text_is_not_escaped(text: str) -> None:
    assert guard(text) == text == unguard(text)


@given(st.text(alphabet="'= \t\n-a\uff1d@"))
def test_unguard_reverses_guard(text: str) -> None:
    assert unguard(guard(text)) == text


@given(st.lists(st.text(alphabet="a5,\"' \n\r|[];")))
def test_split_reverses_joined(texts: list[str]) -> None:
    cell = joined(texts)
    assert split(cell) == texts


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("", []),
        ("a,b", ["a", "b"]),
        ('a,"b,c"', ["a", "b,c"]),
        ('["a","b"]', ["a", "b"]),
        ("[a", ["[a"]),
        ("[5]", [5]),
    ],
)
def test_lists_in_cells(cell: str, texts: list[str]) -> None:
    assert split(cell) == texts


@pytest.mark.parametrize(
    ("value", "expected"),
    [("5", 5), (5, 5), ("", ""), ("-5", "-5"), ("5.0", "5.0"), ("\u0665", "\u0665"), ("9" * 20, "9" * 20),
     (None, None), (True, True)],
)  # fmt: skip
def test_numbers(value: object, expected: object) -> None:
    assert number(value) is expected or number(value) == expected


@for_each(
    ("value", "expected"),
    [("true", True), ("TRUE", True), ("1", True), ("yes", True), ("false", False), ("0", False), ("No", False),
     (1, True), (0, False), (True, True), ("", ""), ("x", "x"), (2, 2), (None, None), (1.0, 1.0), ([], [])],
)  # fmt: skip
def test_booleans(value: object, expected: object) -> None:
    assert boolean(value) == expected
    assert type(boolean(value)) is type(expected)
