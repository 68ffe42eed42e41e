"""What the fields of links do not say of their rules by themselves, and the rules that no schema can say."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field

from common.pagination import MAX_DEPTH
from common.schema import annotate, invalid
from domains.addresses import BASE_ID
from links.models import Device, RedirectType
from links.serializers import (
    MAX_TAG,
    CodeField,
    CountryField,
    CreateLinkSerializer,
    DeviceField,
    ListQuery,
    RestrictionsSerializer,
    TagField,
    TagsField,
    UpdateLinkSerializer,
    UtmSerializer,
)

extend_schema_field({"type": "string", "pattern": "^[A-Za-z0-9]{3,50}$"})(CodeField)
extend_schema_field({"type": "string", "pattern": "^[A-Za-z]{2}$"})(CountryField)
extend_schema_field({"type": "string", "enum": Device.values})(DeviceField)

_NOTES: dict[str, dict[str, Any]] = {
    "customCode": {"minLength": 3, "maxLength": 50, "description": "Upper and lower case differ."},
    "expiresAt": {"description": "Without an offset it is UTC; a date alone is its first moment."},
    "password": {
        "format": "password",
        "description": "Asked of everybody who follows the link; null asks nothing.",
    },
    "redirectType": {"enum": [*RedirectType.values, None]},
    "utm": {"description": "Put into the address when the link is followed. Replaced as a whole."},
    "restrictions": {"description": "Who may follow the link, and how often. Replaced as a whole."},
}
annotate(
    CreateLinkSerializer,
    {
        **_NOTES,
        "originalUrl": {"format": "uri", "description": "An http or https address; not one of this service."},
        "redirectType": {**_NOTES["redirectType"], "default": int(RedirectType.FOUND)},
        "domainId": {"description": f"The `id` of an available domain; `{BASE_ID}` unless given."},
    },
)
annotate(
    UpdateLinkSerializer,
    {
        **_NOTES,
        "originalUrl": {"description": "Only its present value is accepted."},
        "shortCode": {"description": "Only its present value is accepted."},
        "isActive": {"description": "Whether the link works."},
    },
)
annotate(
    ListQuery,
    {
        "page": {"description": f"Pages reach down to row {MAX_DEPTH}: `page` times `limit`."},
        "limit": {"description": "How many URLs make a page."},
        "search": {"description": "A part of the title, the address or a code, in upper or lower case."},
        "tags": {
            "description": f"Any of these tags, of {MAX_TAG} characters at most, separated by commas. Upper and lower"
            " case do not differ."
        },
        "isActive": {"description": "Only the links that work, or only those that do not."},
    },
)
annotate(UtmSerializer, {}, closed=True)
annotate(RestrictionsSerializer, {}, closed=True)

BAD_FIELDS = (
    *(
        invalid(f"restrictions.{name}.0", "country", str(CountryField.default_error_messages["country"]))
        for name in ("allowedCountries", "blockedCountries")
    ),
    invalid("tags.0", "blank_tag", str(TagField.default_error_messages["blank_tag"])),
)
BAD_TAGS = invalid("tags", "tag", str(TagsField.default_error_messages["tag"]))
