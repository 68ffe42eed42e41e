"""Tags in a query: separated by commas. After a backslash, a comma is a part of a tag."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Any other backslash is itself.
_TAG = re.compile(r"(?:\\[\\,]|[^,])+")
_ESCAPED = re.compile(r"\\([\\,])")
_SPECIAL = re.compile(r"[\\,]")


def tags_in(text: str) -> list[str]:
    """The tags of a text, without empty ones."""
    return [_ESCAPED.sub(r"\1", tag) for tag in _TAG.findall(text)]


def text_of(tags: Iterable[str]) -> str:
    """A text of which `tags_in` returns these tags."""
    return ",".join(_SPECIAL.sub(r"\\\g<0>", tag) for tag in tags)
