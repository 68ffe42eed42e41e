"""The clock of the database goes 40 days ahead and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from testing.proof.clock_faults import CLICKS, ahead_and_back

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("with_hosts", [False, True], ids=["the database's alone", "with all hosts'"])
def test_lifetime_totals_survive_a_clock_that_goes_ahead_and_back(
    make_database: Callable[[], str], tmp_path: Path, with_hosts: bool
) -> None:
    assert ahead_and_back(make_database(), tmp_path, with_hosts=with_hosts) == (8 * CLICKS, [])
