"""The conditions of rules: serializer fields for their values, and the types of conditions.

The fields return the stored form, which is JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, NamedTuple

from rest_framework import serializers

from common.errors import MAX_REPORTED, UNKNOWN_FIELD
from common.http.urls import InvalidDestination, canonical_destination
from common.rest.envelope import invalid
from common.rest.fields import Boolean, DateTime, List, StrictObject, Text, iso_utc
from common.time_zones import zones
from links.fields import DAYS, DIRECT
from links.serializer_fields import CountryField, DeviceField


class ListedObject(StrictObject):
    """Refuses unknown keys itself, because `common.rest.unknown_fields` does not look into lists."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(data.keys() - self.fields.keys())):
            refusal = serializers.ErrorDetail("Unknown field.", code=UNKNOWN_FIELD)
            raise serializers.ValidationError({name: [refusal] for name in unknown[:MAX_REPORTED]})
        return super().to_internal_value(data)


_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*", re.ASCII)
_TIME_OF_DAY = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)
# A colon that is not inside the brackets of an IPv6 address.
_PORT = re.compile(r":[^\]]*$")
_IPV4_MAPPED = IPv6Network("::ffff:0:0/96")


class LanguageField(Text):
    """A prefix of language tags, such as ``de`` or ``pt-BR`` (RFC 4647, section 2.1)."""

    default_error_messages = {"language": "Must be a language tag or its beginning, such as de or pt-BR."}

    def to_internal_value(self, data: Any) -> str:
        language = super().to_internal_value(data)
        if not _LANGUAGE.fullmatch(language):
            self.fail("language")
        return language


class ReferrerHostField(Text):
    default_error_messages = {"host": f"Must be a host name, such as example.com, or {DIRECT}."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data).strip().lower().removesuffix(".")
        if text == DIRECT:
            return text
        try:
            destination = canonical_destination(f"https://{text}/")
        except InvalidDestination:
            self.fail("host")
        # A path or a second host would be a part of the rest. The canonical form omits a default port.
        is_host = destination.href == f"https://{destination.host}/"
        if not is_host or "*" in destination.host or _PORT.search(text):
            self.fail("host")
        return destination.host


