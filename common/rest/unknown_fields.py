"""Reads the body and the query of a request, and decides about fields that the service does not know.

A misspelt protection must not give an open link, so a field that resembles a known one is refused. Any other is
ignored with a warning, unless the client prefers strict handling (RFC 7240, section 4.4).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from django.http import QueryDict
from rest_framework import serializers
from rest_framework.serializers import Serializer

from common.errors import MAX_REPORTED, UNKNOWN_FIELD, FieldError, InvalidFields
from common.rest.envelope import MAX_PATH, ResponseWarning, invalid
from common.rest.fields import StrictObject

MAX_EDITS = 2

_PUNCTUATION = re.compile(r"[\W_]+")


def normalized(name: str) -> str:
    """The letters and digits of a name in one case: ``max_clicks`` and ``maxClicks`` are equal."""
    return _PUNCTUATION.sub("", name).casefold()


def is_similar(first: str, second: str, edits: int) -> bool:
    """Whether at most ``edits`` edits, and fewer than half as many as the longer name has characters, make them equal.

    So names of one or two characters are similar to no other name, and names of three or four allow one edit.
    """
    return is_within(min(edits, (max(len(first), len(second)) - 1) // 2), first, second)


def is_within(edits: int, first: str, second: str) -> bool:
    """Whether at most ``edits`` edits make the texts equal: a character more, less or replaced, or two swapped.

    Swaps are of neighbours, and no swapped character is edited again (the "optimal string alignment" variant of the
    Damerau-Levenshtein distance). The time is bounded by the texts' length times five to the power of ``edits``.
    """
    if abs(len(first) - len(second)) > edits:
        return False
    while first and second and first[0] == second[0]:
        first, second = first[1:], second[1:]
    if not first or not second:
        return len(first) + len(second) <= edits
    if edits == 0:
        return False
    rest = edits - 1
    return (
        is_within(rest, first[1:], second[1:])
        or is_within(rest, first[1:], second)
        or is_within(rest, first, second[1:])
        or (first[:2] == second[1::-1] and is_within(rest, first[2:], second[2:]))
    )


# Longer names resemble no field. The bound keeps huge keys from being normalized.
_MAX_CHARACTERS = 64
# A shorter name one level below allows no edits: `team` and `context` are not `utm.term` and `utm.content`.
_MIN_CHARACTERS_BELOW = 8

SerializerType = type[Serializer[Any]]


class Closed(serializers.Serializer[Any]):
    """Parameters or fields that choose what is counted or shown: ignoring one would answer another question.

    So unknown ones are refused, whatever the client prefers, and repeated parameters are.
    """


REPEATED = "Send this parameter once, with commas between values where it takes several."


def refuse_repeated(parameters: QueryDict) -> None:
    """Raises InvalidFields if a parameter occurs several times."""
    repeated = [name for name, values in parameters.lists() if len(values) > 1]
    if repeated:
        raise InvalidFields(FieldError(name[:MAX_PATH], "repeated", REPEATED) for name in repeated)


class _Candidate(NamedTuple):
    """A name that the client may have meant: ``path`` in the request, and how many edits it allows."""

    normalized: str
    path: str
    edits: int


class KnownNames:
    """``nested`` has the names of the objects inside this one. A closed object accepts no unknown name.

    ``path`` is this object's own path with a dot at its end; the body's is empty. ``outer`` has the names one level
    above.
    """

    def __init__(self, serializer: SerializerType, path: str = "", outer: Collection[str] = ()) -> None:
        fields: Mapping[str, Any] = serializer._declared_fields
        self.names = frozenset({*fields, *getattr(serializer, "returned", ())})
        self.is_closed = issubclass(serializer, (StrictObject, Closed))
        # The end of the refusal of an unknown name.
        self.allowed = f" Must be one of {', '.join(fields)}." if issubclass(serializer, Closed) else ""
        self.path = path
        inner = {name: type(field) for name, field in fields.items() if isinstance(field, Serializer)}
        self.nested = {name: KnownNames(nested, f"{path}{name}.", fields) for name, nested in inner.items()}
        candidates = [
            *_own(path, fields),
            *_inside({**inner, **getattr(serializer, "inner", {})}),
            *(_Candidate(normalized(name), name, 0) for name in outer),
        ]
        # The first candidate with a name wins.
        self._equal = {candidate.normalized: candidate.path for candidate in reversed(candidates)}
        self._similar = [
            (candidate, frozenset(candidate.normalized)) for candidate in candidates if candidate.edits
        ]

    def closest(self, unknown: str) -> str | None:
        """The path of the field that the client probably meant, if any."""
        name = normalized(unknown) if len(unknown) <= _MAX_CHARACTERS else ""
        if not name:
            return None
        if (equal := self._equal.get(name)) is not None:
            return equal
        letters = frozenset(name)
        similar = [
            candidate
            for candidate, known_letters in self._similar
            # An edit replaces at most one letter by another. This settles most names at a tenth of the time.
            if len(letters ^ known_letters) <= 2 * candidate.edits
            and is_similar(name, candidate.normalized, candidate.edits)
        ]
        return (
            min(similar, key=lambda candidate: not is_similar(name, candidate.normalized, 1)).path
            if similar
            else None
        )


@cache
def known_names(serializer: SerializerType, outer: SerializerType | None = None) -> KnownNames:
    return KnownNames(serializer, outer=() if outer is None else outer._declared_fields)


def _own(path: str, names: Collection[str]) -> Iterator[_Candidate]:
    for name in names:
        yield _Candidate(normalized(name), f"{path}{name}", MAX_EDITS)
        if path:
            # ``utm_source`` inside ``utm``.
            yield _Candidate(normalized(f"{path}{name}"), f"{path}{name}", 0)


def _inside(serializers: Mapping[str, SerializerType]) -> Iterator[_Candidate]:
    """Names one level below, alone or with the name of their object: ``source`` and ``utm_source``."""
    for path, serializer in serializers.items():
        for name in serializer._declared_fields:
            known = normalized(name)
            yield _Candidate(known, f"{path}.{name}", MAX_EDITS if len(known) >= _MIN_CHARACTERS_BELOW else 0)
            yield _Candidate(normalized(f"{path}{name}"), f"{path}.{name}", 0)


# Different unknown names in a request. Comparing one with the known names takes up to ten microseconds.
MAX_UNKNOWN = 1_000

_STRICT, _REPRESENTATION = (
    re.compile(rf'(?:^|,)\s*{name}\s*=\s*(?:{value}|"{value}")\s*(?:[;,]|$)', re.IGNORECASE)
    for name, value in (("handling", "strict"), ("return", "representation"))
)


class NoFields(serializers.Serializer[Any]):
    """The serializer of bodies and queries of which the service reads nothing."""


def prefers_strict(prefer: str) -> bool:
    """Whether the value of a ``Prefer`` header contains ``handling=strict``."""
    return _STRICT.search(prefer) is not None


def prefers_representation(prefer: str) -> bool:
    """Whether the value of a ``Prefer`` header contains ``return=representation``."""
    return _REPRESENTATION.search(prefer) is not None


class Handling:
    """How one request treats unknown fields: ``is_strict`` refuses each, otherwise some are ignored with a warning."""

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
            decision = FieldError(path, UNKNOWN_FIELD, f"Unknown {noun}.{known.allowed}")
        else:
            decision = ResponseWarning(path, UNKNOWN_FIELD, f"Unknown {noun}; it was ignored.")
        self._decisions[key] = decision
        return decision
