from __future__ import annotations

from typing import Any

import pytest
from rest_framework import serializers

from common.errors import MAX_REPORTED, FieldError, InvalidFields
from common.rest.envelope import invalid
from common.rest.fields import Integer, List


class Numbers(serializers.Serializer[Any]):
    numbers = List(child=Integer(), min_length=1, max_length=100)


def refusal(data: Any) -> InvalidFields:
    with pytest.raises(serializers.ValidationError) as refused:
        Numbers().run_validation({"numbers": data})
    return invalid(refused.value)


def test_a_valid_list_is_accepted() -> None:
    assert Numbers().run_validation({"numbers": [3, 1, 2]}) == {"numbers": [3, 1, 2]}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (5, "not_a_list"),
        ("5", "not_a_list"),
        ({"0": 5}, "not_a_list"),
        ([], "min_length"),
        ([1] * 101, "max_length"),
        (["x"] * 101, "max_length"),
    ],
)
def test_an_invalid_list_is_refused(data: Any, code: str) -> None:
    refused = refusal(data)
    assert [(error.field, error.code) for error in refused.errors] == [("numbers", code)]
    assert refused.more == 0


@pytest.mark.parametrize("wrong", [1, MAX_REPORTED, MAX_REPORTED + 1, 99])
def test_the_first_errors_are_reported_and_the_others_counted(wrong: int) -> None:
    refused = refusal([0, *(["x"] * wrong)])
    reported = min(wrong, MAX_REPORTED)
    assert [error.field for error in refused.errors] == [f"numbers.{n}" for n in range(1, reported + 1)]
    assert refused.more == wrong - reported


def test_errors_of_a_service_are_counted_the_same_way() -> None:
    refused = InvalidFields((FieldError(f"f{n}", "c", "m") for n in range(30)), more=5)
    assert ([error.field for error in refused.errors], refused.more) == ([f"f{n}" for n in range(20)], 15)
