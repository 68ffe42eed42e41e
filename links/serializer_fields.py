"""Serializer fields of links."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers

from accounts.health_checks import HealthCheck
from common.countries import COUNTRY_CODES
from common.ids import parse_public_id
from common.rest.fields import Integer, Text, has_at_most
from links.availability import Status
from links.codes import INHERITED_RULE, code_rule, is_code, is_inherited_code
from links.fields import Device, RedirectType, ReferrerPolicy
from links.tags.texts import tags_in

MAX_TAG = 50


class TagField(Text):
    """Rejects blank tags, which the filter by tags cannot match."""

    # Not a regular expression in the schema, because languages disagree on which characters are whitespace.
    default_error_messages = {"blank_tag": "A tag must not be blank."}

    def to_internal_value(self, data: Any) -> str:
        tag = super().to_internal_value(data)
        if not tag.strip():
            self.fail("blank_tag")
        return tag


class TagsField(Text):
    """Tags in a query, as `links.tags.texts` reads them. Rejects texts too long for a tag, and for the index."""

    default_error_messages = {"tag": f"A tag has at most {MAX_TAG} characters."}

    def to_internal_value(self, data: Any) -> str:
        tags = super().to_internal_value(data)
        if any(not has_at_most(MAX_TAG, tag.strip()) for tag in tags_in(tags)):
            self.fail("tag")
        return tags


class StatusesField(Text):
    """Statuses in a query string, separated by commas."""

    default_error_messages = {
        "status": f"Must be one or several of {', '.join(Status)}, separated by commas."
    }

    def to_internal_value(self, data: Any) -> tuple[Status, ...]:  # type: ignore[override] # not its text
        try:
            return tuple(Status(status.strip()) for status in super().to_internal_value(data).split(","))
        except ValueError:
            self.fail("status")


class ArchivedField(Text):
    """Whether a list has archived links, in a query string. None: it has all links."""

    values: ClassVar[dict[str, bool | None]] = {"no": False, "yes": True, "any": None}
    default_error_messages = {"archived": f"Must be one of {', '.join(values)}."}

    def to_internal_value(self, data: Any) -> bool | None:  # type: ignore[override] # not its text
        chosen = super().to_internal_value(data)
        if chosen not in self.values:
            self.fail("archived")
        return self.values[chosen]


class AccountIdField(Text):
    default_error_messages = {"id": "Must be the id of an account."}

    def to_internal_value(self, data: Any) -> UUID:  # type: ignore[override] # the id, not its text
        public_id = parse_public_id(super().to_internal_value(data))
        if public_id is None:
            self.fail("id")
        return public_id

    def to_representation(self, value: Any) -> str:
        return str(value)


class CountryField(Text):
    default_error_messages = {"country": "Must be an ISO 3166-1 alpha-2 country code."}

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data)
        # Converting other characters to upper case can yield a country code: "ß" becomes "SS", South Sudan.
        if not code.isascii() or code.upper() not in COUNTRY_CODES:
            self.fail("country")
        return code.upper()


class DeviceField(Text):
    default_error_messages = {"device": "Must be desktop, mobile or tablet."}

    def to_internal_value(self, data: Any) -> str:
        device = super().to_internal_value(data)
        if device not in Device.values:
            self.fail("device")
        return device


class CodeField(Text):
    accepts = staticmethod(is_code)
    rule = staticmethod(code_rule)

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data)
        if not self.accepts(code):
            raise serializers.ValidationError(self.rule(), code="code")
        return code


class CurrentOrNewCodeField(CodeField):
    """Accepts an inherited code, too: a client may send back the whole link. `rules.refuse_new_code` has the rest."""

    accepts = staticmethod(is_inherited_code)


class InheritedCodeField(CurrentOrNewCodeField):
    rule = staticmethod(lambda: INHERITED_RULE)


class RedirectTypeField(Integer):
    default_error_messages = {"redirect_type": "Must be 301 or 302."}

    def to_internal_value(self, data: Any) -> int:
        redirect_type = super().to_internal_value(data)
        if redirect_type not in RedirectType.values:
            self.fail("redirect_type")
        return redirect_type


class HealthCheckField(Text):
    default_error_messages = {"health_check": f"Must be {', '.join(HealthCheck.values)} or null."}

    def to_internal_value(self, data: Any) -> str:
        frequency = super().to_internal_value(data)
        if frequency not in HealthCheck.values:
            self.fail("health_check")
        return frequency


class ReferrerPolicyField(Text):
    default_error_messages = {"referrer_policy": f"Must be {', '.join(ReferrerPolicy.values)} or null."}

    def to_internal_value(self, data: Any) -> str:
        policy = super().to_internal_value(data)
        if policy not in ReferrerPolicy.values:
            self.fail("referrer_policy")
        return policy
