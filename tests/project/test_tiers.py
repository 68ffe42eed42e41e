"""The lists of slow tests name files and folders that exist, so that a renamed one does not become a quick test."""

from __future__ import annotations

from tests.order import SECONDS
from tests.tiers import SLOW_PATHS, TESTS


def test_slow_tests_exist() -> None:
    assert sorted(str(path) for path in SLOW_PATHS if not path.exists()) == []


def test_files_with_a_duration_are_slow_tests() -> None:
    files = [TESTS / name for name in SECONDS]
    assert [str(file) for file in files if not file.is_file()] == []
    assert [str(file) for file in files if SLOW_PATHS.isdisjoint([file, *file.parents])] == []
