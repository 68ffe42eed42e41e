"""import-linter checks the imports inside every folder of the packages that run in production.

`.importlinter` has a contract for each folder, or for several. It must be exhaustive: a new module fails the check
until it has a place in the layers.
"""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

PROJECT = Path(__file__).parents[2]
DEVELOPMENT = {"bench", "testing", "tests"}
# Django prescribes what these contain and who imports it.
OF_DJANGO = {"apps", "management", "migrations"}

CONFIG = ConfigParser()
CONFIG.read_string((PROJECT / ".importlinter").read_text())
CONTRACTS = [CONFIG[name] for name in CONFIG.sections() if name.startswith("importlinter:contract:")]
EXHAUSTIVE = [contract for contract in CONTRACTS if contract.getboolean("exhaustive", fallback=False)]


def packages() -> set[str]:
    return {init.parent.name for init in PROJECT.glob("*/__init__.py")} - DEVELOPMENT


def folders_with_modules() -> set[str]:
    """Every folder with more than one module or subfolder, as Python names it."""
    folders = set()
    for package in packages():
        for init in (PROJECT / package).rglob("__init__.py"):
            folder = init.parent
            parts = folder.relative_to(PROJECT).parts
            children = {path.stem for path in folder.glob("*.py")} - {"__init__"}
            children |= {path.parent.name for path in folder.glob("*/__init__.py")}
            if not OF_DJANGO.intersection(parts) and len(children - OF_DJANGO) > 1:
                folders.add(".".join(parts))
    return folders


def test_every_folder_has_an_exhaustive_contract() -> None:
    folders = folders_with_modules()
    assert len(folders) > 50
    layered = {container for contract in EXHAUSTIVE for container in contract["containers"].split()}
    assert folders - layered == set()


def test_contracts_omit_only_what_django_prescribes() -> None:
    omitted = {name for contract in EXHAUSTIVE for name in contract.get("exhaustive_ignores", "").split()}
    assert omitted == OF_DJANGO


def test_every_package_has_its_place_among_the_packages() -> None:
    floors = CONFIG["importlinter:contract:floors"]["layers"].replace("|", " ").split()
    assert sorted(floors) == sorted(packages())
    assert set(CONFIG["importlinter"]["root_packages"].split()) == packages() | DEVELOPMENT
