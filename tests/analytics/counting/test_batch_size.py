"""How many records the next batch may have."""

from __future__ import annotations

import pytest

from analytics.counting.batch import next_limit


@pytest.mark.parametrize(
    ("limit", "counted", "seconds", "expected"),
    [
        pytest.param(20_000, 20_000, 0.9, 20_000, id="the maximum on an idle machine"),
        pytest.param(20_000, 20_000, 4.0, 5_000, id="shorter transactions on a busy machine"),
        pytest.param(5_000, 5_000, 2.0, 2_500, id="still too slow"),
        pytest.param(5_000, 5_000, 0.5, 10_000, id="grows again"),
        pytest.param(5_000, 2_000, 1.0, 10_000, id="exactly as long as allowed"),
        pytest.param(1, 1, 0.01, 2, id="grows after isolating an uncountable record"),
        pytest.param(64, 64, 9.0, 128, id="grows to a small batch even if each takes long"),
        pytest.param(2_000, 2_000, 60.0, 1_000, id="never below a small batch"),
        pytest.param(20_000, 3, 2.0, 1_000, id="few records that waited for a lock"),
    ],
)
def test_the_next_batch_is_as_large_as_its_duration_allows(
    limit: int, counted: int, seconds: float, expected: int
) -> None:
    assert next_limit(limit, 20_000, counted, seconds) == expected
