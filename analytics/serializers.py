"""The rules of the parameters of reports, one line a parameter."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from typing import Any

from rest_framework import serializers

from analytics.models import Kind
from analytics.periods import FIRST_DAY, LAST_DAY, Asked, local_day
from common.fields import DateTime, QueryInteger, Text

TOP, MAX_TOP = 10, 100
MAX_VALUES = 1_000
CLICKS_PER_PAGE, MAX_CLICKS_PER_PAGE = 20, 100
# Files beside the zones on some systems: this machine's own zone is no client's affair.
_NOT_OFFERED = frozenset({"Factory", "localtime"})

KINDS = {kind.name.lower(): kind for kind in Kind}


@cache
def zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones() - _NOT_OFFERED) | {"UTC"}


class DayField(DateTime):
    """A date stays one, as it means a day in the report's zone; a date-time is a moment."""

    default_error_messages = {
        "invalid": "Must be an ISO 8601 date or date-time, such as 2030-12-31 or 2030-12-31T23:59:59Z;"
        " in an address, + is written %2B."
    }

    def to_internal_value(self, data: Any) -> datetime | date:  # type: ignore[override] # a date is less
        moment = super().to_internal_value(data)
        return moment.date() if len(data) == len("2030-12-31") else moment


class ZoneField(Text):
    default_error_messages = {"zone": "Must be the name of an IANA time zone, such as Europe/Berlin."}

    def to_internal_value(self, data: Any) -> tzinfo:  # type: ignore[override] # the zone, not its name
        name = super().to_internal_value(data)
        # Only known names get near the files.
        if name not in zones():
            self.fail("zone")
        return UTC if name == "UTC" else zoneinfo.ZoneInfo(name)

    def to_representation(self, value: Any) -> str:
        return str(value)


class KindsField(Text):
    default_error_messages = {"kind": f"Must be one or more of {', '.join(KINDS)}, separated by commas."}

    def to_internal_value(self, data: Any) -> list[Kind]:  # type: ignore[override] # what the names mean
        names = set(super().to_internal_value(data).split(","))
        if not names <= set(KINDS):
            self.fail("kind")
        return sorted(KINDS[name] for name in names)

    def to_representation(self, value: Any) -> str:
        return ",".join(kind.name.lower() for kind in value)


class DaysQuery(serializers.Serializer[Any]):
    startDate = DayField(source="start", required=False)
    endDate = DayField(source="end", required=False)
    timezone = ZoneField(source="zone", default=UTC)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The dates become days of the zone."""
        errors = {}
        for name, key in (("startDate", "start"), ("endDate", "end")):
            if (given := attrs.get(key)) is not None:
                attrs[key] = local_day(given, attrs["zone"])
                if attrs[key] is None:
                    message = f"Must lie between {FIRST_DAY} and {LAST_DAY}."
                    errors[name] = serializers.ErrorDetail(message, code="out_of_range")
        if errors:
            raise serializers.ValidationError(errors)
        return attrs

    def asked(self) -> Asked:
        given = self.validated_data
        return Asked(given.get("start"), given.get("end"), given["zone"], given.get("interval", "day"))


class UtcDaysQuery(DaysQuery):
    timezone = None  # type: ignore[assignment] # DRF's way to leave a field out

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return super().validate({"zone": UTC, **attrs})


class OverviewQuery(DaysQuery):
    interval = serializers.ChoiceField(choices=["hour", "day", "month"], default="day")
    limit = QueryInteger(default=TOP, min_value=1, max_value=MAX_TOP)


class ValuesQuery(DaysQuery):
    limit = QueryInteger(default=MAX_VALUES, min_value=1, max_value=MAX_VALUES)


class ClicksQuery(DaysQuery):
    kind = KindsField(source="kinds", default=sorted(Kind))
    cursor = Text(required=False)
    limit = QueryInteger(default=CLICKS_PER_PAGE, min_value=1, max_value=MAX_CLICKS_PER_PAGE)
