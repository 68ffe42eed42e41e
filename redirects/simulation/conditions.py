"""Conditions of rules in words: what they require, and what the visit has instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from links.routing.vocabulary import DAYS, DIRECT
from redirects.simulation.restrictions import moment_text
from redirects.simulation.visits import DescribedVisit

Json = Mapping[str, Any]


def condition_text(condition: Json) -> str:
    """Return for example ``country is DE or AT``."""
    kind = condition["type"]
    verb = "is not" if condition.get("not") else "is"
    if kind == "scanned":
        return f"the visit {verb} a scan"
    values = " or ".join(_VALUES.get(kind, str)(value) for value in condition["values"])
    return f"{_NAMES.get(kind, kind)} {verb} {values}"


def visit_text(condition: Json, described: DescribedVisit) -> str:
    """Return what the visit has instead, for example ``it is FR``."""
    query = described.visit.query
    if condition["type"] == "query":
        return f"the query is {query}" if query else "the visit has no query"
    return f"it is {_PROPERTIES[condition['type']](condition, described)}"


_NAMES = {
    "os": "operating system",
    "referrerHost": "referrer's host",
    "query": "a parameter",
    "network": "address",
    "schedule": "local time",
}


def _parameter_text(value: Json) -> str:
    return value["name"] if value.get("value") is None else f"{value['name']}={value['value']}"


def _period_text(value: Json) -> str:
    moments = [
        f"{word} {moment_text(datetime.fromisoformat(moment))}"
        for word, moment in (("from", value.get("from")), ("until", value.get("until")))
        if moment
    ]
    return " ".join(moments)


def _schedule_text(value: Json) -> str:
    return f"{', '.join(value['days'])} {value['from']}-{value['until']} {value['timezone']}"


_VALUES: Mapping[str, Callable[[Any], str]] = {
    "query": _parameter_text,
    "time": _period_text,
    "schedule": _schedule_text,
}


def _local_time(condition: Json, described: DescribedVisit) -> str:
    zone = condition["values"][0]["timezone"]
    local = described.time.astimezone(ZoneInfo(zone))
    return f"{DAYS[local.weekday()]} {local:%H:%M} {zone}"


def _referrer(_: Json, described: DescribedVisit) -> str:
    host = described.visit.referrer_host
    return DIRECT if host == "" else host or "unknown"


_PROPERTIES: Mapping[str, Callable[[Json, DescribedVisit], str]] = {
    "country": lambda _, described: described.visit.country or "unknown",
    "device": lambda _, described: described.visit.device,
    "os": lambda _, described: described.visit.operating_system or "unknown",
    "browser": lambda _, described: described.visit.browser or "unknown",
    "language": lambda _, described: described.visit.language or "unknown",
    "referrerHost": _referrer,
    "network": lambda _, described: described.visit.address or "unknown",
    "time": lambda _, described: moment_text(described.time),
    "schedule": _local_time,
    "scanned": lambda _, described: "a scan" if described.visit.scanned else "no scan",
}
