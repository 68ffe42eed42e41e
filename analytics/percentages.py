"""Shares of a whole, as people want to add them up."""

from __future__ import annotations

from collections.abc import Sequence


def percentages(counts: Sequence[int]) -> list[float]:
    """With one decimal, adding up to exactly 100: largest remainder, where equal ones go to whoever is first."""
    total = sum(counts)
    if not total:
        return [0.0] * len(counts)
    tenths = [count * 1000 // total for count in counts]
    by_remainder = sorted(range(len(counts)), key=lambda place: -(counts[place] * 1000 % total))
    for place in by_remainder[: 1000 - sum(tenths)]:
        tenths[place] += 1
    return [each / 10 for each in tenths]
