"""Rows as arrays, one for each column: what ``unnest`` makes a table of again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def columns(names: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(names.split())}
