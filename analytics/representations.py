"""Reports as the interface writes them."""

from __future__ import annotations

from datetime import date
from typing import Any

from analytics.click_log import ClickPage, LoggedClick
from analytics.geo import Attribution
from analytics.models import Dimension, Kind
from analytics.percentages import percentages
from analytics.periods import Interval, label
from analytics.reports import Counts, Overview, Value
from common.countries import COUNTRY_NAMES
from common.fields import iso_utc

NOT_COUNTED = ("crawler", "prefetch", "head")
REFUSALS = ("disabled", "expired", "limit_reached", "country", "device", "password", "rate_limited")
_REFUSED = "refused:"


def overview(found: Overview, interval: Interval) -> dict[str, Any]:
    outcomes = {value.name: value.clicks for value in found.counts[Dimension.OUTCOME]}
    sources = {value.name: value.clicks for value in found.counts[Dimension.SOURCE]}
    return {
        "totalClicks": found.clicks,
        "uniqueClicks": found.unique_clicks,
        "scans": sources.get("qr", 0),
        "clicksByDate": [{"date": label(step, interval), "clicks": clicks} for step, clicks in found.steps],
        "topCountries": _named("country", found.counts[Dimension.COUNTRY]),
        "topDevices": _named("device", found.counts[Dimension.DEVICE]),
        "topReferrers": _named("referrer", found.counts[Dimension.REFERRER]),
        "notCounted": {name: outcomes.get(name, 0) for name in NOT_COUNTED},
        "refused": {reason: outcomes.get(_REFUSED + reason, 0) for reason in REFUSALS},
    }


def unknown_codes(found: list[tuple[date, int]]) -> dict[str, Any]:
    return {
        "unknownCodes": sum(hits for _, hits in found),
        "unknownCodesByDate": [{"date": day.isoformat(), "hits": hits} for day, hits in found],
    }


def devices(counts: Counts, limit: int) -> dict[str, Any]:
    return {
        "devices": _shares("type", counts[Dimension.DEVICE], limit),
        "browsers": _shares("name", counts[Dimension.BROWSER], limit),
        "operatingSystems": _shares("name", counts[Dimension.OPERATING_SYSTEM], limit),
    }


def places(counts: Counts, limit: int, attribution: Attribution | None) -> dict[str, Any]:
    countries = _shares("code", counts[Dimension.COUNTRY], limit)
    data: dict[str, Any] = {
        "countries": [
            {"code": item["code"], "name": COUNTRY_NAMES.get(item["code"], "Unknown"), **item}
            for item in countries
        ],
        "cities": [_city(value) for value in counts[Dimension.CITY]],
    }
    if attribution is not None:
        data["attribution"] = attribution
    return data


def click_page(page: ClickPage, limit: int) -> dict[str, Any]:
    return {
        "clicks": [_logged_click(click) for click in page.clicks],
        "pagination": {"limit": limit, "nextCursor": page.next_cursor},
    }


def _logged_click(click: LoggedClick) -> dict[str, Any]:
    return {
        "_id": click.public_id,
        "time": iso_utc(click.time),
        "kind": Kind(click.kind).name.lower(),
        "reason": click.reason or None,
        "country": click.country,
        "city": click.city,
        "device": click.device,
        "browser": click.browser,
        "operatingSystem": click.operating_system,
        "referrer": click.referrer or "direct",
        "scanned": click.scanned,
    }


def _named(key: str, values: list[Value]) -> list[dict[str, Any]]:
    return [{key: value.name, "clicks": value.clicks} for value in values]


def _shares(key: str, values: list[Value], limit: int) -> list[dict[str, Any]]:
    """The shares are of all values, also of those that the limit leaves out."""
    shares = percentages([value.clicks for value in values])
    return [
        {key: value.name, "clicks": value.clicks, "percentage": share}
        for value, share in list(zip(values, shares, strict=True))[:limit]
    ]


def _city(value: Value) -> dict[str, Any]:
    country, _, name = value.name.partition(" ")
    return {"name": name, "country": country, "clicks": value.clicks}
