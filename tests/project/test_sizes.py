"""No Python or Cython module is longer than 250 lines, and a folder can be read at a glance.

In `bench`, each module is a command.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from testing.packages import PROJECT, ROOTS

LINES = 250
MODULES = 16
# Beside subfolders. Every app also has modules that Django requires, such as `apps` and `admin`.
MODULES_BESIDE_FOLDERS = 20
# Each of its modules is a command of `make bench` or `make prove`.
OF_COMMANDS = PROJECT / "bench"


def modules() -> list[Path]:
    return [
        path
        for package in ROOTS
        for path in (PROJECT / package).rglob("*.py")
        if path.parent.name != "migrations"
    ]


def limit(folder: Path) -> int:
    return MODULES_BESIDE_FOLDERS if any(folder.glob("*/*.py")) else MODULES


def test_no_module_is_longer_than_250_lines() -> None:
    compiled = [
        path for path in (PROJECT / "redirects/compiled").iterdir() if path.suffix in (".pyx", ".pxi")
    ]
    assert len(compiled) > 5
    counted = [*modules(), *compiled]
    lines = {path.relative_to(PROJECT).as_posix(): path.read_text().count("\n") for path in counted}
    assert len(lines) > 1000
    assert {path: count for path, count in lines.items() if count > LINES} == {}


def test_no_folder_has_more_modules_than_a_reader_takes_in_at_a_glance() -> None:
    counts = Counter(path.parent for path in modules() if path.name != "__init__.py")
    del counts[OF_COMMANDS]
    assert {str(folder): count for folder, count in counts.items() if count > limit(folder)} == {}
