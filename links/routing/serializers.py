"""The rules of the fields that decide where a link leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from common.rest.fields import DestinationField, Integer, List, StrictObject, Text
from links.routing.conditions import ConditionSerializer, ListedObject

MAX_RULES = 10
MAX_CONDITIONS = 8
MIN_VARIANTS, MAX_VARIANTS = 2, 5
MAX_WEIGHT, TOTAL_WEIGHT = 99, 100
TOO_MANY_RULES = f"A link has at most {MAX_RULES} rules."
# All conditions of a link together. Workers evaluate them on each redirect, and schedules whenever one may change.
MAX_VALUES, MAX_SCHEDULES, MAX_TIME_ZONES = 500, 50, 20
TOO_MANY = {
    "values": f"The conditions of a link have at most {MAX_VALUES} values in total.",
    "schedules": f"The conditions of a link have at most {MAX_SCHEDULES} schedules in total.",
    "time zones": f"The schedules of a link have at most {MAX_TIME_ZONES} different time zones.",
}
TOO_MUCH_WEIGHT = f"The weights must add up to at most {TOTAL_WEIGHT}."
_RULES_HELP = (
    f"At most {MAX_RULES} destinations with conditions on the visitor. The first rule that matches applies. An update"
    " replaces the whole list."
)
_SPLIT_HELP = (
    f"{MIN_VARIANTS} to {MAX_VARIANTS} destinations that each get a share of the visitors to whom no rule applies. The"
    " other visitors go to the link's own destination. A visitor stays on the same side. An update replaces the whole"
    " list."
)
_ID = (
    "Keeps the entry with this id. Without an id, an entry that equals a removed one keeps its id. Any other entry is"
    " new."
)


class _Branch(ListedObject):
    _id = Text(source="id", required=False, allow_null=True, allow_blank=True, characters=64, help_text=_ID)
    name = Text(required=False, allow_null=True, allow_blank=True, characters=50)
    url = DestinationField()


class RuleSerializer(_Branch):
    conditions = List(
        child=ConditionSerializer(),
        min_length=1,
        max_length=MAX_CONDITIONS,
        help_text="All of them must hold.",
    )


class VariantSerializer(_Branch):
    weight = Integer(min_value=1, max_value=MAX_WEIGHT, help_text="The share of the visitors, in per cent.")


class RulesField(List):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=RuleSerializer(), max_length=MAX_RULES, **{"help_text": _RULES_HELP, **kwargs})

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and len(data) > MAX_RULES:
            raise serializers.ValidationError(TOO_MANY_RULES, code="too_many_rules")
        rules = super().to_internal_value(data)
        _refuse_too_many([condition for rule in rules for condition in rule["conditions"]])
        return rules


def _refuse_too_many(conditions: Sequence[Mapping[str, Any]]) -> None:
    schedules = [
        value for condition in conditions if condition["type"] == "schedule" for value in condition["values"]
    ]
    counts = {
        "values": (sum(len(condition["values"]) for condition in conditions), MAX_VALUES),
        "schedules": (len(schedules), MAX_SCHEDULES),
        "time zones": (len({schedule["timezone"] for schedule in schedules}), MAX_TIME_ZONES),
    }
    for name, (count, limit) in counts.items():
        if count > limit:
            raise serializers.ValidationError(TOO_MANY[name], code="too_many")


class SplitField(List):
    """An empty list ends the split, as null does."""

    default_error_messages = {
        "min_length": f"A split has {MIN_VARIANTS} to {MAX_VARIANTS} entries, or none.",
        "weights": TOO_MUCH_WEIGHT,
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            child=VariantSerializer(), max_length=MAX_VARIANTS, **{"help_text": _SPLIT_HELP, **kwargs}
        )

    def to_internal_value(self, data: Any) -> list[Any]:
        variants = super().to_internal_value(data)
        if 0 < len(variants) < MIN_VARIANTS:
            self.fail("min_length")
        if sum(variant["weight"] for variant in variants) > TOTAL_WEIGHT:
            self.fail("weights")
        return variants


class PreviewSerializer(StrictObject):
    title = Text(required=False, allow_null=True, allow_blank=True, characters=200)
    description = Text(required=False, allow_null=True, allow_blank=True, characters=500)
    imageUrl = DestinationField(source="image_url", required=False, allow_null=True)
