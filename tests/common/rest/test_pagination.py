import pytest

from common.pages import Page, Window
from common.rest.pagination import MAX_DEPTH, PageQuery, pagination_of
from testing.cases import for_each


@pytest.mark.parametrize(
    ("limit", "total", "pages"),
    [
        (20, 0, 0),
        (20, 1, 1),
        (20, 19, 1),
        (20, 20, 1),
        (20, 21, 2),
        (20, 40, 2),
        (20, 41, 3),
        (1, 3, 3),
        (100, 99, 1),
        (100, 100, 1),
        (100, 101, 2),
        (3, 10**15 + 1, 333_333_333_333_334),
    ],
)
def test_the_number_of_pages_covers_every_row(limit: int, total: int, pages: int) -> None:
    shown = pagination_of(Page([], total), Window(1, limit))
    assert shown == {"page": 1, "limit": limit, "total": total, "pages": pages}


def test_a_page_beyond_the_last_one_is_returned_as_requested() -> None:
    shown = pagination_of(Page([], 21), Window(7, 20))
    assert shown == {"page": 7, "limit": 20, "total": 21, "pages": 2}


@pytest.mark.parametrize(
    ("parameters", "page", "limit"),
    [
        ({}, 1, 20),
        ({"page": "3"}, 3, 20),
        ({"limit": "5"}, 1, 5),
        ({"limit": "1"}, 1, 1),
        ({"limit": "100"}, 1, 100),
        ({"page": "50001", "limit": "20"}, 50_001, 20),
        ({"page": "10001", "limit": "100"}, 10_001, 100),
        ({"page": "1000001", "limit": "1"}, 1_000_001, 1),
        ({"page": "2", "limit": "3", "unknown": "x"}, 2, 3),
    ],
)
def test_page_and_limit_have_defaults_and_bounds(parameters: dict[str, str], page: int, limit: int) -> None:
    query = PageQuery(data=parameters)
    assert query.is_valid()
    assert query.validated_data == {"page": page, "limit": limit}


@for_each(
    ("parameters", "refused"),
    [
        ({"page": "0"}, {"page": ["min_value"]}),
        ({"limit": "0"}, {"limit": ["min_value"]}),
        ({"limit": "101"}, {"limit": ["max_value"]}),
        ({"page": "-1"}, {"page": ["invalid"]}),
        ({"page": "1.0"}, {"page": ["invalid"]}),
        ({"page": ""}, {"page": ["invalid"]}),
        ({"page": "\u0661"}, {"page": ["invalid"]}),
        ({"page": "1_0"}, {"page": ["invalid"]}),
        ({"limit": " 7 "}, {"limit": ["invalid"]}),
        ({"page": "9" * 30}, {"page": ["invalid"]}),
        ({"page": "0", "limit": "101"}, {"page": ["min_value"], "limit": ["max_value"]}),
        ({"page": "50002"}, {"page": ["too_deep"]}),
        ({"page": "10002", "limit": "100"}, {"page": ["too_deep"]}),
        ({"page": "1000002", "limit": "1"}, {"page": ["max_value"]}),
        ({"page": "999999999", "limit": "100"}, {"page": ["max_value"]}),
    ],
)
def test_out_of_bounds_values_are_refused(parameters: dict[str, str], refused: dict[str, list[str]]) -> None:
    query = PageQuery(data=parameters)
    assert query.is_valid() is False
    assert {field: [error.code for error in errors] for field, errors in query.errors.items()} == refused


@pytest.mark.parametrize("limit", [1, 3, 20, 100])
def test_the_page_after_the_last_full_one_within_a_million_rows_is_accepted(limit: int) -> None:
    """A client that walks `pages` requests it to learn that it is empty."""
    last = MAX_DEPTH // limit
    full = Page([None] * limit, 100_000, total_is_capped=True)
    pages = pagination_of(full, Window(last, limit))["pages"]
    assert pages == last + 1
    assert PageQuery(data={"page": str(pages), "limit": str(limit)}).is_valid()
