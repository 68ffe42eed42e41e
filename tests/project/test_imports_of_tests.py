"""Test modules do not import each other. Helpers of one folder stay in it, and helpers of several are in `testing`.

The tests of the fast lane also use those of plain Django, whose helpers must not be in `testing/fastlane`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from testing.packages import imported_modules

TESTS = Path(__file__).parents[1]


def is_allowed(importer: str, imported: str) -> bool:
    """Whether the imported module is a helper in the importer's folder or in one above it."""
    folder, _, name = imported.rpartition(".")
    return not name.startswith("test_") and importer.startswith((f"{folder}.", "tests.fastlane."))


@pytest.mark.slow
def test_test_modules_import_only_helpers_of_their_own_folder_or_one_above() -> None:
    wrong = [
        (importer, imported)
        for path in TESTS.rglob("*.py")
        for importer in [".".join(path.relative_to(TESTS.parent).with_suffix("").parts)]
        for imported in imported_modules(path.read_text(), importer.rpartition(".")[0], {"tests"})
        if not is_allowed(importer, imported)
    ]
    assert wrong == []
