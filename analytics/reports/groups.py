"""What the clicks of a report can be grouped by, and where their sums come from."""

from __future__ import annotations

from collections.abc import Collection

from analytics.dimensions import UNKNOWN
from analytics.reports.figures import Group, Wanted
from analytics.reports.queries import Breakdown
from analytics.reports.raw import CHANNEL
from analytics.reports.reads import Value
from analytics.reports.scope import UNSET, utm_value
from analytics.reports.selected import Figures, GroupClicks, cut
from common.countries import continent_of
from common.http.short_urls import BASE_ID
from links.destinations.utm import UTM_KEYS

HEAT = "weekdayHour"
CONTINENT = "continent"
_CREATOR = "LEFT JOIN accounts_user a ON a.id = coalesce(l.creator_id, %(account)s::bigint)"
# By a property that the link has now; by the utm parameters that it had on the day.
OF_LINKS = {
    "url": Group("l.public_id::text"),
    "domain": Group(
        f"coalesce(d.public_id::text, '{BASE_ID}')", "LEFT JOIN domains_domain d ON d.id = l.domain_id"
    ),
    "creator": Group(f"coalesce(a.public_id::text, '{UNSET}')", _CREATOR),
    # A click on a link with several tags counts for each of them.
    "tag": Group(f"coalesce(tag, '{UNSET}')", "LEFT JOIN LATERAL unnest(l.tag_keys) tag ON true"),
    **{f"utm{key.capitalize()}": Group(utm_value(key), value_then=utm_value(key, "utm")) for key in UTM_KEYS},
}
# By a value of the click, of which a report has a list anyway.
OF_CLICKS = {
    "country": Breakdown.COUNTRY,
    "city": Breakdown.CITY,
    "region": Breakdown.REGION,
    CONTINENT: Breakdown.COUNTRY,
    "device": Breakdown.DEVICE,
    "browser": Breakdown.BROWSER,
    "os": Breakdown.OPERATING_SYSTEM,
    "language": Breakdown.LANGUAGE,
    "referrer": Breakdown.REFERRER,
}
OF_ONE_LINK = (*OF_CLICKS, CHANNEL, HEAT)
GROUPS = (*OF_LINKS, *OF_ONE_LINK)


def wanted_for(
    name: str | None,
    breakdowns: Collection[Breakdown],
    complete: Collection[Breakdown],
    limit: int,
    top: int = 0,
) -> Wanted:
    """The parts of a report with these lists and this group. A list of countries is complete for continents."""
    group = Group(is_heat=True) if name == HEAT else OF_LINKS.get(name or "")
    own = {OF_CLICKS[name]} - {*breakdowns} if name in OF_CLICKS else set()
    whole = {Breakdown.COUNTRY} if name == CONTINENT else set()
    return Wanted([*breakdowns, *own], [*complete, *whole], limit, top, group, by_channel=name == CHANNEL)


def groups_of(name: str | None, report: Figures, limit: int) -> list[GroupClicks] | None:
    """The groups of a report of what `wanted_for` returned. None if there is no group."""
    if name not in OF_CLICKS:
        return None if name is None else report.groups
    values = report.counts[OF_CLICKS[name]]
    if name == CONTINENT:
        clicks: dict[str, int] = {}
        for country, number, _ in values:
            continent = continent_of(country) or UNKNOWN
            clicks[continent] = clicks.get(continent, 0) + number
        report.counts[Breakdown.COUNTRY] = cut(values, limit)
        values = cut([Value(*item) for item in clicks.items()], limit)
    return [GroupClicks(value.name, value.clicks, None, value.is_rest) for value in values]
