"""The paths and names in the documents for developers exist."""

from __future__ import annotations

import re

import pytest

from testing.packages import PROJECT, ROOTS, defines

DOCUMENTS = ("docs/architecture.md", "CONTRIBUTING.md")
ARCHITECTURE = (PROJECT / "docs/architecture.md").read_text()
_FILE = r"[\w-]+\.(?:py|md|yml|yaml|json|jsonl|toml|txt)"
_PATH = rf"\.?[a-z][\w.-]*(?:/[\w.-]+)+/?|{_FILE}"


def without_fences(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def exists(path: str) -> bool:
    """A name without a folder stands for a file of that name in any app or folder of tests."""
    if "/" in path or (PROJECT / path).exists():
        return (PROJECT / path).exists()
    return any(PROJECT.glob(f"*/{path}")) or any(PROJECT.glob(f"tests/*/{path}"))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_exists(document: str) -> None:
    text = without_fences((PROJECT / document).read_text())
    paths = re.findall(rf"`({_PATH})`", text)
    assert len(paths) > 15
    assert [path for path in paths if not exists(path)] == []


def test_every_name_beside_a_module_is_defined_in_it() -> None:
    named = re.findall(r"`([\w/]+\.py)`, `(\w+)`", without_fences(ARCHITECTURE))
    assert len(named) >= 10
    missing = [(path, name) for path, name in named if not defines(PROJECT / path, name)]
    assert missing == []


def modules_of_the_tree() -> list[str]:
    """Paths without suffix: ``links/models``, ``links/bulk/drafts``."""
    package, modules = "", []
    for line in ARCHITECTURE.split("```")[1].splitlines():
        if package_line := re.match(r"(\w+)/", line):
            package = package_line[1]
        elif folder_line := re.fullmatch(r"    (?:(\w+/) +)?(\w+(?:, \w+)*)", line):
            modules += [f"{package}/{folder_line[1] or ''}{name}" for name in folder_line[2].split(", ")]
    return modules


def test_every_module_of_the_tree_exists() -> None:
    modules = modules_of_the_tree()
    assert len(modules) > 150
    assert [
        module
        for module in modules
        if not (PROJECT / f"{module}.py").is_file() and not (PROJECT / module / "__init__.py").is_file()
    ] == []


def test_every_folder_of_a_package_is_in_the_tree() -> None:
    shown = {module.rpartition("/")[0] for module in modules_of_the_tree()}
    packages = {folder.partition("/")[0] for folder in shown}
    folders = {
        f"{package}/{init.parent.name}"
        for package in packages
        for init in (PROJECT / package).glob("*/__init__.py")
        if init.parent.name not in ("management", "migrations")
    }
    assert packages == ROOTS - {"bench", "tests"}
    assert folders - shown == set()
