"""The API's representation of reports: the value, schema and example of each field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from rest_framework.fields import FloatField, IntegerField, ListField

from analytics.dimensions import NOT_COUNTED, REFUSED_PREFIX
from analytics.filter_fields import KINDS
from analytics.models import Kind
from analytics.reports.click_log import ClickPage
from analytics.reports.filtered import Grouped
from analytics.reports.periods import Interval, label
from analytics.reports.queries import Breakdown
from analytics.reports.reads import Branch, Counts, Overview, Value
from analytics.reports.selected import MAX_RANKED, OTHER, Figures, GroupClicks
from analytics.reports.workspaces import SPARKLINE_DAYS, TopLink, WorkspaceOverview
from analytics.visitors.geo import Attribution
from common.countries import COUNTRY_NAMES
from common.http.short_urls import short_url
from common.openapi.responses import (
    Field,
    Representation,
    choice,
    count,
    flag,
    identifier,
    moment,
    number,
    pagination_representation,
    public_id,
    text,
)
from links.representations import listed_link
from links.tags.representations import tag


def percentages(counts: Sequence[int]) -> list[float]:
    """Percentages with one decimal, by the largest remainder method. Ties go to the earlier count."""
    total = sum(counts)
    if not total:
        return [0.0] * len(counts)
    tenths = [count * 1000 // total for count in counts]
    by_remainder = sorted(range(len(counts)), key=lambda index: -(counts[index] * 1000 % total))
    for index in by_remainder[: 1000 - sum(tenths)]:
        tenths[index] += 1
    return [share / 10 for share in tenths]


class _BranchShare(NamedTuple):
    branch: Branch
    percentage: float


_ID = identifier("_id", "branch.id.hex", "5d1c2f3a4b5e46f7a8b9c0d1e2f30415")
_NAME = text("name", "branch.name", "Germany")
_branch = Representation(
    "ClicksOfBranch",
    _ID,
    _NAME,
    text("url", "branch.url", "https://example.com/de", "As entered. Canonical if the branch was deleted."),
    count("clicks", "branch.clicks", 42),
    count(
        "uniqueClicks", "branch.unique_clicks", 17, "The part of the link's `uniqueClicks` on this branch."
    ),
    Field(
        "percentage",
        "percentage",
        FloatField(
            min_value=0,
            max_value=100,
            help_text="Of all clicks in the range, with one decimal. The rest led to the link's own destination.",
        ),
        100.0,
    ),
)
BRANCHES = _branch.listed(
    "branches",
    required=False,
    help_text="The link's rules, then the entries of its split, sorted by clicks in descending order. Includes those"
    " without clicks, and deleted ones with clicks in the range. `limit` does not shorten this list.",
)


def branches(report: list[Branch], total: int) -> list[dict[str, Any]]:
    """``total``: the clicks in the range, including those that led to the link's own destination."""
    clicks = [branch.clicks for branch in report]
    shares = percentages([*clicks, total - sum(clicks)])[: len(report)]
    return [_branch(_BranchShare(*row)) for row in zip(report, shares, strict=True)]


_branch_of_click = Representation(
    "BranchOfClick", _ID._replace(source="branch_id.hex"), _NAME._replace(source="branch_name")
)
CLICK_FIELDS = (
    _branch_of_click.nested(
        "branch",
        lambda click: None if click.branch_name is None else _branch_of_click(click),
        required=False,
        allow_null=True,
        help_text="The rule or the entry of the split that the visitor took. Null for the link's own destination.",
    ),
    text(
        "location",
        "location",
        "https://example.com/de",
        "Where the link led at that time, without the parameters that the redirect added. Null for a refusal. Crawlers"
        " that get the card are not redirected, nor are crawlers, prefetches and HEAD requests on links with"
        " `maxClicks`. For these, it is the URL to which the link would have redirected a click.",
        required=False,
        allow_null=True,
    ),
)


REFUSALS = (
    *("disabled", "legal", "not_started", "expired", "limit_reached", "visitor_limit_reached"),
    *("country", "device", "password", "rate_limited"),
)


@dataclass(frozen=True, slots=True)
class _Report:
    overview: Overview | Figures
    interval: Interval

    def values(self, breakdown: Breakdown) -> list[Value]:
        return self.overview.counts[breakdown]

    def clicks_of(self, breakdown: Breakdown, name: str) -> int:
        return next((value.clicks for value in self.values(breakdown) if value.name == name), 0)

    def dates(self) -> list[tuple[str, int, int | None]]:
        return [(label(step, self.interval), clicks, unique) for step, clicks, unique in self.overview.steps]


