"""The query parameters of reports."""

from __future__ import annotations

import zoneinfo
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from analytics.exports.formats import FORMATS, JSON
from analytics.filter_fields import MAX_IDS, ClickFilters, IdsField, LinkSelection
from analytics.reports.groups import GROUPS, HEAT, OF_ONE_LINK
from analytics.reports.periods import (
    DEFAULT_DAYS_BY_HOUR,
    FIRST_DAY,
    HOURS,
    LAST_DAY,
    MAX_DAYS_BY_HOUR,
    PERIODS,
    RequestedRange,
    local_day,
    named_range,
)
from analytics.reports.raw import CHANNEL
from analytics.reports.scope import NONE
from common.rest.fields import DateTime, QueryBoolean, QueryInteger, Text, choice_field
from common.rest.pagination import DEFAULT_LIMIT, PageQuery
from common.rest.unknown_fields import Closed
from links.routing.conditions import ZoneNameField
from links.tags.serializers import TagsQuery

TOP, MAX_TOP = 10, 100
MAX_VALUES = 1_000
# Of a report of a workspace.
DEFAULT_PERIOD, DEFAULT_DAYS = "30d", 30
CLICKS_PER_PAGE, MAX_CLICKS_PER_PAGE = 20, 100
# The codes near to each of them are looked up.
MAX_CODES_PER_PAGE = 50

_OUT_OF_RANGE = serializers.ErrorDetail(f"Must lie between {FIRST_DAY} and {LAST_DAY}.", code="out_of_range")
NO_FILE = "Only a file has a manifest: send a format other than json, too."
WHOLE_FILE = "A file has all requests: send no limit."
ALL_TAGS = "A file has all tags: send no page, no limit and no cursor."
CLICKS = "clicks"
NO_RANGE = "To sort by clicks, send a period or dates, too."
ALL_CODES = "A file has all codes: send no page and no limit."
BOTH_RANGES = "Send either period or dates, not both."


_OF_GROUPS = (
    f"`{CHANNEL}` needs single requests, like a filter. `{HEAT}` is the hour of the week in `timezone`, from `1-0`"
    f" (Monday from midnight) to `7-23`; it leaves out hours without clicks. `{NONE}`: links without one."
)


class DayField(DateTime):
    """A date remains a date, because it is a day in the report's zone. A date-time is a moment."""

    default_error_messages = {
        "invalid": "Must be an ISO 8601 date or date-time, such as 2030-12-31 or 2030-12-31T23:59:59Z;"
        " in a URL, encode + as %2B."
    }

    def to_internal_value(self, data: Any) -> datetime | date:  # type: ignore[override] # also a date
        moment = super().to_internal_value(data)
        return moment.date() if len(data) == len("2030-12-31") else moment


class ZoneField(ZoneNameField):
    def to_internal_value(self, data: Any) -> tzinfo:  # type: ignore[override] # the zone, not its name
        # zoneinfo reads the file that the name refers to: only known names get here.
        name = super().to_internal_value(data)
        return UTC if name == "UTC" else zoneinfo.ZoneInfo(name)

    def to_representation(self, value: Any) -> str:
        return str(value)


