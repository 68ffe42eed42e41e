"""The OpenAPI description of the API as an object."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from drf_spectacular.generators import SchemaGenerator

_generating = Lock()


def generate(patterns: Sequence[Any] | None = None) -> dict[str, Any]:
    """Describes the routes in ``patterns``; None: all. Takes a second for all, so callers keep the result."""
    # The generator is not thread-safe.
    with _generating:
        description: dict[str, Any] = SchemaGenerator(patterns=patterns).get_schema(public=True)
        return description
