"""The language that a visitor prefers, by the Accept-Language header (RFC 9110, section 12.5.4)."""

from __future__ import annotations

import re
from functools import lru_cache

_ITEM = re.compile(
    r"([a-z]{1,8}(?:-[a-z0-9]{1,8})*|\*)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?",
    re.IGNORECASE | re.ASCII,
)
_MAX_ITEMS = 50
# Conditions have no longer ranges.
MAX_RANGE = 35


def preferred_language(header: str) -> str | None:
    """Return the most preferred language range in lower case, the first of several with the same quality.

    None if the header names no language, or prefers any language ("*") to all others. Malformed items are ignored.
    """
    best, best_quality = None, 0.0
    for item in header.split(",", _MAX_ITEMS)[:_MAX_ITEMS]:
        match = _ITEM.fullmatch(item.strip(" \t"))
        if match and (quality := float(match[2] or 1)) > best_quality:
            best, best_quality = match[1].lower(), quality
    return None if best == "*" else best


def prefixes(tag: str) -> frozenset[str]:
    """Return the language ranges that match the tag in basic filtering (RFC 4647, section 3.3.1): those of ``de-at``
    are ``de-at`` and ``de``. Ranges of more than MAX_RANGE characters are left out.
    """
    subtags = (tag if len(tag) <= MAX_RANGE else tag[: MAX_RANGE + 1].rpartition("-")[0]).split("-")
    return frozenset("-".join(subtags[:count]) for count in range(1, len(subtags) + 1))


# An entry takes at most 5 KB: MAX_RANGE bounds the number of ranges, and the caller the length of the header.
@lru_cache(maxsize=1024)
def preferred_ranges(header: str) -> frozenset[str]:
    """Return the ranges that match the preferred language; none if there is no such language."""
    language = preferred_language(header)
    return frozenset() if language is None else prefixes(language)
