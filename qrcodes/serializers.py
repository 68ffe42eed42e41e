from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.fields import Integer, Text
from common.pagination import PageQuery
from qrcodes.colors import MIN_CONTRAST, contrast, is_color, luminance
from qrcodes.design import (
    BLACK,
    DEFAULT_MARGIN,
    DEFAULT_SIZE,
    MAX_MARGIN,
    MAX_SIZE,
    MIN_SIZE,
    WHITE,
    ImageFormat,
    Level,
    Style,
)
from qrcodes.logos import BadLogo, clean_logo


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
    urlId = Text(source="url_id")
    size = Integer(default=DEFAULT_SIZE, min_value=MIN_SIZE, max_value=MAX_SIZE)
    format = serializers.ChoiceField(choices=ImageFormat.values, default=ImageFormat.PNG.value)
    errorCorrectionLevel = serializers.ChoiceField(
        source="level", choices=Level.values, default=Level.MEDIUM.value
    )
    foregroundColor = ColorField(source="foreground", default=BLACK)
    backgroundColor = ColorField(source="background", default=WHITE)
    margin = Integer(default=DEFAULT_MARGIN, min_value=0, max_value=MAX_MARGIN)
    style = serializers.ChoiceField(choices=Style.values, default=Style.SQUARE.value)  # type: ignore[assignment] # DRF
    logo = LogoField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        foreground, background = attrs["foreground"], attrs["background"]
        if luminance(foreground) > luminance(background):
            raise serializers.ValidationError(
                {
                    "foregroundColor": "Must be darker than backgroundColor: many readers see no inverted codes."
                },
                code="inverted",
            )
        if (found := contrast(foreground, background)) < MIN_CONTRAST:
            # Cut, not rounded: 2.999 is no 3.0.
            message = (
                f"Contrast with backgroundColor is {int(found * 100) / 100}:1, not {MIN_CONTRAST}:1 or more."
            )
            raise serializers.ValidationError({"foregroundColor": message}, code="contrast")
        return attrs


class ListQuery(PageQuery):
    urlId = Text(source="url_id", required=False)
