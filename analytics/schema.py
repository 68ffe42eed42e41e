"""The OpenAPI description of the endpoints under /api/analytics."""

from __future__ import annotations

from functools import partial

from drf_spectacular.utils import OpenApiParameter, extend_schema_field, extend_schema_view
from rest_framework.fields import BooleanField, CharField, ChoiceField, FloatField, IntegerField

from analytics.click_log import REACH
from analytics.periods import DEFAULT_DAYS_BY_HOUR, FIRST_DAY, LAST_DAY, MAX_DAYS, MAX_DAYS_BY_HOUR
from analytics.representations import NOT_COUNTED, REFUSALS
from analytics.serializers import (
    KINDS,
    ClicksQuery,
    DayField,
    DaysQuery,
    KindsField,
    OverviewQuery,
    UtcDaysQuery,
    ValuesQuery,
    ZoneField,
)
from common.errors import NotFound
from common.fields import DateTime
from common.schema import (
    NO_CREDENTIAL,
    Part,
    Parts,
    annotate,
    answer,
    component,
    example,
    invalid,
    nested,
    nested_list,
    operation,
)

_operation = partial(operation, tag="Analytics")

_DATES = ("startDate", "endDate")
extend_schema_field({"anyOf": [{"type": "string", "format": each} for each in ("date", "date-time")]})(
    DayField
)
extend_schema_field({"type": "string"})(ZoneField)
extend_schema_field({"type": "string", "pattern": f"^({'|'.join(KINDS)})(,({'|'.join(KINDS)}))*$"})(
    KindsField
)

_DAYS = {
    "startDate": {
        "description": "The first day: a date, or a date-time that stands for its day in `timezone`. A date-time"
        " without an offset is UTC. Without it, a range begins with the link.",
        "examples": ["2030-03-01"],
    },
    "endDate": {
        "description": "The last day, itself included. Without it, a range ends today. Without either, the answer"
        " is about everything.",
        "examples": ["2030-03-31"],
    },
    "timezone": {"description": "In whose time days begin: an IANA name.", "examples": ["Europe/Berlin"]},
}
annotate(DaysQuery, _DAYS)
annotate(UtcDaysQuery, {name: note for name, note in _DAYS.items() if name != "timezone"})
annotate(
    OverviewQuery,
    {
        **_DAYS,
        "interval": {
            "description": f"The steps of `clicksByDate`. By hour the range is at most {MAX_DAYS_BY_HOUR} days, and"
            f" the last {DEFAULT_DAYS_BY_HOUR} without dates."
        },
        "limit": {"description": "How many values each list has at most, but for `clicksByDate`."},
    },
)
annotate(ValuesQuery, {**_DAYS, "limit": {"description": "How many values each list has at most."}})
annotate(
    ClicksQuery,
    {
        **_DAYS,
        "kind": {"description": "Which kinds, separated by commas."},
        "cursor": {"description": "The `nextCursor` of the page before."},
        "limit": {"description": "How many make a page."},
    },
)


def _count(text: str | None = None) -> IntegerField:
    return IntegerField(min_value=0, help_text=text)


_CLICKS = Part(_count(), 42)
_SHARE = Part(
    FloatField(
        min_value=0,
        max_value=100,
        help_text="Of all clicks in the range, with one decimal. A list that `limit` does not cut adds up to 100.",
    ),
    100.0,
)
_COUNTRY_CODE = CharField(help_text="ISO 3166-1 alpha-2, or `unknown`.")
_BROWSER = Part(CharField(help_text="A name, or `unknown`."), "Firefox")
_OPERATING_SYSTEM = Part(CharField(help_text="A name, or `unknown`."), "Android")
_DEVICE = Part(CharField(help_text="`desktop`, `mobile` or `tablet`, or `unknown`."), "mobile")

