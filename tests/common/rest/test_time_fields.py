"""Fields with a time."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from rest_framework.exceptions import ValidationError

from common.rest.fields import DateTime, iso_utc
from testing.cases import for_each
from tests.common.rest.field_values import codes


@for_each(
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


@for_each(
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
