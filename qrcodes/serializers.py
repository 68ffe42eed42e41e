"""Bodies and queries of the API of QR codes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from common.colors import BLACK, WHITE, is_color
from common.rest.fields import Integer, Text
from common.rest.pagination import PageQuery
from common.rest.strict_json import MAX_BODY_BYTES, StrictJSONParser
from qrcodes.design import (
    DEFAULT_MARGIN,
    DEFAULT_SIZE,
    MAX_ACROSS,
    MAX_BYTES,
    MAX_MARGIN,
    MAX_SIZE,
    MIN_GREYS,
    MIN_SIZE,
    RECOMMENDED_CONTRAST,
    BadLogo,
    ImageFormat,
    Level,
    Style,
    clean_logo,
    default_foreground,
    grey_levels,
)


class LogoParser(StrictJSONParser):
    """Accepts a body with a logo, which base64 makes a third longer."""

    max_bytes = MAX_BODY_BYTES + -(-MAX_BYTES // 3) * 4


class ColorField(Text):
    default_error_messages = {"color": "Must be a hex colour such as #1A2B3C."}

    def to_internal_value(self, data: Any) -> str:
        color = super().to_internal_value(data)
        if not is_color(color):
            self.fail("color")
        return color.upper()


class LogoField(Text):
    def to_internal_value(self, data: Any) -> Any:
        try:
            return clean_logo(super().to_internal_value(data))
        except BadLogo as refusal:
            raise serializers.ValidationError(refusal.message, code=refusal.code) from None


class CreateQrCodeSerializer(serializers.Serializer[Any]):
    urlId = Text(source="url_id", help_text="The `_id` of the URL.")
    size = Integer(
        default=DEFAULT_SIZE,
        min_value=MIN_SIZE,
        max_value=MAX_SIZE,
        help_text="Width and height in pixels, the quiet zone included.",
    )
    format = serializers.ChoiceField(choices=ImageFormat.values, default=ImageFormat.PNG.value)
    errorCorrectionLevel = serializers.ChoiceField(
        source="level",
        choices=Level.values,
        default=Level.MEDIUM.value,
        help_text="Up to 7, 15, 25 or 30 % of the code may be lost.",
    )
    foregroundColor = ColorField(
        source="foreground",
        default=BLACK,
        help_text=f"Best darker than `backgroundColor`, with a contrast of {RECOMMENDED_CONTRAST}:1 or more; otherwise"
        " the response has a warning. Colours that no reader can tell apart are refused. A request without colours"
        " gets the operator's colour if there is one that every reader can read.",
    )
    backgroundColor = ColorField(source="background", default=WHITE)
    margin = Integer(
        default=DEFAULT_MARGIN,
        min_value=0,
        max_value=MAX_MARGIN,
        help_text="Minimum quiet zone in modules; the standard requires 4.",
    )
    style = serializers.ChoiceField(  # type: ignore[assignment] # hides DRF's
        choices=Style.values, default=Style.SQUARE.value, help_text="The shape of the modules."
    )
    logo = LogoField(
        required=False,
        allow_null=True,
        help_text=f"Shown in the middle, and makes the level `H`. A PNG or JPEG of at most {MAX_BYTES} bytes"
        f" and {MAX_ACROSS} pixels across, not animated. `null` means none. A request without it gets the operator's"
        " logo if there is one, and if `size` leaves enough space for it.",
    )

    def to_internal_value(self, data: dict[str, Any]) -> dict[str, Any]:
        attrs: dict[str, Any] = super().to_internal_value(data)
        if not {"foregroundColor", "backgroundColor"} & data.keys():
            attrs["foreground"] = default_foreground(settings.BRAND_COLOR)
        return attrs

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        greys = grey_levels(attrs["foreground"], attrs["background"])
        if greys < MIN_GREYS:
            greys_differ = f"their greys differ by {greys} of 255, not {MIN_GREYS} or more."
            message = f"Not distinguishable from backgroundColor: {greys_differ}"
            raise serializers.ValidationError({"foregroundColor": message}, code="contrast")
        return attrs


class ListQuery(PageQuery):
    urlId = Text(source="url_id", required=False, help_text="Only the codes of this URL.")
