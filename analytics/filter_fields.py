"""The query parameters that choose links and clicks of a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from rest_framework import serializers

from analytics.channels import CHANNELS
from analytics.dimensions import DIRECT, UNKNOWN
from analytics.models import Kind
from analytics.reports.conditions import MAX_VALUES, Condition, parse
from analytics.reports.scope import NONE, Selection
from analytics.reports.selected import Clicks
from common.countries import CONTINENTS, COUNTRY_CODES
from common.ids import parse_public_id
from common.rest.fields import Text, one_of
from links.destinations.utm import UTM_KEYS
from links.fields import Device
from links.searches import Filters
from links.serializers import ListFilters

KINDS = {kind.name.lower(): kind for kind in Kind}
MAX_IDS = 100
UTM = {f"utm{key.capitalize()}": key for key in UTM_KEYS}


class ConditionField(Text):
    """Values separated by commas. ``read`` returns a value as it is stored, or None for one that cannot exist.

    ``form`` is a regular expression that every value matches, for the description; empty: any value. ``unset``: the
    word for links without a value.
    """

    default_error_messages = {
        "value": '"{value}" is not a valid value. {allowed}',
        "blank_value": "A value must not be empty. In a value, write a comma as \\, (with a backslash).",
        "max_values": f"A filter has at most {MAX_VALUES} values.",
    }

    def __init__(
        self, read: Callable[[str], str | None], allowed: str, form: str, unset: str | None, **options: Any
    ) -> None:
        self.read, self.allowed, self.form, self.unset = read, allowed, form, unset
        super().__init__(required=False, **options)

    def to_internal_value(self, data: Any) -> Condition:  # type: ignore[override] # not its text
        text = super().to_internal_value(data)
        # Afterwards, DRF would validate the condition instead of its text.
        self.run_validators(text)
        try:
            condition = parse(text, self.unset)
        except ValueError:
            self.fail("blank_value")
        values = [*condition.included, *condition.excluded]
        if len(values) > MAX_VALUES:
            self.fail("max_values")
        for value in values:
            if self.read(value) is None:
                self.fail("value", value=value, allowed=self.allowed)
        return condition.map(lambda value: (self.read(value) or "",))

    def to_representation(self, value: Any) -> str:
        return str(value)


_BRANCH = re.compile("[0-9a-f]{32}")
_LANGUAGE = re.compile("[A-Za-z]{2,3}")


class _Reading(NamedTuple):
    """The arguments of a ConditionField."""

    read: Callable[[str], str | None]
    allowed: str = ""
    form: str = ""
    unset: str | None = None


def _one_of(values: Collection[str]) -> _Reading:
    return _Reading(lambda value: value if value in values else None, one_of([*values]), "|".join(values))


def _country(value: str) -> str | None:
    if value == UNKNOWN:
        return value
    return value.upper() if value.isascii() and value.upper() in COUNTRY_CODES else None


def _language(value: str) -> str | None:
    return value.lower() if value == UNKNOWN or _LANGUAGE.fullmatch(value) else None


def _branch(value: str) -> str | None:
    if value in {NONE, UNKNOWN}:
        return value
    return str(UUID(value)) if _BRANCH.fullmatch(value) else None


_ANY = _Reading(lambda value: value)
# How the parameter of each filter is read, and its description.
_FILTERS: Mapping[str, tuple[_Reading, str]] = {
    "country": (
        _Reading(
            _country,
            f"Must be an ISO 3166-1 alpha-2 country code or {UNKNOWN}.",
            f"[A-Za-z][A-Za-z]|{UNKNOWN}",
        ),
        f"ISO 3166-1 alpha-2 codes, or `{UNKNOWN}`.",
    ),
    "city": (_ANY, f"Cities, of any country (`Berlin`) or of one (`DE Berlin`), or `{UNKNOWN}`."),
    "region": (
        _ANY,
        f"States, provinces and the like, of any country (`Bavaria`) or of one (`DE Bavaria`), or `{UNKNOWN}`.",
    ),
    "continent": (
        _one_of([*CONTINENTS, UNKNOWN]),
        f"Continents of the countries: {', '.join(f'`{name}`' for name in CONTINENTS)} or `{UNKNOWN}`.",
    ),
    "device": (_one_of([*Device.values, UNKNOWN]), f"`desktop`, `mobile`, `tablet` or `{UNKNOWN}`."),
    "browser": (_ANY, "Browsers, as reports name them."),
    "os": (_ANY, "Operating systems, as reports name them."),
    "language": (
        _Reading(
            _language,
            f"Must be a language code of two or three letters (ISO 639) or {UNKNOWN}.",
            f"{_LANGUAGE.pattern}|{UNKNOWN}",
        ),
        f"Languages that browsers prefer: codes of ISO 639, or `{UNKNOWN}`.",
    ),
    "referrer": (_Reading(lambda value: value.lower()), f"Hosts, `{DIRECT}` or `{UNKNOWN}`."),
    "channel": (
        _one_of(CHANNELS),
        f"Channels: {', '.join(f'`{name}`' for name in CHANNELS)}. A scan of a QR code is `qr`; otherwise the host of"
        " the referrer decides, by the service's list of today.",
    ),
    "branch": (
        _Reading(
            _branch,
            f"Must be the `_id` of a rule or an entry of a split, {NONE} or {UNKNOWN}.",
            f"{_BRANCH.pattern}|{NONE}|{UNKNOWN}",
        ),
        f"The `_id` of rules and entries of the split; `{NONE}` for the link's own destination.",
    ),
}
_NOTE = (
    " In each filter, commas separate values, and a hyphen before a value excludes it. A backslash before a comma or a"
    " hyphen makes it a part of the value."
)
_KIND = ", ".join(f"`{name}`" for name in KINDS)


class ClickFilters(serializers.Serializer[Any]):
    """Conditions on clicks; see `clicks_of`."""


ClickFilters._declared_fields.update({
    **{
        name: ConditionField(*reading, help_text=text + (_NOTE if name == "country" else ""))
        for name, (reading, text) in _FILTERS.items()
    },
    **{
        name: ConditionField(
            *_ANY._replace(unset=NONE),
            help_text=f"The `utm.{key}` that the link had at the end of the day (UTC) of a click; `{NONE}` for"
            f" links without one, `\\{NONE}` for this value.",
        )
        for name, key in UTM.items()
    },
    "kind": ConditionField(
        *_one_of(KINDS),
        help_text=f"Requests of these kinds: {_KIND}. Without it, reports count clicks, and logs have all requests.",
    ),
})  # fmt: skip


def clicks_of(query: Mapping[str, Any]) -> Clicks:
    """The conditions on clicks of validated `ClickFilters`."""
    filters = {name: query[name] for name in _FILTERS if name in query}
    if "continent" in filters:
        filters["continent"] = filters["continent"].map(
            lambda name: (UNKNOWN,) if name == UNKNOWN else tuple(CONTINENTS[name])
        )
    kinds = None
    if "kind" in query:
        kinds = [kind for name, kind in KINDS.items() if query["kind"].holds(name)]
    return Clicks(filters, kinds)


def utm_of(query: Mapping[str, Any]) -> dict[str, Condition]:
    return {key: query[name] for name, key in UTM.items() if name in query}


class IdsField(Text):
    default_error_messages = {
        "ids": f"Must be ids separated by commas, at most {MAX_IDS}.",
    }

    def to_internal_value(self, data: Any) -> list[UUID]:  # type: ignore[override] # the ids, not their text
        texts = super().to_internal_value(data)
        ids = [parse_public_id(text) for text in texts.split(",")] if texts else []
        valid = [public_id for public_id in ids if public_id is not None]
        if len(valid) < len(ids) or len(ids) > MAX_IDS:
            self.fail("ids")
        return valid

    def to_representation(self, value: Any) -> str:
        return ",".join(map(str, value))


class LinkSelection(serializers.Serializer[Any]):
    """Conditions on links; see `selection_of`. Those that lists of links have, too, mean the same there."""

    urlIds = IdsField(
        source="ids",
        required=False,
        help_text=f"The `_id` of links, separated by commas; at most {MAX_IDS}. Other ids count nothing.",
    )


_OF_LISTS = ("tags", "tagsMode", "excludeTags", "domainId", "creator")
LinkSelection._declared_fields.update({
    name: ListFilters._declared_fields[name] for name in _OF_LISTS
})  # fmt: skip


def selection_of(query: Mapping[str, Any]) -> Selection:
    names = ("tags", "tags_mode", "exclude_tags", "domain_id")
    filters = Filters(**{name: query[name] for name in names if name in query})
    return Selection(query.get("ids"), filters, query.get("creator"), utm_of(query))
