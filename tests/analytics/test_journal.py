"""What a reader makes of a segment that was cut off or damaged, at every place where that can happen."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.proof.damage import CLICKS, flips, segment_of, truncations


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    return segment_of(tmp_path)


def test_only_the_record_that_was_cut_off_is_missing(whole: bytes, tmp_path: Path) -> None:
    assert truncations(whole, tmp_path) == []


def test_every_flipped_bit_is_detected_and_nothing_before_it_is_lost(whole: bytes, tmp_path: Path) -> None:
    assert flips(whole, tmp_path) == []


def test_a_segment_holds_what_was_appended(whole: bytes) -> None:
    assert CLICKS == 3
    assert len(whole) > 3 * 100
