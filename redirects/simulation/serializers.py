"""The visit that a client describes, and its simulation as the API shows it.

Every field of a visit is optional, and null is the same as an absent field.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from ipaddress import ip_address
from typing import Any

from rest_framework import serializers

from analytics.filter_fields import KINDS
from common.http.client_address import client_address
from common.openapi.responses import Representation, choice, flag, number, text
from common.rest.fields import Boolean, DateTime, Text
from links.serializer_fields import CountryField, DeviceField
from redirects.checks import ORDER
from redirects.simulation.services import Simulation

METHODS = ("GET", "HEAD", "POST")
# The longest request line and header line that the service accepts.
MAX_QUERY = 8_190
MAX_HEADER = 4_096
FIRST_YEAR, LAST_YEAR = 1970, 9998


class AddressField(Text):
    """An IP address in canonical form, as for a real visitor: an IPv4-mapped address becomes IPv4."""

    default_error_messages = {"address": "Must be an IPv4 or IPv6 address, such as 203.0.113.9."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            ip_address(text)
        except ValueError:
            self.fail("address")
        return client_address(text, "", ())


class MethodField(Text):
    default_error_messages = {"method": "Must be GET, HEAD or POST."}

    def to_internal_value(self, data: Any) -> str:
        method = super().to_internal_value(data)
        if method not in METHODS:
            self.fail("method")
        return method


class TimeField(DateTime):
    """Times for which every time zone and schedule has an answer."""

    default_error_messages = {"out_of_range": f"Must lie between {FIRST_YEAR} and {LAST_YEAR}."}

    def to_internal_value(self, data: Any) -> datetime:
        moment = super().to_internal_value(data)
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            self.fail("out_of_range")
        return moment


class SimulationSerializer(serializers.Serializer[Any]):
    country = CountryField(
        required=False,
        allow_null=True,
        help_text="The visitor's country. Default: the country of `address`; unknown without an address.",
    )
    address = AddressField(
        required=False,
        allow_null=True,
        help_text="The visitor's IP address. Default: unknown. The side of a split depends on it.",
    )
    device = DeviceField(
        required=False, allow_null=True, help_text="Default: the device that `userAgent` names."
    )
    userAgent = Text(
        source="user_agent",
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=MAX_HEADER,
        help_text="The `User-Agent` header. Default: a common browser on `device`, or else on a desktop.",
    )
    language = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=MAX_HEADER,
        help_text="The `Accept-Language` header, such as `de-CH,de;q=0.9`. Default: none.",
    )
    referrer = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=MAX_HEADER,
        help_text="The `Referer` header: the URL of the page with the link. Default: none, a direct visit.",
    )
    query = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=MAX_QUERY,
        help_text="The query of the visited URL, percent-encoded, with or without its `?`. Default: none. `qr=1` is"
        " a scan of a QR code.",
    )
    time = TimeField(
        required=False,
        allow_null=True,
        help_text="The time of the visit; in UTC if it has no offset. Default: now.",
    )
    unlocked = Boolean(
        required=False,
        allow_null=True,
        help_text="Whether the visitor has entered the link's password. With POST: whether the body has it."
        " Default: false.",
    )
    method = MethodField(
        required=False,
        allow_null=True,
        help_text="The request method. POST is a program that sends a JSON body. Default: `GET`.",
    )

    def validate(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in attrs.items() if value is not None}


_STEP = Representation(
    "SimulationStep",
    choice("check", "check", ORDER, "country"),
    flag("passed", "passed", True),
    text(
        "detail",
        "detail",
        "The visitor's country is DE, which the link allows: DE, FR.",
        "One sentence with the values that decided.",
    ),
)
_OUTCOME = Representation(
    "SimulationOutcome",
    number("status", "status", 302, "The HTTP status of the response."),
    text("reason", "reason", None, "The reason for a refusal, as in `X-Refusal-Reason`.", allow_null=True),
    text(
        "location",
        "location",
        "https://example.com/de",
        "The `Location` header; null if the response is not a redirect.",
        allow_null=True,
    ),
    text(
        "rule",
        "rule",
        "0b7c4a1e5d2f4c419b1e2f6d0c8a4b75",
        "The `_id` of the rule that matched.",
        allow_null=True,
    ),
    text(
        "variant",
        "variant",
        None,
        "The `_id` of the entry of the split; null with the target or a rule.",
        allow_null=True,
    ),
    flag("counted", "counted", True, "Whether the visit counts as a click."),
    choice("kind", "kind", [*KINDS], "click", "The kind of the visit in the log of clicks."),
)
STEPS = _STEP.listed("steps")
OUTCOME = _OUTCOME.nested("outcome")


def simulation(result: Simulation) -> dict[str, Any]:
    return {"steps": [_STEP(step) for step in result.steps], "outcome": _OUTCOME(result.outcome)}