class _Share(NamedTuple):
    name: str
    clicks: int
    is_rest: bool
    percentage: float


_REST = flag(
    "isRest", None, help_text="True in the row `other` of what the list leaves out, and else missing."
).optional()


def _marked(row: Representation, value: Value | _Share | GroupClicks) -> dict[str, Any]:
    """The row says what its value may be the name of, too."""
    shown = row(value)
    if value.is_rest:
        shown["isRest"] = True
    elif isinstance(value, GroupClicks) and value.is_unset:
        shown["isUnset"] = True
    return shown


def _rows(row: Representation, breakdown: Breakdown) -> Any:
    return lambda report: [_marked(row, value) for value in report.values(breakdown)]


def _outcomes(prefix: str, names: tuple[str, ...], example: int) -> list[Field]:
    def clicks(name: str) -> Any:
        return lambda report: report.clicks_of(Breakdown.OUTCOME, prefix + name)

    return [count(name, clicks(name), example) for name in names]


_CLICKS = count("clicks", "clicks", 42)
_SHARE = Field(
    "percentage",
    "percentage",
    FloatField(
        min_value=0,
        max_value=100,
        help_text="Of all clicks in the range, with one decimal. A list that `limit` does not shorten adds up to 100.",
    ),
    100.0,
)
_COUNTRY = text("country", "country", "DE", "ISO 3166-1 alpha-2, or `unknown`.")
_DEVICE = text("device", "device", "mobile", "`desktop`, `mobile` or `tablet`, or `unknown`.")
_BROWSER = text("browser", "browser", "Firefox", "A name, or `unknown`.")
_SYSTEM = text("operatingSystem", "operating_system", "Android", "A name, or `unknown`.")
_LANGUAGE = text(
    "language",
    "language",
    "de",
    "The language that the browser prefers, without its country: a code of ISO 639, or `unknown`.",
)
_CITY = text("city", "city", "Berlin", "In English, or `unknown`.")
_REGION = text("region", "region", "Bavaria", "A state, province or the like, in English, or `unknown`.")

_FILTERED = "Null with a filter of clicks or another `kind`."


def _unique(name: str, source: Any, words: str) -> Field:
    return number(name, source, 17, f"{words} {_FILTERED}", min_value=0, allow_null=True)


_date = Representation(
    "ClicksOfDate",
    text(
        "date",
        lambda row: row[0],
        "2030-03-01",
        "`2030-03-01`; by month `2030-03`; by hour the start of the hour,"
        " `2030-03-01T13:00:00+01:00` (in UTC with `Z`). The list includes steps without clicks. For the"
        " whole lifetime, it begins with the first click, and is empty without any.",
    ),
    _CLICKS._replace(source=lambda row: row[1]),
    _unique("uniqueClicks", lambda row: row[2], "The part of the range's `uniqueClicks` in this step."),
)
_country = Representation("ClicksOfCountry", _COUNTRY._replace(source="name"), _CLICKS, _REST)
_language = Representation("ClicksOfLanguage", _LANGUAGE._replace(source="name"), _CLICKS, _REST)
_device = Representation("ClicksOfDevice", _DEVICE._replace(source="name"), _CLICKS, _REST)
_referrer = Representation(
    "ClicksOfReferrer",
    text("referrer", "name", "news.example.com", "A host, `direct` or `unknown`."),
    _CLICKS,
    _REST,
)


_not_counted = Representation("NotCounted", *_outcomes("", NOT_COUNTED, 3))
_refused = Representation("Refused", *_outcomes(REFUSED_PREFIX, REFUSALS, 0))
OVERVIEW = Representation(
    "",
    count("totalClicks", "overview.clicks", 42),
    _unique(
        "uniqueClicks",
        "overview.unique_clicks",
        "The first click of each visitor on each UTC day. A range has the sum of its days.",
    ),
    count(
        "importedClicks",
        "overview.imported",
        0,
        "The part of `totalClicks` that another service counted by day: without visitors, countries and devices.",
    ),
    count(
        "scans",
        lambda report: report.clicks_of(Breakdown.SOURCE, "qr"),
        5,
        "The clicks on the link of a QR code, included in `totalClicks`.",
    ),
    _date.listed("clicksByDate", lambda report: [_date(row) for row in report.dates()]),
    _country.listed("topCountries", _rows(_country, Breakdown.COUNTRY)),
    _language.listed("topLanguages", _rows(_language, Breakdown.LANGUAGE)),
    _device.listed("topDevices", _rows(_device, Breakdown.DEVICE)),
    _referrer.listed("topReferrers", _rows(_referrer, Breakdown.REFERRER)),
    BRANCHES._replace(source=lambda report: branches(report.overview.branches, report.overview.clicks)),
    _not_counted.nested("notCounted", _not_counted),
    _refused.nested(
        "refused",
        _refused,
        help_text="`password`: visits that were asked for it, also after a wrong one. The right one is a click.",
    ),
)


