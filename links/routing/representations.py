"""The fields that decide where a link leads, as the API shows them."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from common.openapi.responses import Field, Representation, identifier, number, text
from links.routing.conditions import ConditionSerializer

_BRANCH = (
    identifier("_id", None, "3f1c9a52e0d84b7f9a6d2c8b51e07f64"),
    text("name", None, "Germany"),
    text("url", None, "https://example.com/de", "As sent."),
)
_CONDITION = {"type": "country", "values": ["DE"], "not": False}
_RULE = Representation(
    "Rule", *_BRANCH, Field("conditions", None, ConditionSerializer(many=True), [_CONDITION])
)
_VARIANT = Representation("Variant", *_BRANCH, number("weight", None, 30, min_value=1, max_value=99))
_PREVIEW = Representation(
    "LinkPreview",
    text("title", None, "Spring sale", allow_null=True),
    text("description", None, None, allow_null=True),
    text("imageUrl", None, "https://example.com/card.png", allow_null=True),
)


def _branches(name: str) -> Callable[[Any], list[dict[str, Any]]]:
    """Without the fields that are not for clients."""
    hidden = {"number", "href"}
    read = attrgetter(name)
    return lambda link: [
        {key: value for key, value in entry.items() if key not in hidden} for entry in read(link)
    ]


OWN_FORMS = {
    "rules": _RULE.listed("rules", _branches("rules")),
    "split": _VARIANT.listed("split", _branches("split")),
    "preview": _PREVIEW.nested("preview", "preview", allow_null=True),
}
