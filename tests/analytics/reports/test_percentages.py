from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.representations import percentages


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([], []),
        ([0], [0.0]),
        ([0, 0], [0.0, 0.0]),
        ([1], [100.0]),
        ([1, 1], [50.0, 50.0]),
        ([1, 1, 1], [33.4, 33.3, 33.3]),
        ([2, 1], [66.7, 33.3]),
        ([1] * 7, [14.3, 14.3, 14.3, 14.3, 14.3, 14.3, 14.2]),
        ([5, 1, 0], [83.3, 16.7, 0.0]),
        ([9_999, 1], [100.0, 0.0]),
        ([9_995, 5], [100.0, 0.0]),
        ([10**18, 10**18, 10**18], [33.4, 33.3, 33.3]),
    ],
)
def test_percentages(counts: list[int], expected: list[float]) -> None:
    assert percentages(counts) == expected


@given(st.lists(st.integers(min_value=0, max_value=10**12), min_size=1, max_size=2000).filter(any))
def test_percentages_add_up_to_100_with_an_error_below_a_tenth(counts: list[int]) -> None:
    shares = percentages(counts)
    assert round(sum(round(share * 10) for share in shares)) == 1000
    total = sum(counts)
    assert all(
        abs(share - 100 * count / total) < 0.1 + 1e-9 for count, share in zip(counts, shares, strict=True)
    )
    assert [share for share in shares if share != round(share, 1)] == []
