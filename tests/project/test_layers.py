"""import-linter checks the imports inside every folder of the packages that run in production.

`.importlinter` has a contract for each folder, or for several. It must be exhaustive: a new module fails the check
until it has a place in the layers.
"""

from __future__ import annotations

from testing.packages import DEVELOPMENT, LINTER, PRODUCTION, PROJECT, ROOTS, folder_of, packages

# Django prescribes what these contain and who imports it.
OF_DJANGO = {"apps", "management", "migrations"}

CONTRACTS = [LINTER[name] for name in LINTER.sections() if name.startswith("importlinter:contract:")]
EXHAUSTIVE = [contract for contract in CONTRACTS if contract.getboolean("exhaustive", fallback=False)]


def children_of(package: str) -> set[str]:
    """The modules and subpackages that need a place in layers."""
    modules = {path.stem for path in folder_of(package).glob("*.py")} - {"__init__"}
    return (modules | {path.parent.name for path in folder_of(package).glob("*/__init__.py")}) - OF_DJANGO


def test_every_folder_has_an_exhaustive_contract() -> None:
    folders = {package for package in packages(PRODUCTION) if len(children_of(package)) > 1}
    assert len(folders) > 50
    layered = {container for contract in EXHAUSTIVE for container in contract["containers"].split()}
    assert folders - layered == set()


def test_contracts_omit_only_what_django_prescribes() -> None:
    omitted = {name for contract in EXHAUSTIVE for name in contract.get("exhaustive_ignores", "").split()}
    assert omitted == OF_DJANGO


def test_every_package_has_its_place_among_the_packages() -> None:
    assert {init.parent.name for init in PROJECT.glob("*/__init__.py")} | DEVELOPMENT == ROOTS
    floors = LINTER["importlinter:contract:floors"]["layers"].replace("|", " ").split()
    assert sorted(floors) == sorted(PRODUCTION)
