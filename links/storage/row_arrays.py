"""Transposes rows to one array per column, the parameters of ``unnest``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def columns(names: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """``names`` are the parameter names of the columns, separated by spaces."""
    return {name: [row[index] for row in rows] for index, name in enumerate(names.split())}
