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


def test_test_modules_import_only_helpers_of_their_own_folder_or_one_above() -> None:
    wrong = [
        (importer, imported)
        for path in TESTS.rglob("*.py")
        for importer in [".".join(path.relative_to(TESTS.parent).with_suffix("").parts)]
        for imported in imported_modules(path.read_text(), importer.rpartition(".")[0], {"tests"})
        if not is_allowed(importer, imported)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("from tests.project.test_a import b", ["tests.project.test_a"]),
        ("import tests.project.a", ["tests.project.a"]),
        ("from tests.project import test_imports_of_tests", ["tests.project.test_imports_of_tests"]),
        ("def f():\n    from tests.project.a import (\n        b,\n    )", ["tests.project.a"]),
        ("from testing.polling import eventually", []),
    ],
)
def test_imports_are_found(source: str, modules: list[str]) -> None:
    assert list(imported_modules(source, "tests.project", {"tests"})) == modules


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("tests.links.test_a", "tests.links.helper", True),
        ("tests.links.bulk.test_a", "tests.links.helper", True),
        ("tests.links.bulk.test_a", "tests.emptying", True),
        ("tests.fastlane.test_a", "tests.links.helper", True),
        ("tests.fastlane.test_a", "tests.links.test_b", False),
        ("tests.links.test_a", "tests.fastlane.helper", False),
        ("tests.links.test_a", "tests.links.test_b", False),
        ("tests.links.test_a", "tests.links.bulk.helper", False),
        ("tests.links.test_a", "tests.domains.helper", False),
        ("tests.links_and_more.test_a", "tests.links.helper", False),
    ],
)
def test_helpers_of_a_folder_stay_in_it(importer: str, imported: str, allowed: bool) -> None:
    assert is_allowed(importer, imported) is allowed