_group = Representation(
    "ClicksOfGroup",
    text("value", "value", "DE", "As a filter or a selection takes it; `other` for the rest."),
    _CLICKS,
    _REST,
    flag(
        "isUnset", None, help_text="True in the row `none` of links without one, and else missing."
    ).optional(),
    number(
        "uniqueClicks",
        "unique_clicks",
        None,
        "Null with a filter, and by a property of the click other than its hour.",
        min_value=0,
        allow_null=True,
    ),
)
_compared = OVERVIEW.pick(
    "ComparedPeriod", "totalClicks uniqueClicks importedClicks scans clicksByDate notCounted refused"
)
# What parameters add to a report.
ADDED = (
    _compared.nested(
        "compared", required=False, help_text="With `compare`: the figures of the other period."
    ),
    _group.listed("groups", required=False, help_text="With `groupBy`, the most clicked first."),
)


def overview(report: Grouped, interval: Interval, compared: Overview | Figures | None) -> dict[str, Any]:
    return {**OVERVIEW(_Report(report.overview, interval)), **_added(report.groups, compared, interval)}


def _added(
    groups: list[GroupClicks] | None, compared: Overview | Figures | None, interval: Interval
) -> dict[str, Any]:
    added: dict[str, Any] = {}
    if compared is not None:
        added["compared"] = _compared(_Report(compared, interval))
    if groups is not None:
        added["groups"] = [_marked(_group, group) for group in groups]
    return added


_link = listed_link.pick("", "_id originalUrl targetUrl shortCode shortUrl title status")
_top_url = Representation(
    "TopUrlOfPeriod",
    *_link.fields,
    _CLICKS,
    _unique("uniqueClicks", "unique_clicks", "The unique clicks of this link."),
)
_other_urls = Representation(
    "OtherUrls",
    _CLICKS._replace(source=lambda rest: rest[0]),
    _unique("uniqueClicks", lambda rest: rest[1], "The unique clicks of these links."),
)


@dataclass(frozen=True, slots=True)
class _WorkspaceReport(_Report):
    top: list[TopLink]

    def top_urls(self) -> list[dict[str, Any]]:
        return [
            {**_link(top.link), "clicks": top.clicks, "uniqueClicks": top.unique_clicks} for top in self.top
        ]

    def other_urls(self) -> dict[str, Any]:
        unique = self.overview.unique_clicks
        shown = sum(top.unique_clicks or 0 for top in self.top)
        # Those of large workspaces are read after the totals, and may have further clicks.
        clicks = max(0, self.overview.clicks - sum(top.clicks for top in self.top))
        return _other_urls((clicks, None if unique is None else max(0, unique - shown)))


# The value of these lists is "DE Berlin"; the rest is "other".
_COUNTRY_OF_PLACE = _COUNTRY._replace(source=lambda value: value.name.partition(" ")[0])


def _name_of_place(value: Value) -> str:
    return value.name.partition(" ")[2] or value.name


_city_of_report = Representation(
    "ClicksOfCity", _CITY._replace(source=_name_of_place), _COUNTRY_OF_PLACE, _CLICKS, _REST
)
_region_of_report = Representation(
    "ClicksOfRegion", _REGION._replace(source=_name_of_place), _COUNTRY_OF_PLACE, _CLICKS, _REST
)
_browser = Representation("ClicksOfBrowser", _BROWSER._replace(source="name"), _CLICKS, _REST)
_system = Representation("ClicksOfOperatingSystem", _SYSTEM._replace(source="name"), _CLICKS, _REST)
WORKSPACE_OVERVIEW = Representation(
    "",
    *OVERVIEW.pick(
        "",
        "totalClicks uniqueClicks importedClicks scans clicksByDate topCountries topLanguages topDevices topReferrers",
    ).fields,
    _region_of_report.listed("topRegions", _rows(_region_of_report, Breakdown.REGION)),
    _city_of_report.listed("topCities", _rows(_city_of_report, Breakdown.CITY)),
    _browser.listed("topBrowsers", _rows(_browser, Breakdown.BROWSER)),
    _system.listed("topOperatingSystems", _rows(_system, Breakdown.OPERATING_SYSTEM)),
    *OVERVIEW.pick("", "notCounted refused").fields,
    _top_url.listed("topUrls", lambda report: report.top_urls()),
    _other_urls.nested(
        "otherUrls",
        lambda report: report.other_urls(),
        help_text="The clicks on links that `topUrls` leaves out: it is empty if the links of a large workspace or"
        f" domain have more than {MAX_RANKED:,} days with clicks in the range.",
    ),
)


