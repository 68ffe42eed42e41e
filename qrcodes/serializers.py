"""Bodies and queries of the API of QR codes."""

from __future__ import annotations

import unicodedata
from typing import Any

from django.conf import settings
from rest_framework import serializers

from common.colors import BLACK, WHITE
from common.rest.fields import Boolean, ColorField, Integer, List, Name, Text, choice_field
from common.rest.pagination import PageQuery
from common.rest.strict_json import MAX_BODY_BYTES, StrictJSONParser
from qrcodes.design import (
    DEFAULT_MARGIN,
    DEFAULT_SIZE,
    MAX_ACROSS,
    MAX_BYTES,
    MAX_FRAME_TEXT,
    MAX_MARGIN,
    MAX_SIZE,
    MAX_WIDTH_MM,
    MIN_SIZE,
    MIN_WIDTH_MM,
    PIXELS_PER_INCH,
    RECOMMENDED_CONTRAST,
    BadLogo,
    FramePosition,
    ImageFormat,
    Level,
    Style,
    clean_logo,
    contrast_refusal,
    default_foreground,
)
from qrcodes.lettering import undrawable
from qrcodes.models import MAX_DESIGN_NAME
from qrcodes.representations import saved_design
from qrcodes.sheets import DEFAULT_COLUMNS, MAX_COLUMNS, MAX_LINKS, MIN_COLUMNS, Archive, Paper


class LogoParser(StrictJSONParser):
    """Accepts a body with a logo, which base64 makes a third longer."""

    max_bytes = MAX_BODY_BYTES + -(-MAX_BYTES // 3) * 4


class LogoField(Text):
    def to_internal_value(self, data: Any) -> Any:
        try:
            return clean_logo(super().to_internal_value(data))
        except BadLogo as refusal:
            raise serializers.ValidationError(refusal.message, code=refusal.code) from None


class FrameTextField(Name):
    default_error_messages = {"character": "Contains a character that cannot be drawn: {character}."}

    def to_internal_value(self, data: Any) -> str:
        text = unicodedata.normalize("NFC", super().to_internal_value(data))
        if character := undrawable(text):
            self.fail("character", character=f"U+{ord(character):04X}")
        return text


class DesignSerializer(serializers.Serializer[Any]):
    """How a code looks, whatever the format of its file."""

    errorCorrectionLevel = choice_field(
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
    style = choice_field(  # type: ignore[assignment] # hides DRF's
        choices=Style.values, default=Style.SQUARE.value, help_text="The shape of the modules."
    )
    frameText = FrameTextField(
        source="frame_text",
        default=None,
        allow_null=True,
        characters=MAX_FRAME_TEXT,
        help_text="A call to action, which makes a frame around the code and the image higher than wide. Latin, Greek"
        " and Cyrillic letters. Null: no frame.",
    )
    framePosition = choice_field(
        source="frame_position",
        choices=FramePosition.values,
        default=FramePosition.BELOW.value,
        help_text="Where the text is, seen from the code.",
    )

    def to_internal_value(self, data: dict[str, Any]) -> dict[str, Any]:
        attrs: dict[str, Any] = super().to_internal_value(data)
        if not {"foregroundColor", "backgroundColor"} & data.keys():
            attrs["foreground"] = default_foreground(settings.BRAND_COLOR)
        if attrs["frame_text"] is None:
            # Codes that look the same are the same.
            attrs["frame_position"] = FramePosition.BELOW.value
        return attrs

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if refusal := contrast_refusal(attrs["foreground"], attrs["background"]):
            raise serializers.ValidationError({"foregroundColor": refusal}, code="contrast")
        return attrs


def _size() -> Integer:
    return Integer(
        default=DEFAULT_SIZE,
        min_value=MIN_SIZE,
        max_value=MAX_SIZE,
        help_text="Width in pixels, the quiet zone included; without a frame, the height too.",
    )


def _width() -> Integer:
    return Integer(
        source="width_mm",
        default=None,
        allow_null=True,
        min_value=MIN_WIDTH_MM,
        max_value=MAX_WIDTH_MM,
        help_text="Printed width in millimetres: the page of a PDF, the width of an SVG, and with `size` the"
        f" resolution of a PNG or JPEG. Null: by `size`, with {PIXELS_PER_INCH} pixels per inch.",
    )


_LOGO_RULE = f"A PNG or JPEG of at most {MAX_BYTES} bytes and {MAX_ACROSS} pixels across, not animated."


class CreateQrCodeSerializer(DesignSerializer):
    urlId = Text(source="url_id", help_text="The `_id` of the URL.")
    size = _size()
    widthMm = _width()
    format = choice_field(choices=ImageFormat.values, default=ImageFormat.PNG.value)
    logo = LogoField(
        required=False,
        allow_null=True,
        help_text=f"Shown in the middle, and makes the level `H`. {_LOGO_RULE} `null` means none. A request without it"
        " gets the operator's logo if there is one, and if `size` leaves enough space for it.",
    )


class CreateQrDesignSerializer(DesignSerializer):
    returned = saved_design.names

    name = Name(characters=MAX_DESIGN_NAME, help_text="Unique in the workspace.")
    size = _size()
    widthMm = _width()
    logo = LogoField(default=None, allow_null=True, help_text=_LOGO_RULE)
    brandLogo = Boolean(
        source="brand_logo",
        default=True,
        help_text="Whether codes without a `logo` get that of the operator.",
    )
    isDefault = Boolean(
        source="is_default",
        default=False,
        help_text="Whether the dashboard begins with it. Ends that of the former default.",
    )


class UpdateQrDesignSerializer(CreateQrDesignSerializer):
    """Omitted fields keep their value, so the colours can only be compared with those that are stored."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        for field in fields.values():
            field.default, field.required = serializers.empty, False
        return fields

    def to_internal_value(self, data: dict[str, Any]) -> dict[str, Any]:
        attrs: dict[str, Any] = super(DesignSerializer, self).to_internal_value(data)
        return attrs

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return attrs


class QrSheetSerializer(DesignSerializer):
    archive = choice_field(
        choices=Archive.values,
        default=None,
        allow_null=True,
        help_text="Instead of sheets: a ZIP with a file of this format for each link.",
    )
    urlIds = List(
        child=Text(),
        source="url_ids",
        min_length=1,
        max_length=MAX_LINKS,
        help_text="The `_id` of each URL, in the order of the sheet.",
    )
    paper = choice_field(choices=Paper.values, default=Paper.A4.value)
    columns = Integer(
        default=DEFAULT_COLUMNS,
        min_value=MIN_COLUMNS,
        max_value=MAX_COLUMNS,
        help_text="The number of codes side by side, which decides their size.",
    )
    logo = LogoField(
        required=False,
        allow_null=True,
        help_text=f"{_LOGO_RULE} `null` means none. Without it, codes get the operator's logo if there is one.",
    )


class ListQuery(PageQuery):
    urlId = Text(source="url_id", required=False, help_text="Only the codes of this URL.")
