"""Serializers and fields that check JSON types strictly: no numbers as strings, no strings as numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from common.colors import is_color
from common.errors import MAX_REPORTED
from common.http.urls import Destination, InvalidDestination, canonical_destination
from common.ids import parse_public_id

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


class Matching(Text):
    """Text that matches the whole of ``pattern``, a regular expression that JavaScript reads the same way."""

    def __init__(self, *, pattern: str, error_code: str, message: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pattern, self._error_code = pattern, error_code
        self.error_messages[error_code] = message

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not re.fullmatch(self.pattern, text):
            self.fail(self._error_code)
        return text


class ColorField(Text):
    default_error_messages = {"color": "Must be a hex colour such as #1A2B3C."}

    def to_internal_value(self, data: Any) -> str:
        color = super().to_internal_value(data)
        if not is_color(color):
            self.fail("color")
        return color.upper()


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


class PublicIdField(Text):
    """An id of the API. Services look it up."""

    default_error_messages = {"id": "Must be an `_id`."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if parse_public_id(text) is None:
            self.fail("id")
        return text.lower()


class DestinationField(Text):
    """Parses the address once; services receive the result."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(style={"input_type": "url"}, **kwargs)

    def to_internal_value(self, data: Any) -> Destination:  # type: ignore[override] # DRF types it by the parent
        try:
            return canonical_destination(super().to_internal_value(data))
        except InvalidDestination as refusal:
            raise serializers.ValidationError(refusal.message, code=refusal.code) from None


def choice_field(choices: Sequence[str], **options: Any) -> serializers.ChoiceField:
    """A field that names the choices to whoever sends another one."""
    message = f'"{{input}}" is not a valid choice. {one_of(choices)}'
    return serializers.ChoiceField(choices, error_messages={"invalid_choice": message}, **options)


def one_of(choices: Sequence[str]) -> str:
    *others, last = choices
    return f"Choose {', '.join(others)} or {last}."


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


# Error code of an entry whose text is the number of omitted errors. `common.rest.envelope` reads it.
MORE_ERRORS = "more_errors"


def more_errors(number: int) -> serializers.ErrorDetail:
    return serializers.ErrorDetail(str(number), code=MORE_ERRORS)


class List(serializers.ListField):
    """Checks its length before validating items. Keeps the details of the first invalid items and counts the rest."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list", input_type=type(data).__name__)
        if self.max_length is not None and len(data) > self.max_length:
            # ListField's own validator runs only after the validation of every item.
            raise serializers.ValidationError(
                f"Ensure this field has no more than {self.max_length} elements.", code="max_length"
            )
        validated: list[Any] = []
        errors: dict[Any, Any] = {}
        more = 0
        validate = self.child.run_validation
        for index, item in enumerate(data):
            try:
                validated.append(validate(item))
            except serializers.ValidationError as error:
                if len(errors) < MAX_REPORTED:
                    errors[index] = error.detail
                else:
                    more += 1
        if more:
            errors["more"] = [more_errors(more)]
        if errors:
            raise serializers.ValidationError(errors)
        return validated


class Object(serializers.Serializer[Any]):
    """DRF's serializer without support for forms, dotted sources and ``validate_<field>`` methods.

    Trades clarity for speed in bulk calls and imports, which validate thousands of objects: absent fields cost almost
    nothing. DRF's own loop over all fields took two thirds of the time of an imported row. bench/results.csv, "Links",
    has the resulting rates.
    """

    # Fields of responses, which clients may send back. They are ignored without a warning.
    returned: ClassVar[Collection[str]] = ()
    # The serializers of objects inside this one that are validated later, by their path.
    inner: ClassVar[Mapping[str, type[serializers.Serializer[Any]]]] = {}

    @cached_property
    def _validated_fields(self) -> list[tuple[str, serializers.Field[Any, Any, Any, Any], bool]]:
        """Each field with a flag: whether to validate it even if absent."""
        return [
            (name, field, field.required or field.default is not serializers.empty)
            for name, field in self.fields.items()
        ]

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            # Raises DRF's error for a value that is not an object.
            return super().to_internal_value(data)
        values, errors = {}, {}
        for name, field, is_always_validated in self._validated_fields:
            if is_always_validated or name in data:
                try:
                    values[field.source] = field.run_validation(data.get(name, serializers.empty))
                except serializers.ValidationError as error:
                    errors[name] = error.detail
        if errors:
            raise serializers.ValidationError(errors)
        return values

    def run_validators(self, value: Any) -> None:
        # DRF prepares the validators' context even if there are no validators.
        if self.validators:
            super().run_validators(value)


class StrictObject(Object):
    """An object without unknown keys, whatever the client prefers: `common.rest.unknown_fields` refuses them."""