def workspace_overview(
    report: WorkspaceOverview, interval: Interval, compared: Figures | None
) -> dict[str, Any]:
    return {
        **WORKSPACE_OVERVIEW(_WorkspaceReport(report.figures, interval, report.top)),
        **_added(report.groups, compared, interval),
    }


_sparkline = Representation(
    "Sparkline",
    public_id("019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"),
    Field(
        "clicks",
        None,
        ListField(child=IntegerField(min_value=0), help_text="One number for each day, the oldest first."),
        [0] * (SPARKLINE_DAYS - 1) + [3],
    ),
)
SPARKLINES = (
    text("startDate", None, "2030-02-01", "The day (UTC) of the first number. The last one is today's."),
    _sparkline.listed("sparklines"),
)


def sparklines(first: date, lines: Mapping[UUID, list[int]]) -> dict[str, Any]:
    shown = [{"_id": str(public_id), "clicks": clicks} for public_id, clicks in lines.items()]
    return {"startDate": first.isoformat(), "sparklines": shown}


_HITS = "Requests for codes that the domain does not have."
unknown_codes_of_date = Representation(
    "UnknownCodesOfDate",
    text("date", lambda row: row[0].isoformat(), "2030-03-01"),
    count("hits", lambda row: row[1], 4, _HITS),
)
UNKNOWN_CODES = Representation(
    "",
    count("unknownCodes", lambda days: sum(hits for _, hits in days), 4, _HITS),
    unknown_codes_of_date.listed(
        "unknownCodesByDate", lambda days: [unknown_codes_of_date(row) for row in days]
    ),
)


_erased = Representation(
    "ErasedVisits",
    count("days", "erased.days", 31, "Days (UTC) with clicks."),
    count("clicks", "erased.clicks", 420),
    count("uniqueClicks", "erased.unique_clicks", 170),
    count("otherRequests", "erased.other_requests", 12, "Requests that were refused or not counted."),
    count("logEntries", "raw_clicks", 432, "Entries of the log of requests."),
)
ERASURE = Representation(
    "",
    text("before", lambda erasure: erasure.before.isoformat(), "2030-02-01"),
    _erased.nested("erased", _erased),
    count("clickCount", "click_count", 462, "The clicks of the link now."),
)
_near_link = Representation(
    "NearLink",
    public_id("019a9e3d-8f10-7a44-b5d2-6c1f0e9a7b35"),
    text("code", "code", "spring", "One of its codes."),
)
missed_code = Representation(
    "UnknownCode",
    text("code", "code", "sprnig"),
    count("hits", "hits", 12),
    moment("lastSeenAt", "last_at", "2030-03-01T12:34:56.789012Z"),
    text(
        "topReferrer",
        "referrer",
        "news.example.com",
        "The site from which most of them came. Null: no request had a referrer.",
        allow_null=True,
    ),
    _near_link.nested(
        "nearest",
        lambda missed: None if missed.near is None else _near_link(missed.near),
        allow_null=True,
        help_text="A link of the workspace on this domain whose code differs by one character or in capitals, or that"
        " has the code by now. Null: none.",
    ),
    flag("isAvailable", "is_available", True, "Whether a link of the workspace can get the code."),
)
UNKNOWN_CODE_PAGE = (
    missed_code.listed("codes"),
    count("otherHits", None, 3, "Requests for codes that are not kept one by one."),
    pagination_representation("UnknownCodePagination").nested("pagination"),
)


def unknown_codes(days: list[tuple[date, int]]) -> dict[str, Any]:
    return UNKNOWN_CODES(days)


_share_of_device = Representation(
    "Device", _DEVICE._replace(name="type", source="name"), _CLICKS, _SHARE, _REST
)
_share_of_browser = Representation(
    "Browser", _BROWSER._replace(name="name", source="name"), _CLICKS, _SHARE, _REST
)
_share_of_system = Representation(
    "OperatingSystem", _SYSTEM._replace(name="name", source="name"), _CLICKS, _SHARE, _REST
)
DEVICES = (
    _share_of_device.listed("devices"),
    _share_of_browser.listed("browsers"),
    _share_of_system.listed("operatingSystems"),
)


def devices(counts: Counts, limit: int | None) -> dict[str, Any]:
    return {
        "devices": _shares(_share_of_device, counts[Breakdown.DEVICE], limit),
        "browsers": _shares(_share_of_browser, counts[Breakdown.BROWSER], limit),
        "operatingSystems": _shares(_share_of_system, counts[Breakdown.OPERATING_SYSTEM], limit),
    }


