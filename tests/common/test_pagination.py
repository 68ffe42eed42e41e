import pytest

from common.pagination import PageQuery, pagination


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
def test_pages_are_as_many_as_hold_every_row(limit: int, total: int, pages: int) -> None:
    assert pagination(1, limit, total) == {"page": 1, "limit": limit, "total": total, "pages": pages}


def test_page_beyond_the_last_one_is_told_as_it_was_asked_for() -> None:
    assert pagination(7, 20, 21) == {"page": 7, "limit": 20, "total": 21, "pages": 2}


@pytest.mark.parametrize(
    ("asked", "page", "limit"),
    [
        ({}, 1, 20),
        ({"page": "3"}, 3, 20),
        ({"limit": "5"}, 1, 5),
        ({"limit": "1"}, 1, 1),
        ({"limit": "100"}, 1, 100),
        ({"page": "50000", "limit": "20"}, 50_000, 20),
        ({"page": "10000", "limit": "100"}, 10_000, 100),
        ({"page": "1000000", "limit": "1"}, 1_000_000, 1),
        ({"page": "2", "limit": "3", "unknown": "x"}, 2, 3),
    ],
)
def test_page_and_limit_have_defaults_and_bounds(asked: dict[str, str], page: int, limit: int) -> None:
    query = PageQuery(data=asked)
    assert query.is_valid()
    assert query.validated_data == {"page": page, "limit": limit}


@pytest.mark.parametrize(
    ("asked", "refused"),
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
        ({"page": "50001"}, {"page": ["too_deep"]}),
        ({"page": "10001", "limit": "100"}, {"page": ["too_deep"]}),
        ({"page": "1000001", "limit": "1"}, {"page": ["max_value"]}),
        ({"page": "999999999", "limit": "100"}, {"page": ["max_value"]}),
    ],
)
def test_what_is_out_of_bounds_is_refused(asked: dict[str, str], refused: dict[str, list[str]]) -> None:
    query = PageQuery(data=asked)
    assert query.is_valid() is False
    assert {field: [each.code for each in errors] for field, errors in query.errors.items()} == refused
