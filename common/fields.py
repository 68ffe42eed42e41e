"""Serializer fields that take a JSON type for what it is: no numbers as strings, no strings as numbers."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Any

from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from common.destination_url import InvalidDestination, canonical_destination

_DATE_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d\d(?::?[0-5]\d)?)?)?",
    re.ASCII,
)
_PROHIBITED = (ProhibitNullCharactersValidator(), ProhibitSurrogateCharactersValidator())


def _refuse_what_no_column_takes(value: Any) -> None:
    """Asked of each character in Python only where it can be, as most texts are ASCII."""
    text = str(value)
    if "\0" in text or not text.isascii():
        for validator in _PROHIBITED:
            validator(text)


class Text(serializers.CharField):
    """A JSON string, kept as it was sent: DRF refuses NUL and lone surrogates, which no column takes.

    ``characters`` counts code points after NFC, as people count them.
    """

    def __init__(self, **kwargs: Any) -> None:
        self.characters: int | None = kwargs.pop("characters", None)
        super().__init__(trim_whitespace=False, **kwargs)
        prohibiting = tuple(map(type, _PROHIBITED))
        lengths = [each for each in self.validators if not isinstance(each, prohibiting)]
        self.validators = [*lengths, _refuse_what_no_column_takes]
        self.error_messages["too_long"] = f"Ensure this has at most {self.characters} characters."

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if self.characters is not None and count_characters(data) > self.characters:
            raise serializers.ValidationError(self.error_messages["too_long"], code="max_length")
        return data


def count_characters(text: str) -> int:
    return len(text) if text.isascii() else len(unicodedata.normalize("NFC", text))


class DestinationField(Text):
    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        try:
            canonical_destination(url)
        except InvalidDestination as refusal:
            raise serializers.ValidationError(refusal.message, code=refusal.code) from None
        return url


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
    """ISO 8601, a date or a date-time; without an offset it is UTC. Written back in UTC with ``Z``."""

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
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class QueryInteger(serializers.IntegerField):
    """A number in a query string: ASCII digits only, so that ``1_000``, `` 7`` and ``١٢`` are refused."""

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
