"""Percentages that add up to exactly 100."""

from __future__ import annotations

from collections.abc import Sequence


def percentages(counts: Sequence[int]) -> list[float]:
    """Percentages with one decimal, by the largest remainder method. Ties go to the earlier count."""
    total = sum(counts)
    if not total:
        return [0.0] * len(counts)
    tenths = [count * 1000 // total for count in counts]
    by_remainder = sorted(range(len(counts)), key=lambda index: -(counts[index] * 1000 % total))
    for index in by_remainder[: 1000 - sum(tenths)]:
        tenths[index] += 1
    return [share / 10 for share in tenths]
