"""A package's docstring names its entry points: the modules that code outside the package imports.

Paths in settings and routes, such as ``MIDDLEWARE``, are not imports.
"""

from __future__ import annotations

import re

import pytest

from testing.packages import (
    PRODUCTION,
    PROJECT,
    ROOTS,
    defines,
    docstring_of,
    entered,
    folder_of,
    has_module,
    imported_from_outside,
    imported_modules,
    packages,
)

DOCUMENTED = packages(ROOTS - {"tests"})
# Every app has them, and Django gives them their names.
NAMED_BY_DJANGO = {"models", "urls"}


def names_in(docstring: str) -> list[str]:
    return re.findall(r"`([\w./]+)`", docstring)


def named_modules(package: str) -> set[str]:
    """The direct modules and subpackages that the package's docstring names."""
    firsts = {name.partition(".")[0] for name in names_in(docstring_of(package))}
    return {name for name in firsts if has_module(package, name)}


def is_code(name: str) -> bool:
    """Whether a dotted name from the top is a package, a module, or a function or class in one."""
    package, _, last = name.rpartition(".")
    if has_module(package, last):
        return True
    module = folder_of(package).with_suffix(".py")
    return module.is_file() and defines(module, last)


def exists(package: str, name: str) -> bool:
    """Whether a name in the docstring of the package is code, from there or from the top, or a path."""
    return is_code(f"{package}.{name}") or is_code(name) or (PROJECT / name).exists()


def test_every_package_has_a_docstring() -> None:
    assert len(DOCUMENTED) > 80
    assert [package for package in DOCUMENTED if not docstring_of(package)] == []


def test_every_docstring_of_production_names_a_module_of_its_package() -> None:
    assert [package for package in packages(PRODUCTION) if not named_modules(package)] == []


def test_every_name_in_a_docstring_exists() -> None:
    named = [(package, name) for package in DOCUMENTED for name in names_in(docstring_of(package))]
    assert len(named) > 250
    assert [(package, name) for package, name in named if not exists(package, name)] == []


def test_docstrings_name_the_modules_that_other_packages_import() -> None:
    named = {(package, name) for package in packages(PRODUCTION) for name in named_modules(package)}
    imported = {(package, name) for package, name in imported_from_outside() if name not in NAMED_BY_DJANGO}
    assert len(imported) > 250
    assert sorted(imported - named) == []


@pytest.mark.parametrize(
    ("package", "name", "expected"),
    [
        ("redirects", "checks", True),
        ("redirects", "access", False),
        ("redirects", "fast", True),
        ("redirects", "fast.lane", True),
        ("redirects", "checks.py", False),
        ("links.storage", "insert.insert_link", True),
        ("links.storage", "insert.insert_nothing", False),
        ("links.storage", "insert_link", False),
        ("redirects.compiled", "plain_links", True),
        ("bans", "links.operators.bans", True),
        ("local_postgres", "manage.py", True),
        ("local_postgres", "manager.py", False),
        ("dashboard", "dashboard/front", True),
        ("dashboard", "dashboard/back", False),
    ],
)
def test_names_are_looked_up(package: str, name: str, expected: bool) -> None:
    assert exists(package, name) is expected


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("from links.storage.moves import lock_links", ["links.storage.moves"]),
        ("from links.storage import moves, update", ["links.storage.moves", "links.storage.update"]),
        ("import links.storage.moves", ["links.storage.moves"]),
        ("if TYPE_CHECKING:\n    from links import services", ["links.services"]),
        ("from . import roles", ["accounts.rights.roles"]),
        ("from .roles import Role", ["accounts.rights.roles"]),
        ("from ..models import User", ["accounts.models"]),
        ("import json\nfrom django.db import models\nfrom testing import polling", []),
    ],
)
def test_imports_are_found(source: str, modules: list[str]) -> None:
    assert list(imported_modules(source, "accounts.rights", PRODUCTION)) == modules


@pytest.mark.parametrize(
    ("importer", "imported", "expected"),
    [
        ("accounts", "links.storage.moves", [("links.storage", "moves"), ("links", "storage")]),
        ("links.bulk", "links.storage.moves", [("links.storage", "moves")]),
        ("links", "links.storage.moves", [("links.storage", "moves")]),
        ("links.storage", "links.storage.moves", []),
        ("links.storage.deeper", "links.services", []),
        ("links_and_more", "links.services", [("links", "services")]),
        ("accounts", "links", []),
    ],
)
def test_an_import_enters_packages(importer: str, imported: str, expected: list[tuple[str, str]]) -> None:
    assert list(entered(importer, imported)) == expected
