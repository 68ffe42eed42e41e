"""Arrays as text, for parameters with a cast: the driver converts each element of a list by itself, and takes several
times as long.
"""

from __future__ import annotations

from collections.abc import Iterable


def integer_array(numbers: Iterable[int]) -> str:
    """For a parameter that is cast to an array of integers."""
    return "{" + ",".join(map(str, numbers)) + "}"


def text_array(values: Iterable[str | None]) -> str:
    """For a parameter that is cast to an array. None becomes null."""
    return "{" + ",".join("NULL" if value is None else _quoted(value) for value in values) + "}"


def bytea_array(contents: Iterable[bytes]) -> str:
    """For a parameter that is cast to bytea[]."""
    return "{" + ",".join([f'"\\\\x{content.hex()}"' for content in contents]) + "}"


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
