"""The modules that a module imports. The page names them, so that browsers load all of them at once."""

from __future__ import annotations

import posixpath
import re
from functools import cache

from dashboard import files

# `import(...)` loads a module later, so it does not match.
_IMPORTED = re.compile(r"""(?:\bfrom|\bimport)\s*"(\.[^"]+)\"""")
# A style sheet that the module waits for before it draws anything.
_STYLE = re.compile(r"""^await loadStyle\("([^"]+)"\)""", re.MULTILINE)


@cache
def with_imports(*names: str) -> tuple[str, ...]:
    """The modules and everything that they import statically, without duplicates."""
    seen: dict[str, None] = {}
    for name in names:
        _collect(name, seen)
    return tuple(seen)


@cache
def styles_of(*names: str) -> tuple[str, ...]:
    """The style sheets that the modules wait for."""
    return tuple(style for name in names for style in _STYLE.findall(_source(name)))


def _collect(name: str, seen: dict[str, None]) -> None:
    if name in seen:
        return
    seen[name] = None
    for imported in _IMPORTED.findall(_source(name)):
        _collect(posixpath.normpath(posixpath.join(posixpath.dirname(name), imported)), seen)


def _source(name: str) -> str:
    return files.names()[name].read_text()
