import pytest
from rest_framework.exceptions import ValidationError

from common.rest.fields import Boolean, Integer, QueryBoolean, QueryInteger, Text
from testing.cases import for_each
from tests.common.rest.field_values import codes

FAMILY = "👩\u200d👩\u200d👧\u200d👦"  # seven code points, one emoji


# Text


@pytest.mark.parametrize(
    "text",
    ["a", " ", "  padded  ", "\n", "a\u0301", "e\u0301 and é", FAMILY, "🇩🇪", "\u200f", "\ufeff", "\x7f", "\x01", "ﬃ",
     "x" * 10_000],
)  # fmt: skip
def test_text_is_not_changed(text: str) -> None:
    assert Text().run_validation(text) == text


@pytest.mark.parametrize("value", [5, 5.0, True, False, [], ["a"], {}, {"a": 1}, b"a"])
def test_text_is_a_json_string(value: object) -> None:
    assert codes(Text(), value) == ["invalid"]


@pytest.mark.parametrize("text", ["\0", "a\0b"])
def test_text_must_not_contain_nul(text: str) -> None:
    assert codes(Text(), text) == ["null_characters_not_allowed"]


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\ude00\ud83d"])
def test_text_must_not_contain_lone_surrogates(text: str) -> None:
    assert codes(Text(), text) == ["surrogate_characters_not_allowed"]


def test_text_may_be_null_or_empty_only_where_the_field_says_so() -> None:
    assert codes(Text(), None) == ["null"]
    assert codes(Text(), "") == ["blank"]
    assert Text(allow_null=True).run_validation(None) is None
    assert Text(allow_blank=True).run_validation("") == ""


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200,
        "é" * 200,
        "🎉" * 200,
        "e\u0301" * 200,  # 200 letters once composed
        "\u1100\u1161\u11a8" * 200,  # 200 Hangul syllables once composed
        "\u03c9\u0313\u0301\u0345" * 200,  # four code points composed into one
        FAMILY * 28,  # 196
        "q\u0323" * 100,  # has no composed form
        "\u212b" * 200,
    ],
)
def test_text_of_200_characters_fits(text: str) -> None:
    assert Text(characters=200).run_validation(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 201,
        "é" * 201,
        "🎉" * 201,
        "e\u0301" * 201,
        "\u03c9\u0313\u0301\u0345" * 201,
        FAMILY * 29,  # 203
        "q\u0323" * 101,
        "a" + " " * 200,
        "\u0958" * 101,  # composed, it is two each
        "x" * 60_000,
    ],
)
def test_text_of_more_than_200_characters_does_not(text: str) -> None:
    assert codes(Text(characters=200), text) == ["max_length"]


def test_text_that_is_too_long_says_how_long_it_may_be() -> None:
    with pytest.raises(ValidationError) as refused:
        Text(characters=200).run_validation("x" * 201)
    assert refused.value.detail == ["Ensure this has at most 200 characters."]


# Integer and Boolean


@pytest.mark.parametrize("value", [0, 1, -1, 2**31, -(2**63), 10**400])
def test_integer_is_a_json_integer(value: int) -> None:
    assert Integer().run_validation(value) == value


@pytest.mark.parametrize(
    "value",
    ["5", "", " 7 ", "1_000", "١٢٣", "\uff15", "0x10", "1e3", "+5", "-5", 5.0, 5.5, -0.0, 1e3, True, False, [],
     [5], {}],
)  # fmt: skip
def test_anything_else_is_not_an_integer(value: object) -> None:
    assert codes(Integer(), value) == ["invalid"]


@pytest.mark.parametrize(
    ("value", "refused"),
    [(0, ["min_value"]), (1, []), (9, []), (10, ["max_value"]), (-(10**400), ["min_value"]), (10**400, ["max_value"])],
)  # fmt: skip
def test_integer_stays_in_its_range(value: int, refused: list[str]) -> None:
    assert codes(Integer(min_value=1, max_value=9), value) == refused


def test_integer_may_be_null_only_where_the_field_says_so() -> None:
    assert codes(Integer(), None) == ["null"]
    assert Integer(allow_null=True).run_validation(None) is None


@pytest.mark.parametrize("value", [True, False])
def test_boolean_is_true_or_false(value: bool) -> None:
    assert Boolean().run_validation(value) is value
    assert Boolean().to_representation(value) is value


@pytest.mark.parametrize(
    "value", [0, 1, 1.0, "true", "false", "True", "1", "0", "yes", "on", "", [], {}, [True]]
)
def test_anything_else_is_not_a_boolean(value: object) -> None:
    assert codes(Boolean(), value) == ["invalid"]


# In a query string, where every value is text


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("7", 7), ("007", 7), ("999999999", 999_999_999)])
def test_number_in_a_query_is_written_in_ascii_digits(text: str, number: int) -> None:
    assert QueryInteger().run_validation(text) == number


@for_each(
    "text",
    ["", " ", "1_000", " 7", "7 ", "7\n", "+7", "-1", "7.0", "7,0", "1e3", "0x7", "١٢", "\uff17", "²", "x", "None",
     "NaN", "inf", "true", "1000000000", "9" * 5000, "7\0", "7;8"],
)  # fmt: skip
def test_anything_else_in_a_query_is_not_a_number(text: str) -> None:
    assert codes(QueryInteger(), text) == ["invalid"]


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("false", False), ("TRUE", True), ("False", False)]
)
def test_boolean_in_a_query_is_a_word(text: str, value: bool) -> None:
    assert QueryBoolean().run_validation(text) is value


@pytest.mark.parametrize(
    "text", ["", "1", "0", "yes", "no", "t", "on", "null", " true", "true ", "true\n", "tru\u0435"]
)
def test_anything_else_in_a_query_is_not_a_boolean(text: str) -> None:
    assert codes(QueryBoolean(), text) == ["invalid"]
