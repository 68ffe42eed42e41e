"""Parameters and sizes of statements about many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar


def column_arrays(names: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """One array per column, the parameters of ``unnest``. ``names`` are their names, separated by spaces."""
    return {name: [row[index] for row in rows] for index, name in enumerate(names.split())}


# For each branch, the triggers write a row of the history and the keys of its URL for searches. 1,000 links with ten
# rules in one statement would exceed the statement timeout.
ROUTED_LINKS_PER_STATEMENT = 50
Item = TypeVar("Item")


def statement_groups(routed: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(routed), ROUTED_LINKS_PER_STATEMENT):
        yield routed[start : start + ROUTED_LINKS_PER_STATEMENT]
