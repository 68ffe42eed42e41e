"""Reads the body and the query of a request, and decides about fields that the service does not know.

A misspelt protection must not give an open link, so a field that resembles a known one is refused. Any other is
ignored with a warning, unless the client prefers strict handling (RFC 7240, section 4.4).
"""

from __future__ import annotations

import re
from typing import Any

from rest_framework import serializers

from common.errors import MAX_REPORTED, UNKNOWN_FIELD, FieldError, InvalidFields
from common.rest.envelope import MAX_PATH, invalid
from common.rest.known_names import KnownNames, SerializerType, known_names
from common.rest.response_warnings import ResponseWarning

# Different unknown names in a request. Comparing one with the known names takes up to ten microseconds.
MAX_UNKNOWN = 1_000

_STRICT = re.compile(r'(?:^|,)\s*handling\s*=\s*(?:strict|"strict")\s*(?:[;,]|$)', re.IGNORECASE)


class NoFields(serializers.Serializer[Any]):
    """For bodies and queries of which the service reads nothing."""


def prefers_strict(prefer: str) -> bool:
    """Whether the value of a ``Prefer`` header contains ``handling=strict``."""
    return _STRICT.search(prefer) is not None


class Handling:
    """Of one request. ``is_strict``: refuse every unknown field."""

    def __init__(self, *, is_strict: bool) -> None:
        self.is_strict = is_strict
        # Bulk calls repeat their names.
        self._decisions: dict[tuple[KnownNames, str, str], FieldError | ResponseWarning] = {}

    def read(
        self,
        serializer: serializers.Serializer[Any],
        data: dict[str, Any],
        *,
        outer: SerializerType | None = None,
        noun: str = "field",
    ) -> tuple[dict[str, Any], list[ResponseWarning]]:
        """The validated fields, and a warning for each ignored field. Raises InvalidFields with all broken rules.

        ``outer`` is the serializer of the object that contains this one. ``noun`` names a field in messages.
        """
        errors: list[FieldError] = []
        warnings: list[ResponseWarning] = []
        more = self._check(known_names(type(serializer), outer), data, noun, errors, warnings)
        try:
            fields: dict[str, Any] = serializer.run_validation(data)
        except serializers.ValidationError as error:
            rules = invalid(error)
            raise InvalidFields([*errors, *rules.errors], more=more + rules.more) from None
        if errors:
            raise InvalidFields(errors, more=more)
        return fields, warnings

    def _check(
        self,
        known: KnownNames,
        data: dict[str, Any],
        noun: str,
        errors: list[FieldError],
        warnings: list[ResponseWarning],
    ) -> int:
        """Add to ``errors`` and ``warnings``. Return the number of further errors."""
        more = 0
        if not known.names.issuperset(data):
            refuses_all = self.is_strict or known.is_closed
            for name in data:
                if name in known.names:
                    continue
                if refuses_all and len(errors) >= MAX_REPORTED:
                    more += 1
                    continue
                decision = self._decide(known, name, noun, refuses=refuses_all)
                if isinstance(decision, ResponseWarning):
                    warnings.append(decision)
                elif len(errors) < MAX_REPORTED:
                    errors.append(decision)
                else:
                    more += 1
        for name, nested in known.nested.items():
            if isinstance(inner := data.get(name), dict):
                more += self._check(nested, inner, noun, errors, warnings)
        return more

    def _decide(
        self, known: KnownNames, name: str, noun: str, *, refuses: bool
    ) -> FieldError | ResponseWarning:
        key = (known, name, noun)
        decision = self._decisions.get(key)
        if decision is not None:
            return decision
        path = f"{known.path}{name}"[:MAX_PATH]
        if len(self._decisions) >= MAX_UNKNOWN:
            message = f"Unknown {noun}. A request can have at most {MAX_UNKNOWN} different ones."
            return FieldError(path, UNKNOWN_FIELD, message)
        if (closest := known.closest(name)) is not None:
            decision = FieldError(path, UNKNOWN_FIELD, f"Unknown {noun}. Did you mean {closest}?", closest)
        elif refuses:
            decision = FieldError(path, UNKNOWN_FIELD, f"Unknown {noun}.")
        else:
            decision = ResponseWarning(path, UNKNOWN_FIELD, f"Unknown {noun}; it was ignored.")
        self._decisions[key] = decision
        return decision
