"""Adds rules of the fields that decide where a link leads to the OpenAPI description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import Direction, extend_schema_field
from rest_framework.fields import ChoiceField

from accounts.health_checks import HealthCheck
from common.errors import InvalidFields
from common.openapi.error_examples import invalid, invalid_destination
from common.openapi.operations import name_choices
from domains.addresses import NO_DESTINATION
from links.fields import DAYS, ReferrerPolicy
from links.routing.columns import START_AFTER_EXPIRY, TOO_LONG
from links.routing.conditions import (
    CONDITION_TYPES,
    ConditionSerializer,
    ConditionTypeField,
    LanguageField,
    NetworkField,
    ReferrerHostField,
    ZoneNameField,
)
from links.routing.serializers import MIN_VARIANTS, TOO_MANY, TOO_MANY_RULES, TOO_MUCH_WEIGHT
from links.serializer_fields import CountryField, DeviceField, HealthCheckField, ReferrerPolicyField

Schema = dict[str, Any]


def _text(**rules: Any) -> Schema:
    return {"type": "string", **rules}


def _ref(component: str) -> Schema:
    return {"$ref": f"#/components/schemas/{component}"}


def _object(required: str, **properties: Schema) -> Schema:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required.split()} if required else schema


_MOMENT = _text(format="date-time")
_TIME_OF_DAY = _text(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")
_DAYS = {"type": "array", "items": _ref("DayOfWeek"), "minItems": 1, "maxItems": 7}
_PERIOD = _object("", **{"from": _MOMENT, "until": _MOMENT})
_SCHEDULE = {"days": _DAYS, "from": _TIME_OF_DAY, "until": _TIME_OF_DAY, "timezone": _text(minLength=1)}
_VALUES: Mapping[str, Schema] = {
    "country": _text(pattern="^[A-Za-z]{2}$"),
    "device": _ref("DeviceType"),
    "os": _text(minLength=1, maxLength=64),
    "browser": _text(minLength=1, maxLength=64),
    "language": _text(pattern="^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$", maxLength=35),
    "referrerHost": _text(minLength=1, maxLength=253),
    "query": _ref("QueryParameter"),
    "network": _text(minLength=1, maxLength=50),
    "time": _ref("Period"),
    "schedule": _ref("Schedule"),
}


def _condition(name: str) -> Schema:
    kind: Schema = {"type": _text(const=name), "not": {"type": "boolean", "default": False}}
    if name not in _VALUES:
        return _object("type", **kind, values={"type": "array", "items": {}, "maxItems": 0})
    limits: Schema = {"minItems": 1, "maxItems": CONDITION_TYPES[name].max_values}
    return _object("type values", **kind, values={"type": "array", "items": _VALUES[name], **limits})


def _component(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}Condition"


# Objects inside conditions, and one component for each type of condition.
_COMPONENTS: Mapping[str, Schema] = {
    "DayOfWeek": _text(enum=[*DAYS]),
    "QueryParameter": _object("name", name=_text(minLength=1, maxLength=100), value=_text(maxLength=200)),
    "Period": {**_PERIOD, "anyOf": [{"required": ["from"]}, {"required": ["until"]}]},
    "Schedule": _object("days from until timezone", **_SCHEDULE),
    **{_component(name): _condition(name) for name in CONDITION_TYPES},
}


class _ConditionExtension(OpenApiSerializerExtension):
    target_class = ConditionSerializer
    # Before the extension for all closed objects.
    priority = 1

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> Schema:
        for name, schema in _COMPONENTS.items():
            component = ResolvedComponent(name, ResolvedComponent.SCHEMA, schema, object=name)
            auto_schema.registry.register_on_missing(component)
        return {
            "description": "The values are alternatives. `not` negates the condition.",
            "oneOf": [_ref(_component(name)) for name in CONDITION_TYPES],
            # The alternatives are closed.
            "additionalProperties": {},
        }


name_choices("HealthCheck", HealthCheck.values)
extend_schema_field(ChoiceField(HealthCheck.values))(HealthCheckField)
name_choices("ReferrerPolicy", ReferrerPolicy.values)
extend_schema_field(ChoiceField(ReferrerPolicy.values))(ReferrerPolicyField)

# Rules of the fields of a request.
ROUTING_NOTES: Mapping[str, Schema] = {"split": {"anyOf": [{"maxItems": 0}, {"minItems": MIN_VARIANTS}]}}

_URLS = (
    "targetUrl",
    "notStartedUrl",
    "expiredUrl",
    "fallbackUrl",
    "rules.0.url",
    "split.0.url",
    "preview.imageUrl",
)
_BAD_VALUES = {
    "country": CountryField.default_error_messages["country"],
    "device": DeviceField.default_error_messages["device"],
    "language": LanguageField.default_error_messages["language"],
    "host": ReferrerHostField.default_error_messages["host"],
    "network": NetworkField.default_error_messages["network"],
    "period": "0: from must be earlier than until.",
    "zone": ZoneNameField.default_error_messages["zone"],
}
BAD_ROUTES: tuple[InvalidFields, ...] = (
    *(
        invalid(name, code, NO_DESTINATION[reason])
        for name in _URLS
        for code, reason in (("loop", "loop"), ("banned_destination", "banned"))
    ),
    *map(invalid_destination, _URLS),
    *(invalid(name, "start_after_expiry", START_AFTER_EXPIRY) for name in ("startsAt", "expiresAt")),
    invalid("rules", "too_many_rules", TOO_MANY_RULES),
    *(invalid("rules", "too_many", message) for message in TOO_MANY.values()),
    *(invalid(name, "too_long", TOO_LONG) for name in ("rules", "split")),
    invalid(
        "rules.0.conditions.0.type",
        "unknown_condition",
        str(ConditionTypeField.default_error_messages["unknown_condition"]),
    ),
    *(
        invalid("rules.0.conditions.0.values", code, f"0: {message}".removeprefix("0: 0: "))
        for code, message in _BAD_VALUES.items()
    ),
    invalid("split", "weights", TOO_MUCH_WEIGHT),
)
