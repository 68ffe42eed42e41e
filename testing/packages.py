"""The project's packages, their docstrings, and the imports between them, read without importing any of them.

`.importlinter` lists the packages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[1]
LINTER = ConfigParser()
LINTER.read_string((PROJECT / ".importlinter").read_text())
ROOTS = set(LINTER["importlinter"]["root_packages"].split())
DEVELOPMENT = {"bench", "testing", "tests"}
PRODUCTION = ROOTS - DEVELOPMENT


def folder_of(package: str) -> Path:
    return PROJECT / package.replace(".", "/")


def packages(roots: set[str]) -> list[str]:
    """With their subpackages, as dotted names."""
    paths = [path.relative_to(PROJECT) for root in roots for path in folder_of(root).rglob("__init__.py")]
    named_by_django = {"management", "migrations"}
    return sorted(".".join(path.parts[:-1]) for path in paths if named_by_django.isdisjoint(path.parts))


@cache
def docstring_of(package: str) -> str:
    return ast.get_docstring(ast.parse((folder_of(package) / "__init__.py").read_text())) or ""


@cache
def has_module(package: str, name: str) -> bool:
    """Whether the package has a module or a subpackage of this name. A compiled module has a stub."""
    folder = folder_of(package)
    return any((folder / file).is_file() for file in (f"{name}.py", f"{name}.pyi", f"{name}/__init__.py"))


def defines(module: Path, name: str) -> bool:
    """Whether the module has a function or a class of this name at its top level."""
    return bool(re.search(rf"^(?:def|class) {name}\b", module.read_text(), re.MULTILINE))


def imported_modules(source: str, package: str, roots: set[str]) -> Iterator[str]:
    """The modules of the packages `roots` that a module with this source imports, if it is in this package."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in roots)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            above = parents[: len(parents) + 1 - node.level] if node.level else []
            parent = ".".join([*above, *([node.module] if node.module else [])])
            if parent.partition(".")[0] in roots:
                for alias in node.names:
                    yield f"{parent}.{alias.name}" if has_module(parent, alias.name) else parent


def entered(importer: str, imported: str) -> Iterator[tuple[str, str]]:
    """Each package that an import from the package `importer` enters, with the name of the module or package in it."""
    package, _, name = imported.rpartition(".")
    while package and not f"{importer}.".startswith(f"{package}."):
        yield package, name
        package, _, name = package.rpartition(".")


def imported_from_outside() -> set[tuple[str, str]]:
    """Packages of production and their direct modules and subpackages that production imports from elsewhere."""
    return {
        (package, name)
        for root in PRODUCTION
        for path in folder_of(root).rglob("*.py")
        for importer in [".".join(path.parent.relative_to(PROJECT).parts)]
        for imported in imported_modules(path.read_text(), importer, PRODUCTION)
        for package, name in entered(importer, imported)
    }
