"""The imports of a module, read without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def folder_of(package: str) -> Path:
    return PROJECT / package.replace(".", "/")


@cache
def has_module(package: str, name: str) -> bool:
    """Whether the package has a module or a subpackage of this name. A compiled module has a stub."""
    folder = folder_of(package)
    return any((folder / file).is_file() for file in (f"{name}.py", f"{name}.pyi", f"{name}/__init__.py"))


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