class NetworkField(Text):
    """A network in CIDR notation, or an address. Bits beyond the prefix are cleared."""

    default_error_messages = {"network": "Must be a network such as 192.0.2.0/24 or 2001:db8::/32."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        # A scope says something about the visitor's own machine only.
        if "%" in text:
            self.fail("network")
        try:
            network = ip_network(text, strict=False)
        except ValueError:
            self.fail("network")
        return str(_without_ipv6_form(network))


def _without_ipv6_form(network: IPv4Network | IPv6Network) -> IPv4Network | IPv6Network:
    """The IPv4 network of an IPv4-mapped one: visitors' addresses have this form."""
    if isinstance(network, IPv4Network) or not network.subnet_of(_IPV4_MAPPED):
        return network
    return IPv4Network((int(network.network_address) & 0xFFFFFFFF, network.prefixlen - 96))


class QueryParameter(ListedObject):
    """A parameter of the query. If the condition names no value, any value matches."""

    name = Text(characters=100)
    value = Text(characters=200, required=False, allow_blank=True)


class TimeOfDayField(Text):
    default_error_messages = {"time_of_day": "Must be a time from 00:00 to 23:59."}

    def to_internal_value(self, data: Any) -> str:
        time = super().to_internal_value(data)
        if not _TIME_OF_DAY.fullmatch(time):
            self.fail("time_of_day")
        return time


class DayOfWeekField(Text):
    default_error_messages = {"day": f"Must be one of {', '.join(DAYS)}."}

    def to_internal_value(self, data: Any) -> str:
        day = super().to_internal_value(data)
        if day not in DAYS:
            self.fail("day")
        return day


class ZoneNameField(Text):
    default_error_messages = {"zone": "Must be the name of an IANA time zone, such as Europe/Berlin."}

    def to_internal_value(self, data: Any) -> str:
        zone = super().to_internal_value(data)
        if zone not in zones():
            self.fail("zone")
        return zone


class _PeriodRules(ListedObject):
    def to_internal_value(self, data: Any) -> dict[str, str]:
        moments = super().to_internal_value(data)
        if not moments:
            raise serializers.ValidationError("Must have from, until or both.", code="required")
        if len(moments) == 2 and moments["from"] >= moments["until"]:
            raise serializers.ValidationError("from must be earlier than until.", code="period")
        return {name: iso_utc(moment) for name, moment in moments.items()}


class _ScheduleRules(ListedObject):
    def to_internal_value(self, data: Any) -> dict[str, Any]:
        fields: dict[str, Any] = super().to_internal_value(data)
        return fields | {"days": sorted(set(fields["days"]), key=DAYS.index)}


# Declared like this because ``from`` is a keyword.
Period: Any = type(
    "Period",
    (_PeriodRules,),
    {
        "from": DateTime(required=False),
        "until": DateTime(required=False),
    },
)
Schedule: Any = type(
    "Schedule",
    (_ScheduleRules,),
    {
        "days": List(child=DayOfWeekField(), min_length=1, max_length=7),
        "from": TimeOfDayField(),
        "until": TimeOfDayField(),
        "timezone": ZoneNameField(),
    },
)


_MAX_VALUES = 50
_MAX_NETWORKS = 20


class ConditionType(NamedTuple):
    """``value`` validates one of the condition's values; None if it takes no values."""

    value: serializers.Field[Any, Any, Any, Any] | None
    max_values: int = _MAX_VALUES


CONDITION_TYPES: Mapping[str, ConditionType] = {
    "country": ConditionType(CountryField()),
    "device": ConditionType(DeviceField()),
    "os": ConditionType(Text(characters=64)),
    "browser": ConditionType(Text(characters=64)),
    "language": ConditionType(LanguageField(characters=35)),
    "referrerHost": ConditionType(ReferrerHostField(characters=253)),
    "query": ConditionType(QueryParameter()),
    "network": ConditionType(NetworkField(characters=50), _MAX_NETWORKS),
    "time": ConditionType(Period()),
    "schedule": ConditionType(Schedule()),
    "scanned": ConditionType(None),
}


class ConditionTypeField(Text):
    default_error_messages = {"unknown_condition": f"Must be one of {', '.join(CONDITION_TYPES)}."}

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if name not in CONDITION_TYPES:
            self.fail("unknown_condition")
        return name


class _ConditionValues(serializers.Field[Any, Any, Any, Any]):
    """The values as sent. Their rules depend on the type of the condition."""

    def to_internal_value(self, data: Any) -> Any:
        return data


def _lists_of_values() -> dict[str, List]:
    return {
        name: List(child=kind.value, min_length=1, max_length=kind.max_values)
        for name, kind in CONDITION_TYPES.items()
        if kind.value is not None
    }


_LISTS = _lists_of_values()


class _ConditionRules(ListedObject):
    def to_internal_value(self, data: Any) -> dict[str, Any]:
        fields: dict[str, Any] = super().to_internal_value(data)
        name, values = fields["type"], fields.get("values")
        return {"type": name, "values": _values(name, values), "not": fields.get("not", False)}


def _values(name: str, values: Any) -> list[Any]:
    """Reports the first broken rule for the list as a whole, because clients show one error for it."""
    if name not in _LISTS:
        if values in (None, []):
            return []
        raise _refusal(f"A condition of the type {name} takes no values.", "no_values")
    if values is None:
        raise _refusal("This field is required.", "required")
    try:
        validated: list[Any] = _LISTS[name].run_validation(values)
    except serializers.ValidationError as error:
        first = invalid(error).errors[0]
        place = "" if first.field == "body" else f"{first.field}: "
        raise _refusal(f"{place}{first.message}", first.code) from None
    return validated


def _refusal(message: str, code: str) -> serializers.ValidationError:
    return serializers.ValidationError({"values": [serializers.ErrorDetail(message, code=code)]})


# Declared like this because ``not`` is a keyword.
ConditionSerializer: Any = type(
    "Condition",
    (_ConditionRules,),
    {
        "type": ConditionTypeField(),
        "values": _ConditionValues(required=False),
        "not": Boolean(required=False),
    },
)
