"""The field names of a serializer, and which of them an unknown name resembles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from rest_framework.serializers import Serializer

from common.rest.json_serializers import StrictObject
from common.rest.spelling import MAX_EDITS, is_similar, normalized

# Longer names resemble no field. The bound keeps huge keys from being normalized.
_MAX_CHARACTERS = 64
# A shorter name one level below allows no edits: `team` and `context` are not `utm.term` and `utm.content`.
_MIN_CHARACTERS_BELOW = 8

SerializerType = type[Serializer[Any]]


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
        self.is_closed = issubclass(serializer, StrictObject)
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
