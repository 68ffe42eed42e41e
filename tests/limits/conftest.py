from __future__ import annotations

import pytest

from testing.attempts import slow_down_clock


@pytest.fixture
def slow_clock(db: None) -> None:
    """Time passes only if the test says so, however long the machine takes."""
    slow_down_clock()