_OVERVIEW: Parts = {
    "totalClicks": _CLICKS,
    "uniqueClicks": Part(
        _count("Each day, in UTC, counts the first click of each visitor. A range has the sum of its days."),
        17,
    ),
    "scans": Part(_count("Of the clicks, those that came by way of a printed QR code."), 5),
    "clicksByDate": nested_list(
        "ClicksOfDate",
        {
            "date": Part(
                CharField(
                    help_text="`2030-03-01`; by month `2030-03`; by hour its beginning,"
                    " `2030-03-01T13:00:00+01:00` (in UTC with `Z`). No step is left out."
                ),
                "2030-03-01",
            ),
            "clicks": _CLICKS,
        },
    ),
    "topCountries": nested_list("ClicksOfCountry", {"country": Part(_COUNTRY_CODE, "DE"), "clicks": _CLICKS}),
    "topDevices": nested_list("ClicksOfDevice", {"device": _DEVICE, "clicks": _CLICKS}),
    "topReferrers": nested_list(
        "ClicksOfReferrer",
        {
            "referrer": Part(CharField(help_text="A host, `direct` or `unknown`."), "news.example.com"),
            "clicks": _CLICKS,
        },
    ),
    "notCounted": nested("NotCounted", {name: Part(_count(), 3) for name in NOT_COUNTED}),
    "refused": nested("Refused", {reason: Part(_count(), 0) for reason in REFUSALS}),
}
_DEVICES: Parts = {
    "devices": nested_list("Device", {"type": _DEVICE, "clicks": _CLICKS, "percentage": _SHARE}),
    "browsers": nested_list("Browser", {"name": _BROWSER, "clicks": _CLICKS, "percentage": _SHARE}),
    "operatingSystems": nested_list(
        "OperatingSystem", {"name": _OPERATING_SYSTEM, "clicks": _CLICKS, "percentage": _SHARE}
    ),
}
_PLACES: Parts = {
    "countries": nested_list(
        "Country",
        {
            "code": Part(_COUNTRY_CODE, "DE"),
            "name": Part(CharField(help_text="In English; `Unknown`."), "Germany"),
            "clicks": _CLICKS,
            "percentage": _SHARE,
        },
    ),
    "cities": nested_list(
        "City",
        {
            "name": Part(CharField(help_text="In English, or `unknown`."), "Berlin"),
            "country": Part(_COUNTRY_CODE, "DE"),
            "clicks": _CLICKS,
        },
    ),
}
_ATTRIBUTION: Parts = {
    "text": Part(CharField(), "IP Geolocation by DB-IP"),
    "url": Part(CharField(), "https://db-ip.com"),
}
_Attribution = component("Attribution", _ATTRIBUTION)
_PLACES_AND_SOURCE: Parts = {
    **_PLACES,
    "attribution": Part(
        _Attribution(
            required=False,
            help_text="To be shown beside the cities, where the licence of their database asks for it.",
        ),
        example(_ATTRIBUTION),
    ),
}
_CLICK: Parts = {
    "_id": Part(CharField(label="_id"), "5f0c6f1cf3a24a53b2b8a5d3a8f5c1de"),
    "time": Part(DateTime(), "2030-03-01T12:34:56.789012Z"),
    "kind": Part(ChoiceField([*KINDS], help_text="Only a `click` counts."), "refused"),
    "reason": Part(CharField(allow_null=True, help_text="Why it was refused."), "country"),
    "country": Part(_COUNTRY_CODE, "DE"),
    "city": Part(CharField(help_text="In English, or `unknown`."), "Berlin"),
    "device": _DEVICE,
    "browser": _BROWSER,
    "operatingSystem": _OPERATING_SYSTEM,
    "referrer": Part(
        CharField(help_text="An address without its query, or `direct`."), "https://news.example.com/today"
    ),
    "scanned": Part(BooleanField(help_text="Whether it came by way of a printed QR code."), False),
}
_PAGE: Parts = {
    "limit": Part(IntegerField(min_value=1), 20),
    "nextCursor": Part(CharField(allow_null=True, help_text="Null on the last page."), None),
}

