from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError
from rest_framework.fields import Field

from common.rest.fields import Boolean, DateTime, Integer, QueryBoolean, QueryInteger, Text, iso_utc

FAMILY = "👩\u200d👩\u200d👧\u200d👦"  # seven code points, one emoji


def codes(field: Field[Any, Any, Any, Any], value: object) -> list[str]:
    """The error codes for ``value``; empty if the field accepts it."""
    try:
        field.run_validation(value)
    except ValidationError as refused:
        return [detail["code"] for detail in refused.get_full_details()]
    return []


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


@pytest.mark.parametrize(
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


# Times


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2030-12-31T23:59:59Z", "2030-12-31T23:59:59Z"),
        ("2030-12-31T23:59:59z", "2030-12-31T23:59:59Z"),
        ("2030-12-31t23:59:59Z", "2030-12-31T23:59:59Z"),
        ("2030-12-31t23:59:59z", "2030-12-31T23:59:59Z"),
        ("2030-12-31 23:59:59Z", "2030-12-31T23:59:59Z"),
        # Without an offset it is UTC
        ("2030-12-31", "2030-12-31T00:00:00Z"),
        ("2030-12-31T23:59", "2030-12-31T23:59:00Z"),
        ("2030-12-31T23:59:59", "2030-12-31T23:59:59Z"),
        ("2030-12-31 23:59", "2030-12-31T23:59:00Z"),
        ("2030-12-31T23:59:59.5", "2030-12-31T23:59:59.500000Z"),
        # Offsets
        ("2030-12-31T23:59:59+00:00", "2030-12-31T23:59:59Z"),
        ("2030-12-31T23:59:59-00:00", "2030-12-31T23:59:59Z"),
        ("2030-12-31T23:59:59+14:00", "2030-12-31T09:59:59Z"),
        ("2030-12-31T23:59:59-12:00", "2031-01-01T11:59:59Z"),
        ("2030-12-31T23:59:59+05:30", "2030-12-31T18:29:59Z"),
        ("2030-12-31T23:59:59+0530", "2030-12-31T18:29:59Z"),
        ("2030-12-31T23:59:59+05", "2030-12-31T18:59:59Z"),
        ("2030-12-31T23:59+01:00", "2030-12-31T22:59:00Z"),
        ("2030-12-31T00:30:00+01:00", "2030-12-30T23:30:00Z"),
        # Fractions
        ("2030-12-31T23:59:59.1Z", "2030-12-31T23:59:59.100000Z"),
        ("2030-12-31T23:59:59,25Z", "2030-12-31T23:59:59.250000Z"),
        ("2030-12-31T23:59:59.000Z", "2030-12-31T23:59:59Z"),
        ("2030-12-31T23:59:59.999999Z", "2030-12-31T23:59:59.999999Z"),
        ("2030-12-31T23:59:59.999999999Z", "2030-12-31T23:59:59.999999Z"),
        # The calendar and its ends
        ("2032-02-29", "2032-02-29T00:00:00Z"),
        ("2000-02-29", "2000-02-29T00:00:00Z"),
        ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_time_is_parsed_and_returned_in_utc(text: str, utc: str) -> None:
    moment = DateTime().run_validation(text)
    assert moment.tzinfo is UTC
    assert DateTime().to_representation(moment) == utc


@pytest.mark.parametrize(
    "value",
    [
        # No such day or time
        "2030-02-29",
        "1900-02-29",
        "2030-04-31",
        "2030-13-01",
        "2030-00-10",
        "2030-01-00",
        "2030-01-32",
        "2030-12-31T24:00:00Z",
        "2030-12-31T24:00",
        "2030-12-31T25:00:00Z",
        "2030-12-31T23:60:00Z",
        "2016-12-31T23:59:60Z",  # a leap second that there was
        "2030-12-31T23:59:61Z",
        "2030-12-31T23:59:59+24:00",
        "2030-12-31T23:59:59+99:99",
        "2030-12-31T23:59:59+05:60",
        "2030-12-31T23:59:59+05:99",
        "2030-12-31T23:59:59-0575",
        # Outside what can be stored
        "0000-01-01",
        "0000-12-31T23:59:59Z",
        "0001-01-01T00:00:00+00:01",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:59-12:00",
        "10000-01-01",
        "+12030-01-01",
        "-2030-01-01",
        # Other spellings
        "",
        " ",
        "now",
        "tomorrow",
        "never",
        "20301231",
        "20301231T235959Z",
        "2030",
        "2030-12",
        "2030-1-1",
        "30-12-31",
        "2030-W01",
        "2030-W01-1",
        "2030-365",
        "2030/12/31",
        "31.12.2030",
        "12/31/2030",
        "Tue, 31 Dec 2030 23:59:59 GMT",
        "2030-12-31T",
        "2030-12-31T23",
        "2030-12-31T1:00",
        "2030-12-31TZ",
        "2030-12-31Z",
        "2030-12-31+01:00",
        "2030-12-31T23:59:59.Z",
        "2030-12-31T23:59:59.1234567890Z",
        "2030-12-31T23:59.5Z",
        "2030-12-31T23:59:59 Z",
        "2030-12-31T23:59:59ZZ",
        "2030-12-31T23:59:59+",
        "2030-12-31T23:59:59+1",
        "2030-12-31T23:59:59+01:0",
        "2030-12-31T23:59:59+01:00:00",
        "2030-12-31T23:59:59\u221201:00",
        "2030-12-31T23:59:59 UTC",
        "2030-12-31T23:59:59[Europe/Berlin]",
        "2030-12-31_23:59:59",
        " 2030-12-31",
        "2030-12-31 ",
        "2030-12-31\n",
        "2030-12-31T23:59:59Z\n",
        "2030-12-31\0",
        # Digits and dashes that only look like it
        "٢٠٣٠-١٢-٣١",
        "\uff12\uff10\uff13\uff10-12-31",
        "2030\u201112\u201131",
        "2030-12-3²",
        # Other types
        1_924_991_999,
        1_924_991_999.5,
        True,
        [],
        ["2030-12-31"],
        {},
        "2" * 100_000,
    ],
)
def test_invalid_time_is_refused(value: object) -> None:
    assert codes(DateTime(), value) == ["invalid"]


def test_time_may_be_null_only_where_the_field_says_so() -> None:
    assert codes(DateTime(), None) == ["null"]
    assert DateTime(allow_null=True).run_validation(None) is None


def test_the_message_for_an_invalid_time_shows_a_valid_one() -> None:
    with pytest.raises(ValidationError) as refused:
        DateTime().run_validation("tomorrow")
    assert refused.value.detail == ["Must be an ISO 8601 date or date-time, such as 2030-12-31T23:59:59Z."]
    assert DateTime().run_validation("2030-12-31T23:59:59Z") == datetime(2030, 12, 31, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC), "2030-01-02T03:04:05Z"),
        (datetime(2030, 1, 2, 3, 4, 5, 6, tzinfo=UTC), "2030-01-02T03:04:05.000006Z"),
        (datetime(2030, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=5, minutes=30))), "2030-01-01T21:34:05Z"),
        (datetime(33, 4, 3, tzinfo=UTC), "0033-04-03T00:00:00Z"),
    ],
)  # fmt: skip
def test_times_are_written_in_utc_with_z(moment: datetime, text: str) -> None:
    assert iso_utc(moment) == text
