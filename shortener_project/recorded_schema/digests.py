"""Digests of our migrations' texts. Each database stores those that it was migrated with (`applied`).

This module uses the standard library only, because `recording` runs without Django.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

_PROJECT = Path(__file__).parents[2]
# The functions of these modules make statements of the migration. Those of `common` only execute them, and a module
# that is imported as a whole provides a default or a validator for Django's state.
_HELPER = re.compile(rb"^from (?!common\b|django\b)([a-z_.]+) import ", re.MULTILINE)

# The label of an app and the name of a migration.
Name = tuple[str, str]


@cache
def own_digests() -> dict[Name, str]:
    """Without the migrations of libraries, whose texts change with versions, but not what they do."""
    return digests(_PROJECT)


def digests(project: Path) -> dict[Name, str]:
    return {
        (path.parents[1].name, path.stem): _digest(path, project)
        for path in sorted(project.glob("*/migrations/[0-9]*.py"))
    }


def number(name: str) -> str:
    return name[:4]


def _digest(migration: Path, project: Path) -> str:
    """Of the module, the SQL files of its number, and the modules that have functions for it."""
    text = migration.read_bytes()
    modules = [project / (name.decode().replace(".", "/") + ".py") for name in sorted(_HELPER.findall(text))]
    files = [
        *sorted(migration.parent.glob(f"sql/{number(migration.name)}_*.sql")),
        *(module for module in modules if module.exists()),
    ]
    digest = hashlib.sha256(text)
    for file in files:
        digest.update(f"\n{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()
