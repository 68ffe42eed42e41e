"""Adds parameters of the visitor's request to a destination."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote_plus

from links.short_urls import SCAN_MARKER

MAX_QUERY = 4096
_OWN_NAMES = frozenset({SCAN_MARKER.partition("=")[0]})
# Some servers cut a name at NUL, and some decode "%u006e".
_AMBIGUOUS = re.compile(r"[\x00-\x1f\x7f-\x9f]|%u", re.IGNORECASE)
# PHP replaces these characters in names.
_PHP_NAMES = str.maketrans(" .[]", "____")


def with_forwarded(location: str, query: str) -> str:
    """Return ``location`` with those parameters of ``query`` whose names its own query does not have.

    Scheme, host, path and existing parameters stay unchanged, so a visitor cannot replace a parameter such as
    ``next``, whatever server reads the query. The service's own marker of scans, parameters with other than printable
    ASCII characters, and parameters whose names servers read differently are dropped. If the resulting query would
    exceed MAX_QUERY characters, nothing is forwarded.
    """
    before_query, present, names, fragment = _parts(location)
    forwarded, length = [present] if present else [], len(present)
    for piece in query.partition("#")[0].split("&"):
        if not piece or not piece.isascii() or not piece.isprintable():
            continue
        if _is_dropped(piece.partition("=")[0], names):
            continue
        # Some servers also separate parameters at ";", which would let a value add any parameter.
        addition = piece.replace(";", "%3B")
        length += len(addition) + bool(forwarded)
        if length > MAX_QUERY:
            return location
        forwarded.append(addition)
    return f"{before_query}?{'&'.join(forwarded)}{fragment}" if length > len(present) else location


@lru_cache(maxsize=1024)
def _parts(location: str) -> tuple[str, str, frozenset[str], str]:
    """Return the location before its query, the query, the names that cannot be forwarded, and the fragment."""
    before_fragment, hash_mark, fragment = location.partition("#")
    before_query, _, present = before_fragment.partition("?")
    encoded = (parameter.partition("=")[0] for parameter in re.split("[&;]", present))
    own = (name for parameter in encoded for name in _names(unquote_plus(parameter)))
    return before_query, present, _OWN_NAMES.union(own), hash_mark + fragment


def _is_dropped(encoded: str, names: frozenset[str]) -> bool:
    # Most names: every server reads them in the same way.
    if encoded.isidentifier():
        return encoded.lower() in names
    decoded = unquote_plus(encoded)
    return _AMBIGUOUS.search(decoded) is not None or not names.isdisjoint(_names(decoded))


def _names(decoded: str) -> tuple[str, str, str]:
    """Return the names as which servers may read a decoded name.

    Servers ignore case, outer spaces and array indexes. PHP replaces some characters, also a "[" without its "]".
    """
    name = decoded.lower().lstrip()
    stripped = name.rstrip()
    base = stripped.partition("[")[0]
    return base.translate(_PHP_NAMES), stripped.translate(_PHP_NAMES), name.translate(_PHP_NAMES)