class DaysQuery(serializers.Serializer[Any]):
    period = choice_field(
        choices=PERIODS,
        required=False,
        help_text="Instead of dates: the last 24 hours, `today`, so many days, the last 12 months with this one, this"
        " month or this year so far (`mtd`, `ytd`), or the whole lifetime (`all`).",
    )
    startDate = DayField(
        source="start",
        required=False,
        help_text="The first day: a date, or a date-time whose day in `timezone` is used. A date-time without an"
        " offset is UTC. By default, a range starts when the link was created.",
    )
    endDate = DayField(
        source="end",
        required=False,
        help_text="The last day (inclusive). By default, a range ends today. Without either date, the report covers"
        " the whole lifetime.",
    )
    timezone = ZoneField(source="zone", default=UTC, help_text="The IANA time zone of the days.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Convert the dates to days of the zone."""
        errors = {}
        if "period" in attrs and ("start" in attrs or "end" in attrs):
            errors["period"] = serializers.ErrorDetail(BOTH_RANGES, code="conflict")
        for name, key in (("startDate", "start"), ("endDate", "end")):
            if (moment := attrs.get(key)) is not None:
                attrs[key] = local_day(moment, attrs["zone"])
                if attrs[key] is None:
                    errors[name] = _OUT_OF_RANGE
        if errors:
            raise serializers.ValidationError(errors)
        return attrs


def requested_range(query: Mapping[str, Any]) -> RequestedRange:
    """The range of a validated `DaysQuery`."""
    zone, interval = query["zone"], query.get("interval", "day")
    if "period" in query:
        return named_range(query["period"], zone, interval, timezone.now())
    return RequestedRange(query.get("start"), query.get("end"), zone, interval)


class ErasureQuery(Closed):
    default_error_messages = {
        "no_date": "Must be a date, such as 2030-12-31: visits are counted by UTC day.",
        "future": "Must not be later than tomorrow (UTC).",
    }

    before = DayField(help_text="The first day (UTC) whose visits stay; at most tomorrow.")
    fromClickCount = QueryBoolean(
        source="from_count",
        default=False,
        help_text="Whether `clickCount` loses the erased clicks, too, those of earlier erasures included. Then a link"
        " with `maxClicks` has clicks left again.",
    )

    def validate_before(self, value: datetime | date) -> date:
        if isinstance(value, datetime):
            self.fail("no_date")
        day = local_day(value, UTC)
        if day is None:
            raise serializers.ValidationError(_OUT_OF_RANGE)
        if day > datetime.now(UTC).date() + timedelta(days=1):
            self.fail("future")
        return day


class FileFormat(Closed):
    format = choice_field(
        choices=[JSON, *FORMATS],
        source="file_format",
        default=JSON,
        help_text="`json` for this response, or a file with the same columns as `csv`, `jsonl` (an object per line) or"
        " `parquet`.",
    )
    manifest = QueryBoolean(
        default=False,
        help_text="Whether the file comes in a ZIP archive with `manifest.json`: its SHA-256 digest, rows, clicks and"
        " query.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        if attrs["manifest"] and attrs["file_format"] == JSON:
            raise serializers.ValidationError({"manifest": NO_FILE}, code="conflict")
        return attrs


class UtcDaysQuery(FileFormat, DaysQuery):
    period = None  # type: ignore[assignment] # how DRF removes an inherited field
    timezone = None  # type: ignore[assignment] # how DRF removes an inherited field

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return super().validate({"zone": UTC, **attrs})


class UnknownCodesQuery(UtcDaysQuery, PageQuery):
    limit = QueryInteger(
        default=DEFAULT_LIMIT, min_value=1, max_value=MAX_CODES_PER_PAGE, help_text="Codes per page."
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        query: dict[str, Any] = super().to_internal_value(data)
        if query["file_format"] != JSON and (sent := [name for name in ("page", "limit") if name in data]):
            raise serializers.ValidationError(dict.fromkeys(sent, ALL_CODES), code="conflict")
        return query

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return UtcDaysQuery.validate(self, PageQuery.validate(self, attrs))


class OverviewQuery(FileFormat, ClickFilters, DaysQuery):
    compare = choice_field(
        choices=["previous", "year"],
        required=False,
        help_text="Adds `compared`: the figures of as many days right before the range (`previous`), or of the same"
        " days a year earlier. For the whole lifetime there are none.",
    )
    groupBy = choice_field(
        choices=OF_ONE_LINK,
        source="group",
        required=False,
        help_text=f"Adds `groups`: the clicks by this property. {_OF_GROUPS}",
    )
    interval = choice_field(
        choices=["hour", "day", "month"],
        default="day",
        help_text=f"The steps of `clicksByDate`. By hour, a range has at most {MAX_DAYS_BY_HOUR} days; without dates,"
        f" it is the last {DEFAULT_DAYS_BY_HOUR} days. With the period `{HOURS}`, the default is `hour`.",
    )
    limit = QueryInteger(
        default=TOP,
        min_value=1,
        max_value=MAX_TOP,
        help_text="The maximum number of values in each list except `clicksByDate`.",
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Read the interval, whose default depends on the period."""
        query: dict[str, Any] = super().to_internal_value(data)
        if query.get("period") == HOURS and "interval" not in data:
            query["interval"] = "hour"
        return query


def with_start(query: dict[str, Any]) -> dict[str, Any]:
    """The query of a workspace: without a start, its range has DEFAULT_DAYS."""
    if "period" in query or "start" in query:
        return query
    end = query.get("end")
    if end is None:
        return {**query, "period": DEFAULT_PERIOD}
    return {**query, "start": max(FIRST_DAY, end - timedelta(days=DEFAULT_DAYS - 1))}


class WorkspaceQuery(LinkSelection, OverviewQuery):
    groupBy = choice_field(
        choices=GROUPS,
        source="group",
        required=False,
        help_text=f"Adds `groups`: the clicks by this property of the click, or of the link as it is now (by utm"
        f" parameters, as it was at the end of the day of the click). {_OF_GROUPS}"
        " A click on a link with several tags counts for each of them.",
    )
    limit = QueryInteger(
        default=TOP,
        min_value=1,
        max_value=MAX_TOP,
        help_text="The maximum number of links in `topUrls`, and of values in each list except `clicksByDate`.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        return attrs if attrs["interval"] == "hour" else with_start(attrs)


class SparklinesQuery(Closed):
    urlIds = IdsField(
        source="ids",
        default=[],
        allow_blank=True,
        help_text=f"The `_id` of each link, separated by commas; at most {MAX_IDS}.",
    )


class ValuesQuery(FileFormat, ClickFilters, DaysQuery):
    limit = QueryInteger(
        default=MAX_VALUES,
        min_value=1,
        max_value=MAX_VALUES,
        help_text="The maximum number of values in each list.",
    )


class ClicksQuery(FileFormat, ClickFilters, DaysQuery):
    cursor = Text(required=False, help_text="The `nextCursor` of the previous page.")
    limit = QueryInteger(
        default=CLICKS_PER_PAGE,
        min_value=1,
        max_value=MAX_CLICKS_PER_PAGE,
        help_text="The maximum number of requests on a page; a file has all of them.",
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        query: dict[str, Any] = super().to_internal_value(data)
        if query["file_format"] != JSON and "limit" in data:
            raise serializers.ValidationError({"limit": WHOLE_FILE}, code="conflict")
        return query


class WorkspaceClicksQuery(LinkSelection, ClicksQuery):
    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return with_start(super().validate(attrs))


class TagsOfPeriodQuery(FileFormat, DaysQuery, TagsQuery):
    sortBy = choice_field(
        source="sort_by",
        choices=["name", "linkCount", CLICKS],
        default="name",
        help_text=f"`{CLICKS}`: by those in the range.",
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        query: dict[str, Any] = super().to_internal_value(data)
        if query["file_format"] != JSON and (
            sent := [name for name in ("page", "limit", "cursor") if name in data]
        ):
            raise serializers.ValidationError(dict.fromkeys(sent, ALL_TAGS), code="conflict")
        return query

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = FileFormat.validate(self, TagsQuery.validate(self, attrs))
        if attrs["sort_by"] == CLICKS and not attrs.keys() & {"period", "start", "end"}:
            raise serializers.ValidationError({"sortBy": NO_RANGE}, code="conflict")
        return attrs
