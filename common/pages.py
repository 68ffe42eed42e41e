"""Pages of lists: numbered ones, and those of a walk, which begin after or end before a row.

A walk misses no row and repeats none while others are added and removed, because it continues at a place of the order
and not at a number of rows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from django.db.models import Model, Q, QuerySet

Row = TypeVar("Row")
Object = TypeVar("Object", bound=Model)
# The values by which a list is sorted, of which the last is unique. JSON can hold them, and a query can compare them.
Key = tuple[Any, ...]


class Place(NamedTuple):
    """The key of a row. The page has the rows after it, or those before it if it ``is_backward``."""

    key: Key
    is_backward: bool = False


class Window(NamedTuple):
    """The part of a list that a request asks for: the page with this number, or the rows at a place.

    In a walk, ``page`` counts the pages from its start.
    """

    page: int
    limit: int
    place: Place | None = None

    @property
    def offset(self) -> int:
        return 0 if self.place else (self.page - 1) * self.limit

    @property
    def rows(self) -> int:
        """How many rows to read: one more than are shown tells whether others follow."""
        return self.limit + 1

    @property
    def is_backward(self) -> bool:
        return self.place is not None and self.place.is_backward


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """``total_is_capped``: there are more than ``total`` rows, and the rest was not counted.

    ``first`` and ``last`` are the keys of its ends; None if no rows precede or follow.
    """

    rows: list[Row]
    total: int
    total_is_capped: bool = False
    first: Key | None = None
    last: Key | None = None


def page_of(
    found: Sequence[Row],
    window: Window,
    total: int,
    key_of: Callable[[Row], Key],
    *,
    is_capped: bool = False,
) -> Page[Row]:
    """``found`` has the rows of the window in the order of the list, see `Window.rows`.

    ``total`` may be of another moment, so it does not decide alone whether rows follow a numbered page: a cursor too
    many leads to an empty page, but without one a walk misses rows. ``found`` may lack the row that follows if it was
    read from the other end of the list.
    """
    has_more = len(found) > window.limit
    rows = list(found[-window.limit :] if window.is_backward else found[: window.limit])
    if window.place is None:
        precedes = window.page > 1
        follows = has_more or window.offset + len(rows) < total
    else:
        # The row at whose place the page begins or ends may be gone.
        precedes, follows = (has_more, True) if window.is_backward else (True, has_more)
    first = key_of(rows[0]) if rows and precedes else None
    last = key_of(rows[-1]) if rows and follows else None
    return Page(rows, total, is_capped, first, last)


def window_in(rows: Sequence[Row], window: Window, key_of: Callable[[Row], Key]) -> Sequence[Row]:
    """What `page_of` takes, of all rows of a list, whose keys rise."""
    if window.place is None:
        return rows[window.offset : window.offset + window.rows]
    key = tuple(window.place.key)
    if window.is_backward:
        return rows[: bisect_left(rows, key, key=key_of)][-window.rows :]
    at = bisect_right(rows, key, key=key_of)
    return rows[at : at + window.rows]


def rows_of(objects: QuerySet[Object], window: Window, *order: str) -> list[Object]:
    """The objects of a window, in this order. All names of ``order`` begin with a hyphen, or none does."""
    found = list(rows_from_place(objects, window, *order))
    return found[::-1] if window.is_backward else found


def rows_from_place(objects: QuerySet[Object, Any], window: Window, *order: str) -> QuerySet[Object, Any]:
    """The query for `rows_of`, which begins at the place: its order is the opposite one if the window is backward."""
    names = [name.removeprefix("-") for name in order]
    is_falling = order[0].startswith("-") != window.is_backward
    if window.place is not None:
        objects = objects.filter(_beyond(names, window.place.key, "lt" if is_falling else "gt"))
    rows = objects.order_by(*(f"-{name}" if is_falling else name for name in names))
    return rows[window.offset : window.offset + window.rows]


def _beyond(names: Sequence[str], key: Key, comparison: str) -> Q:
    condition, equal = Q(), Q()
    for name, value in zip(names, key, strict=True):
        condition |= equal & Q(**{f"{name}__{comparison}": value})
        equal &= Q(**{name: value})
    return condition
