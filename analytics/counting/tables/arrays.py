"""Parameters for arrays as text: psycopg would convert each of thousands of elements by itself."""

from __future__ import annotations

from collections.abc import Iterable


def array(numbers: Iterable[int]) -> str:
    """For a parameter that is cast to an array of integers."""
    return "{" + ",".join(map(str, numbers)) + "}"


def byte_array(contents: Iterable[bytes]) -> str:
    """For a parameter that is cast to bytea[]."""
    return "{" + ",".join([f'"\\\\x{content.hex()}"' for content in contents]) + "}"