_BY_ID = OpenApiParameter("urlId", str, OpenApiParameter.PATH, description="The `_id` of the URL.")
_BAD_DATES = [
    *(invalid(name, "invalid", str(DayField.default_error_messages["invalid"])) for name in _DATES),
    *(invalid(name, "out_of_range", f"Must lie between {FIRST_DAY} and {LAST_DAY}.") for name in _DATES),
    *(invalid(name, "range", f"A report is about at most {MAX_DAYS} days.") for name in _DATES),
    invalid("endDate", "range", "Must not lie before startDate."),
]
_BAD_ZONE = invalid("timezone", "zone", str(ZoneField.default_error_messages["zone"]))
_REFUSALS = [
    *_BAD_DATES,
    _BAD_ZONE,
    NO_CREDENTIAL,
    NotFound("URL not found."),
]
_RANGE = f"Days are those of `timezone`; a range has at most {MAX_DAYS} of them."
_UTC_DAYS = (
    "`notCounted` and `refused` are kept by days of UTC: in another zone they are about all that it touches."
)

_HITS = Part(_count("Requests for codes that the domain does not have."), 4)
describe_domain_analytics = extend_schema_view(
    retrieve=_operation(
        "getDomainAnalytics",
        "Read how often a domain was asked for short links that it does not have.",
        answer(
            "GetDomainAnalytics",
            "The numbers, by days of UTC; none is left out.",
            data={
                "unknownCodes": _HITS,
                "unknownCodesByDate": nested_list(
                    "UnknownCodesOfDate", {"date": Part(CharField(), "2030-03-01"), "hits": _HITS}
                ),
            },
        ),
        [
            *_BAD_DATES,
            NO_CREDENTIAL,
            NotFound("Domain not found."),
        ],
        parameters=[
            OpenApiParameter("id", str, OpenApiParameter.PATH, description="The `_id` of the domain."),
            UtcDaysQuery,
        ],
        description="Misprinted codes, deleted links, and guesses. Without dates, since the domain was added.",
    ),
)

describe_analytics = extend_schema_view(
    retrieve=_operation(
        "getAnalytics",
        "Read how often a short link was followed, when, and from where.",
        answer("GetAnalytics", "The numbers; every list has the most clicks first.", data=_OVERVIEW),
        [
            *_REFUSALS,
            invalid("interval", "range", f"By hour, a report is about at most {MAX_DAYS_BY_HOUR} days."),
        ],
        parameters=[_BY_ID, OverviewQuery],
        description=f"{_RANGE} {_UTC_DAYS}",
    ),
    devices=_operation(
        "getDevices",
        "Read with what a short link was followed.",
        answer("GetDevices", "The most clicks first.", data=_DEVICES),
        _REFUSALS,
        parameters=[_BY_ID, ValuesQuery],
        description=_RANGE,
    ),
    geographic=_operation(
        "getGeographic",
        "Read where those who followed a short link were.",
        answer("GetGeographic", "The most clicks first.", data=_PLACES_AND_SOURCE),
        _REFUSALS,
        parameters=[_BY_ID, ValuesQuery],
        description=_RANGE,
    ),
    clicks=_operation(
        "listClicks",
        "List the requests for a short link, the newest first, page by page.",
        answer(
            "ListClicks",
            "One page.",
            data={"clicks": nested_list("Click", _CLICK), "pagination": nested("CursorPagination", _PAGE)},
        ),
        [*_REFUSALS, invalid("cursor", "invalid", "Must be the nextCursor of a page of this log.")],
        parameters=[_BY_ID, ClicksQuery],
        description=f"A page looks at {REACH:,} requests at most: where a `kind` is rare it can be short, even empty,"
        " and there is more as long as there is a `nextCursor`. Requests older than the installation keeps are gone.",
    ),
)
