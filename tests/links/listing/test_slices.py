"""The rows that a page is read from, from either end of the list."""

from __future__ import annotations

import pytest

from common.pages import Window
from links.lists import Slice, slice_of_page
from links.searches import list_options
from testing.cases import for_each


@for_each("total", range(1, 12))
@for_each("limit", [1, 2, 3, 5, 20])
def test_a_page_has_the_same_rows_from_either_end(total: int, limit: int) -> None:
    forward = list(range(total))
    for page in range(1, (total - 1) // limit + 2):
        options = list_options(Window(page, limit), sort_by="createdAt", sort_order="asc")
        part = slice_of_page(options, total, is_capped=False)
        rows = forward if part.direction == "ASC" else forward[::-1]
        read = rows[part.offset : part.end]
        assert sorted(read)[:limit] == forward[options.window.offset : options.window.offset + limit]
        # Never more than half of the list and one page, with the row after it.
        assert part.end <= total // 2 + limit + 1


@pytest.mark.parametrize(("sort_order", "direction"), [("asc", "ASC"), ("desc", "DESC")])
def test_a_list_of_unknown_length_is_read_from_its_start(sort_order: str, direction: str) -> None:
    options = list_options(Window(9, 10), sort_by="title", sort_order=sort_order)
    assert slice_of_page(options, 85, is_capped=True) == Slice(direction, 80, 11)
    backward = {"ASC": "DESC", "DESC": "ASC"}[direction]
    assert slice_of_page(options, 85, is_capped=False) == Slice(backward, 0, 5)