def _shares(row: Representation, values: list[Value], limit: int | None) -> list[dict[str, Any]]:
    """Shares of all values, including those that the limit leaves out. None: show all of them."""
    shares = percentages([value.clicks for value in values])
    return [
        _marked(row, _Share(*value, share)) for value, share in list(zip(values, shares, strict=True))[:limit]
    ]


_NAMES = {**COUNTRY_NAMES, OTHER: "Other"}
_share_of_country = Representation(
    "Country",
    _COUNTRY._replace(name="code", source="name"),
    text("name", lambda share: _NAMES.get(share.name, "Unknown"), "Germany", "In English; `Unknown`."),
    _CLICKS,
    _SHARE,
    _REST,
)
_region = Representation(
    "Region", _REGION._replace(name="name", source=_name_of_place), _COUNTRY_OF_PLACE, _CLICKS, _REST
)
_city = Representation(
    "City", _CITY._replace(name="name", source=_name_of_place), _COUNTRY_OF_PLACE, _CLICKS, _REST
)
_attribution = Representation(
    "Attribution",
    text("text", None, "IP Geolocation by DB-IP"),
    text("url", None, "https://db-ip.com"),
)
PLACES = (
    _share_of_country.listed("countries"),
    _region.listed("regions"),
    _city.listed("cities"),
    _attribution.nested(
        "attribution",
        required=False,
        help_text="Show it beside regions and cities. Present only if the licence of the city database requires it.",
    ),
)


def places(counts: Counts, limit: int | None, attribution: Attribution | None) -> dict[str, Any]:
    return {
        "countries": _shares(_share_of_country, counts[Breakdown.COUNTRY], limit),
        "regions": [_marked(_region, value) for value in counts[Breakdown.REGION]],
        "cities": [_marked(_city, value) for value in counts[Breakdown.CITY]],
        **({} if attribution is None else {"attribution": attribution}),
    }


_click = Representation(
    "Click",
    identifier("_id", "public_id", "5f0c6f1cf3a24a53b2b8a5d3a8f5c1de"),
    moment("time", "time", "2030-03-01T12:34:56.789012Z"),
    choice("kind", lambda click: Kind(click.kind).name.lower(), [*KINDS], "click", "Only a `click` counts."),
    text("reason", lambda click: click.reason or None, None, "The reason for a refusal.", allow_null=True),
    _COUNTRY,
    _REGION,
    _CITY,
    _DEVICE,
    _BROWSER,
    _SYSTEM,
    _LANGUAGE,
    text(
        "referrer",
        lambda click: click.referrer or "direct",
        "https://news.example.com/today",
        "A URL without its query, or `direct`.",
    ),
    flag("scanned", "scanned", False, "Whether the visitor scanned a QR code."),
    *CLICK_FIELDS,
)
logged_click = Representation(
    "LoggedClick",
    text(
        "urlId",
        lambda click: str(click.link_id),
        "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75",
        "The `_id` of the link.",
    ),
    text("shortUrl", lambda click: short_url(click.host, click.code), "https://go.example.com/spring"),
    *_click.fields,
)
_page = Representation(
    "CursorPagination",
    number("limit", None, 20, min_value=1),
    text("nextCursor", None, None, "Null on the last page.", allow_null=True),
)
CLICK_PAGE = (_click.listed("clicks"), _page.nested("pagination"))
LOG_PAGE = (logged_click.listed("clicks"), _page.nested("pagination"))


def click_page(page: ClickPage, limit: int) -> dict[str, Any]:
    return _paged(_click, page, limit)


def log_page(page: ClickPage, limit: int) -> dict[str, Any]:
    """The page of a log of many links, whose requests name their link."""
    return _paged(logged_click, page, limit)


def _paged(click: Representation, page: ClickPage, limit: int) -> dict[str, Any]:
    return {
        "clicks": [click(one) for one in page.clicks],
        "pagination": {"limit": limit, "nextCursor": page.next_cursor},
    }


_IN_RANGE = "In the range. Only with `period` or dates."
_clicks_of_tag = Representation(
    "",
    count("clicks", lambda group: 0 if group is None else group.clicks, 42, _IN_RANGE).optional(),
    count(
        "uniqueClicks", lambda group: 0 if group is None else group.unique_clicks, 17, _IN_RANGE
    ).optional(),
)
listed_tag = Representation("ListedTag", *tag.fields, *_clicks_of_tag.fields)


def clicks_of_tag(group: GroupClicks | None) -> dict[str, Any]:
    return _clicks_of_tag(group)
