"""A page of a list, with the length of the whole list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """``total_is_capped``: there are more than ``total`` rows, and the rest was not counted."""

    rows: list[Row]
    total: int
    total_is_capped: bool = False
