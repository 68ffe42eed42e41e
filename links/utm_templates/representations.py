from __future__ import annotations

from rest_framework.fields import CharField, ListField

from common.openapi.responses import Field, Representation, moment, public_id, text
from links.destinations.utm import UTM_KEYS

_EXAMPLES = {"source": "newsletter", "medium": "email"}
_values = Representation(
    "UtmValues", *(text(key, None, _EXAMPLES.get(key, ...), required=False) for key in UTM_KEYS)
)
_allowed = Representation(
    "UtmAllowedValues",
    *(
        Field(
            key,
            None,
            ListField(child=CharField(), required=False),
            ["newsletter", "shop"] if key == "source" else ...,
        )
        for key in UTM_KEYS
    ),
)
utm_template = Representation(
    "UtmTemplate",
    public_id("019a9e3f-3c41-7b52-9d63-1a2b3c4d5e6f"),
    text("name", "name", "Newsletter"),
    _values.nested("values", "values"),
    _allowed.nested("allowedValues", "allowed"),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
    moment("updatedAt", "updated_at", "2030-03-02T17:05:41.654321Z"),
)
