"""Recognises misspelt names."""

from __future__ import annotations

import re

MAX_EDITS = 2

_PUNCTUATION = re.compile(r"[\W_]+")


def normalized(name: str) -> str:
    """The letters and digits of a name in one case: ``max_clicks`` and ``maxClicks`` are equal."""
    return _PUNCTUATION.sub("", name).casefold()


def is_similar(first: str, second: str, edits: int) -> bool:
    """Whether at most ``edits`` edits, and fewer than half as many as the longer name has characters, make them equal.

    So names of one or two characters are similar to no other name, and names of three or four allow one edit.
    """
    return is_within(min(edits, (max(len(first), len(second)) - 1) // 2), first, second)


def is_within(edits: int, first: str, second: str) -> bool:
    """Whether at most ``edits`` edits make the texts equal: a character more, less or replaced, or two swapped.

    Swaps are of neighbours, and no swapped character is edited again (the "optimal string alignment" variant of the
    Damerau-Levenshtein distance). The time is bounded by the texts' length times five to the power of ``edits``.
    """
    if abs(len(first) - len(second)) > edits:
        return False
    while first and second and first[0] == second[0]:
        first, second = first[1:], second[1:]
    if not first or not second:
        return len(first) + len(second) <= edits
    if edits == 0:
        return False
    rest = edits - 1
    return (
        is_within(rest, first[1:], second[1:])
        or is_within(rest, first[1:], second)
        or is_within(rest, first, second[1:])
        or (first[:2] == second[1::-1] and is_within(rest, first[2:], second[2:]))
    )
