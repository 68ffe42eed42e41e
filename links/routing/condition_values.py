"""Serializer fields for the values of conditions. They return the stored form, which is JSON."""

from __future__ import annotations

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from rest_framework import serializers

from common.http.urls import InvalidDestination, canonical_destination
from common.rest.fields import DateTime, List, Text, iso_utc
from common.time_zones import zones
from links.routing.listed_objects import ListedObject
from links.routing.vocabulary import DAYS, DIRECT

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
    """Without a value, any value matches."""

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
