"""The OpenAPI description of the endpoints under /api/analytics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import orjson
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, OpenApiExample, OpenApiResponse, extend_schema_field

from accounts.admission import REPORTS_PER_WORKSPACE, TOO_MANY_CALLS, TooManyAtOnce
from accounts.downloads import MAX_SECONDS, Busy
from accounts.rights import Scope
from analytics.counting.unknown_codes import KEPT_DAYS, MAX_CODES
from analytics.exports.formats import FORMATS
from analytics.exports.responses import ZIP
from analytics.exports.tables import (
    CODE_COLUMNS,
    CODE_DAY_COLUMNS,
    LOG_COLUMNS,
    REPORT_COLUMNS,
    TAG_COLUMNS,
    Column,
)
from analytics.filter_fields import KINDS, ConditionField, IdsField
from analytics.reports.click_log import REACH, WINDOW_REACH
from analytics.reports.conditions import MAX_VALUES
from analytics.reports.costs import ReportTooSlow
from analytics.reports.figures import MAX_LINK_DAYS
from analytics.reports.periods import FIRST_DAY, LAST_DAY, MAX_DAYS, MAX_DAYS_BY_HOUR
from analytics.reports.raw import MAX_REQUESTS
from analytics.reports.selected import Reason, TooLarge
from analytics.reports.tags import TooManyTags
from analytics.reports.workspaces import SPARKLINE_DAYS
from analytics.representations import unknown_codes_of_date
from analytics.serializers import (
    ALL_CODES,
    ALL_TAGS,
    BOTH_RANGES,
    DEFAULT_DAYS,
    NO_FILE,
    NO_RANGE,
    WHOLE_FILE,
    DayField,
    ErasureQuery,
    ZoneField,
)
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.rest.pagination import TOO_DEEP
from links.errors import domain_not_found
from links.routing.conditions import ZoneNameField
from links.schema import BAD_CREATOR

_DATES = ("startDate", "endDate")
_DAY = {"anyOf": [{"type": "string", "format": name} for name in ("date", "date-time")]}
extend_schema_field(_DAY)(DayField)
name_choices("ClickKind", KINDS)
extend_schema_field({"type": "string", "examples": ["Europe/Berlin"]})(ZoneNameField)

# A backslash takes the next character as it is, and a hyphen begins an excluded value.
_ESCAPED = r"\\[\s\S]"
_ANY_VALUE = rf"-({_ESCAPED}|[^,\\])+|({_ESCAPED}|[^,\\-])({_ESCAPED}|[^,\\])*"


class _ConditionExtension(OpenApiSerializerFieldExtension):
    target_class = "analytics.filter_fields.ConditionField"
    # Before that of its base class.
    priority = 1

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        value = f"-?({self.target.form})" if self.target.form else _ANY_VALUE
        return {"type": "string", "pattern": f"^({value})(,({value})){{0,{MAX_VALUES - 1}}}$"}


_BAD_DATES = [
    *(invalid(name, "invalid", str(DayField.default_error_messages["invalid"])) for name in _DATES),
    *(invalid(name, "out_of_range", f"Must lie between {FIRST_DAY} and {LAST_DAY}.") for name in _DATES),
    *(invalid(name, "range", f"The range must have at most {MAX_DAYS} days.") for name in _DATES),
    invalid("endDate", "range", "Must not be earlier than startDate."),
]
_NO_FILE = invalid("manifest", "conflict", NO_FILE)
_BAD_RANGES = [
    *_BAD_DATES,
    invalid("period", "conflict", BOTH_RANGES),
    invalid("timezone", "zone", str(ZoneField.default_error_messages["zone"])),
]
_ERRORS = [*_BAD_RANGES, _NO_FILE]
_RANGE = f"Days are in `timezone`. A range has at most {MAX_DAYS} days."
_UTC_DAYS = (
    "`notCounted` and `refused` are stored by UTC day: in another zone they include every UTC day that overlaps"
    " the range."
)

_FILTERS = (
    "With filters of clicks, a report reads single requests: at most"
    f" {MAX_REQUESTS:,}, none of which has been deleted since. It is exact or refused as `range_too_large`. Then"
    f" `data` has the `reason` ({', '.join(f'`{name}`' for name in get_args(Reason))}) and what works: the"
    " `limit`, the number of `days`, or the first day (`since`). Every"
    " part adds up to its total; a list that `limit` cuts ends with a row `other`. `notCounted` and `refused` then"
    " have the requests of the range that meet the filters."
)
_TOO_LARGE = TooLarge(
    "requests",
    f"The range has more than {MAX_REQUESTS:,} requests, the most that a filter can read; choose a shorter range, or"
    " fewer links by tags, domainId, creator or urlIds, or no filter.",
    limit=MAX_REQUESTS,
)
_NOTHING_BEFORE = invalid(
    "compare", "range", "Choose a period or dates: nothing precedes the whole lifetime."
)
_BAD_FILTERS = [
    _TOO_LARGE,
    invalid(
        "country",
        "value",
        '"XY" is not a valid value. Must be an ISO 3166-1 alpha-2 country code or unknown.',
    ),
    *(
        invalid("country", name, str(ConditionField.default_error_messages[name]))
        for name in ("blank_value", "max_values")
    ),
]

_BAD_SELECTION = [
    invalid("urlIds", "ids", str(IdsField.default_error_messages["ids"])),
    BAD_CREATOR,
    domain_not_found(),
]
_COSTS = [TooManyAtOnce(REPORTS_PER_WORKSPACE), ReportTooSlow()]


def _files(columns: Sequence[Column], row: Mapping[str, Any]) -> dict[str, OpenApiResponse]:
    cells = ["" if value is None else orjson.dumps(value).decode().strip('"') for value in row.values()]
    head = ",".join(column.name for column in columns)
    examples = {
        "csv": f"{head}\r\n{','.join(cells)}\r\n",
        "jsonl": f"{orjson.dumps(row).decode()}\n",
        "parquet": "PAR1...PAR1",
    }
    files = {
        FORMATS[name][0]: OpenApiResponse(
            bytes if name == "parquet" else str, "The file.", [OpenApiExample(name, example)]
        )
        for name, example in examples.items()
    }
    archive = OpenApiResponse(
        bytes, "With `manifest`: the file and `manifest.json`.", [OpenApiExample("ZIP", "PK...")]
    )
    return {**files, ZIP: archive}


_REPORT_FILES = _files(
    REPORT_COLUMNS,
    {"part": "topCountries", "value": "DE", "name": None, "url": None, "clicks": 42, "uniqueClicks": None}
    | {"isRest": False, "isUnset": False},
)
_LOG_FILES = _files(LOG_COLUMNS, dict.fromkeys(column.name for column in LOG_COLUMNS))
_CODE_FILES = _files(CODE_COLUMNS, dict.fromkeys(column.name for column in CODE_COLUMNS) | {"code": "sprnig"})
_CODE_DAY_FILES = _files(CODE_DAY_COLUMNS, unknown_codes_of_date.example)
_TAG_FILES = _files(TAG_COLUMNS, dict.fromkeys(column.name for column in TAG_COLUMNS) | {"name": "Spring"})
_LOG = (
    "If matching requests are rare, a page can be short or empty; more pages follow as long as `nextCursor` is not"
    " null. Requests older than the retention period are deleted. A file has all requests from the newest, or from"
    f" `cursor`, on, and takes at most {MAX_SECONDS // 60} minutes."
)
_OF_LOG = [
    invalid("cursor", "invalid", "Must be the nextCursor of a page of this log."),
    invalid("limit", "conflict", WHOLE_FILE),
    ReportTooSlow(),
    Busy(),
]

describe_domain_analytics = describe(
    "Analytics",
    of="domain",
    retrieve=Operation(
        "getDomainAnalytics",
        "Read the number of requests for short links that a domain does not have.",
        "The numbers by UTC day, including days without any.",
        description="Causes are misprinted codes, deleted links and guesses. Without dates, the range starts when the"
        " domain was added.",
        files=_CODE_DAY_FILES,
        errors=[*_BAD_DATES, _NO_FILE],
    ),
    unknown_codes=Operation(
        "listUnknownCodes",
        "List the codes that visitors of a domain requested and that no link has.",
        "One page, the most requested codes first; empty past the last page.",
        description=f"By UTC day, by default the last {KEPT_DAYS} days, for which codes are kept. Scanners request any"
        f" number of codes, so a domain keeps the first {MAX_CODES:,} of a day that have up to 50 letters, digits, `-`"
        " and `_`; `otherHits` has the requests for all others. For operators (staff), with their account's key or"
        " token, `base` is the default domain. A file has"
        " all codes.",
        files=_CODE_FILES,
        errors=[
            *_BAD_DATES,
            _NO_FILE,
            *(invalid(name, "conflict", ALL_CODES) for name in ("page", "limit")),
            invalid("page", "too_deep", TOO_DEEP),
            Busy(),
        ],
    ),
)

describe_tag_list = describe(
    "Tags",
    of="tag",
    list=Operation(
        "listTags",
        "List the tags of your short links page by page.",
        "One page; empty past the last page.",
        description="Spellings that differ only in case are one tag. With `period` or dates, which require the scope"
        f" `{Scope.ANALYTICS_READ}`, each tag has the clicks in the range on the links that have it now: without a"
        f" start, of {DEFAULT_DAYS} days. They are exact, or refused as `range_too_large`: then choose a shorter"
        " range, or fewer tags by `search` or `limit`. A file has all tags.",
        files=_TAG_FILES,
        errors=[
            *_BAD_RANGES,
            _NO_FILE,
            *(invalid(name, "conflict", ALL_TAGS) for name in ("page", "limit", "cursor")),
            invalid("sortBy", "conflict", NO_RANGE),
            TooManyTags(),
            _TOO_LARGE,
            invalid("page", "too_deep", TOO_DEEP),
            TOO_MANY_CALLS,
            *_COSTS,
        ],
    ),
)

describe_analytics = describe(
    "Analytics",
    of="URL",
    list=Operation(
        "getWorkspaceAnalytics",
        "Read the number of clicks on all your short links, or some of them.",
        "The report. Lists are sorted by clicks in descending order.",
        description="Of the links that the workspace has now, or of those that `urlIds`, `tags`, `domainId`,"
        f" `creator` and utm parameters select; without dates, the last {DEFAULT_DAYS} days. {_UTC_DAYS} Links have at"
        f" most {MAX_LINK_DAYS:,} days with clicks in the range. A list that `limit` cuts ends with a row `other`."
        f" {_FILTERS}",
        errors=[
            *_ERRORS,
            *_BAD_FILTERS,
            *_COSTS,
            _NOTHING_BEFORE,
            *_BAD_SELECTION,
        ],
        files=_REPORT_FILES,
        component="WorkspaceAnalytics",
    ),
    sparklines=Operation(
        "getSparklines",
        f"Read the clicks on several short links on each of the last {SPARKLINE_DAYS} days.",
        "The links in no particular order.",
        description="By UTC day. Leaves out ids that are not of links of the workspace.",
        errors=[invalid("urlIds", "ids", str(IdsField.default_error_messages["ids"]))],
    ),
    retrieve=Operation(
        "getAnalytics",
        "Read the number of clicks on a short link by date, country, device and referrer.",
        "The report. Lists are sorted by clicks in descending order.",
        files=_REPORT_FILES,
        description=f"{_RANGE} {_UTC_DAYS} {_FILTERS}",
        errors=[
            *_ERRORS,
            *_BAD_FILTERS,
            *_COSTS,
            _NOTHING_BEFORE,
            invalid("interval", "range", f"By hour, the range must have at most {MAX_DAYS_BY_HOUR} days."),
        ],
    ),
    destroy=Operation(
        "eraseVisits",
        "Erase the visits of a short link before a day.",
        "What was erased.",
        description="From all reports and from the log, for good. `clickCount` stays, unless `fromClickCount` is true."
        " Visits that this call does not find, because a host has not delivered them, are counted when they arrive."
        " A call that has to erase millions of visits may end with 503: repeat it to erase the rest.",
        errors=[
            invalid("before", "required", "This field is required."),
            *(
                invalid("before", code, str(text))
                for code, text in ErasureQuery.default_error_messages.items()
            ),
        ],
    ),
    devices=Operation(
        "getDevices",
        "Read the devices, browsers and operating systems of a short link's visitors.",
        "The report, sorted by clicks in descending order.",
        files=_REPORT_FILES,
        description=f"{_RANGE} {_FILTERS}",
        errors=[*_ERRORS, *_BAD_FILTERS, *_COSTS],
    ),
    geographic=Operation(
        "getGeographic",
        "Read the countries and cities of a short link's visitors.",
        "The report, sorted by clicks in descending order.",
        files=_REPORT_FILES,
        description=f"{_RANGE} {_FILTERS}",
        errors=[*_ERRORS, *_BAD_FILTERS, *_COSTS],
    ),
    clicks=Operation(
        "listClicks",
        "List the requests for a short link, newest first.",
        "One page.",
        files=_LOG_FILES,
        description=f"A page reads at most {REACH:,} requests. {_LOG}",
        errors=[*_ERRORS, *_OF_LOG, *_BAD_FILTERS[1:]],
    ),
    log=Operation(
        "listWorkspaceClicks",
        "List the requests for all your short links, or some of them, newest first.",
        "One page.",
        files=_LOG_FILES,
        description="Of the links and of the days that `GET /api/analytics` reports with the same parameters. A page"
        f" reads at most about {WINDOW_REACH:,} requests. {_LOG}",
        errors=[*_ERRORS, *_OF_LOG, *_BAD_FILTERS[1:], TooManyAtOnce(REPORTS_PER_WORKSPACE), *_BAD_SELECTION],
    ),
)
