"""Serializer fields that check JSON types strictly: no numbers as strings, no strings as numbers."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Any

from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from common.http.urls import Destination, InvalidDestination, canonical_destination

_DATE_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d\d(?::?[0-5]\d)?)?)?",
    re.ASCII,
)
# Unicode's characters that only change the direction of the text around them (Bidi_Control).
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
DIRECTION_REFUSED = "Must not contain characters that change the direction of text."
_PROHIBITED = (ProhibitNullCharactersValidator(), ProhibitSurrogateCharactersValidator())


def _reject_unstorable_characters(value: Any) -> None:
    """Reject NUL and lone surrogates. One scan settles ASCII, which most texts are."""
    text = str(value)
    if "\0" in text or not text.isascii():
        for validator in _PROHIBITED:
            validator(text)


class Text(serializers.CharField):
    """A JSON string, stored as sent. Rejects NUL and lone surrogates, which PostgreSQL cannot store.

    ``characters`` counts code points after NFC, as people count them.
    """

    def __init__(self, **kwargs: Any) -> None:
        self.characters: int | None = kwargs.pop("characters", None)
        super().__init__(trim_whitespace=False, **kwargs)
        prohibiting = tuple(map(type, _PROHIBITED))
        lengths = [validator for validator in self.validators if not isinstance(validator, prohibiting)]
        self.validators = [*lengths, _reject_unstorable_characters]
        self.error_messages["too_long"] = f"Ensure this has at most {self.characters} characters."

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if self.characters is not None and not has_at_most(self.characters, data):
            raise serializers.ValidationError(self.error_messages["too_long"], code="max_length")
        return data


class Name(Text):
    """Text without surrounding whitespace, so that no name looks empty, and without characters that reorder others."""

    default_error_messages = {"direction": DIRECTION_REFUSED}

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data).strip()
        if not name:
            self.fail("blank")
        if _DIRECTION.search(name):
            self.fail("direction")
        return name


# No Unicode character decomposes into more code points, so NFC shortens a text to no less than a quarter.
_MAX_DECOMPOSITION = 4


def has_at_most(characters: int, text: str) -> bool:
    """Whether a text has at most this many code points after NFC, as people count them.

    Rejects long texts before normalising them: that is quadratic in the length of a run of combining marks.
    """
    if text.isascii():
        return len(text) <= characters
    return (
        len(text) <= _MAX_DECOMPOSITION * characters and len(unicodedata.normalize("NFC", text)) <= characters
    )


class DestinationField(Text):
    """Parses the address once; services receive the result."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(style={"input_type": "url"}, **kwargs)

    def to_internal_value(self, data: Any) -> Destination:  # type: ignore[override] # DRF types it by the parent
        try:
            return canonical_destination(super().to_internal_value(data))
        except InvalidDestination as refusal:
            raise serializers.ValidationError(refusal.message, code=refusal.code) from None


class Integer(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int:
            self.fail("invalid")
        return data


class Boolean(serializers.Field[bool, Any, bool, Any]):
    default_error_messages = {"invalid": "Must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data

    def to_representation(self, value: bool) -> bool:
        return value


class DateTime(serializers.Field[datetime, Any, str, Any]):
    """ISO 8601, a date or a date-time; without an offset it is UTC. Serialised in UTC with ``Z``."""

    default_error_messages = {
        "invalid": "Must be an ISO 8601 date or date-time, such as 2030-12-31T23:59:59Z."
    }

    def to_internal_value(self, data: Any) -> datetime:
        if not isinstance(data, str) or not _DATE_TIME.fullmatch(data):
            self.fail("invalid")
        try:
            moment = datetime.fromisoformat(data.upper().replace(",", "."))
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail("invalid")

    def to_representation(self, value: datetime) -> str:
        return iso_utc(value)


def iso_utc(moment: datetime) -> str:
    if moment.tzinfo is UTC:
        # Times of the database are in UTC: skip the conversion for them.
        return f"{moment.isoformat()[:-6]}Z"
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class QueryInteger(serializers.IntegerField):
    """A number in a query string. Only ASCII digits, so ``1_000``, `` 7`` and ``١٢`` are rejected."""

    def to_internal_value(self, data: Any) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", str(data)):
            self.fail("invalid")
        return int(data)


class QueryBoolean(serializers.Field[bool, Any, bool, Any]):
    default_error_messages = {"invalid": "Must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if str(data).lower() not in ("true", "false"):
            self.fail("invalid")
        return str(data).lower() == "true"
