"""Objects of responses. The name, getter, schema and example of a field are declared together:

    LINK = Representation("Link", Field("shortCode", "short_code", CharField(), "k3TzP9q"), ...)

``LINK(link)`` returns the JSON object of a link. The OpenAPI component and its example come from the same fields.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import deepcopy
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import fields
from rest_framework.serializers import Serializer

from common.rest.fields import DateTime, iso_utc

Source = str | Callable[[Any], Any] | None
Schema = fields.Field[Any, Any, Any, Any]


class Field(NamedTuple):
    """``source`` is an attribute of the represented object or a function of it, as in DRF.

    Without a source, the field only describes a value that the caller adds. Without an example, examples omit the
    field.
    """

    name: str
    source: Source
    schema: Schema
    example: Any = ...

    def optional(self, **options: Any) -> Field:
        """The same field in an object that may omit it."""
        return self._replace(schema=_altered(self.schema, required=False, **options))


class Representation:
    """``component`` is the object's name in ``#/components/schemas``."""

    def __init__(self, component: str, *fields: Field) -> None:
        self.component = component
        self.fields = fields
        self.names = frozenset(field.name for field in fields)
        self._getters = [(field.name, _getter(field.source)) for field in fields if field.source is not None]

    def __call__(self, value: Any) -> dict[str, Any]:
        return {name: get(value) for name, get in self._getters}

    def only(self, names: Collection[str], value: Any) -> dict[str, Any]:
        return {name: get(value) for name, get in self._getters if name in names}

    def pick(self, component: str, names: str, **sources: Source) -> Representation:
        """An object with some of the fields. ``sources`` replaces their sources."""
        by_name = {field.name: field for field in self.fields}
        chosen = [by_name[name] for name in names.split()]
        return Representation(
            component, *(field._replace(source=sources.get(field.name, field.source)) for field in chosen)
        )

    @cached_property
    def serializer(self) -> type[Serializer[Any]]:
        # Copies: DRF orders fields by their creation, and a field knows the one name under which it is bound.
        members = {field.name: deepcopy(field.schema) for field in self.fields}
        described = type(self.component, (Serializer,), members)
        return extend_schema_serializer(many=False, component_name=self.component)(described)

    @property
    def example(self) -> dict[str, Any]:
        return example(self.fields)

    def nested(self, name: str, source: Source = None, **options: Any) -> Field:
        """A field that holds this object. ``source`` returns the object's JSON."""
        return Field(name, source, self.serializer(**options), self.example)

    def listed(self, name: str, source: Source = None, **options: Any) -> Field:
        """A field that holds a list of these objects."""
        return Field(name, source, self.serializer(many=True, **options), [self.example])


def example(fields: Iterable[Field]) -> dict[str, Any]:
    return {field.name: field.example for field in fields if field.example is not ...}


def _getter(source: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    return attrgetter(source) if isinstance(source, str) else source


def _altered(schema: Schema, **options: Any) -> Schema:
    """A copy with other options, created like the copies of DRF's ``Field.__deepcopy__``."""
    original: Any = schema
    # The child of a list knows its list.
    copy: Schema = type(schema)(*original._args, **{**deepcopy(original._kwargs), **options})
    return copy


def text(
    name: str, source: Source, example: Any = ..., help_text: str | None = None, **options: Any
) -> Field:
    return Field(name, source, fields.CharField(help_text=help_text, **options), example)


def identifier(name: str, source: Source, example: str) -> Field:
    return text(name, source, example, label=name)


def public_id(example: str) -> Field:
    # The renderer writes UUIDs as text, faster than str().
    return identifier("_id", "public_id", example)


def number(
    name: str, source: Source, example: Any = ..., help_text: str | None = None, **options: Any
) -> Field:
    return Field(name, source, fields.IntegerField(help_text=help_text, **options), example)


def count(name: str, source: Source = None, example: int = 0, help_text: str | None = None) -> Field:
    return number(name, source, example, help_text, min_value=0)


def flag(
    name: str, source: Source, example: Any = ..., help_text: str | None = None, **options: Any
) -> Field:
    return Field(name, source, fields.BooleanField(help_text=help_text, **options), example)


def choice(
    name: str, source: Source, values: Sequence[Any], example: Any, help_text: str | None = None
) -> Field:
    return Field(name, source, fields.ChoiceField(values, help_text=help_text), example)


def moment(name: str, attribute: str | None, example: Any = ..., **options: Any) -> Field:
    """An attribute that holds a datetime, or None where ``options`` allow it."""
    return Field(name, None if attribute is None else _moment_of(attribute), DateTime(**options), example)


def _moment_of(attribute: str) -> Any:
    read = attrgetter(attribute)

    def get(value: Any) -> str | None:
        moment = read(value)
        return None if moment is None else iso_utc(moment)

    return get


_WARNING = Representation(
    "ResponseWarning",
    text("field", None, help_text="Path in the request body, or the name of a query parameter."),
    text("code", None, help_text="The kind of warning, for programs, such as `unknown_field`."),
    text("message", None, help_text="One sentence for people."),
)
# The optional keys of a response, and of each result of a bulk call.
WARNINGS = (
    _WARNING.listed("warnings", required=False, help_text="Problems that did not stop the request.")._replace(
        example=...
    ),
    number(
        "moreWarnings",
        None,
        help_text="The number of warnings that `warnings` omits.",
        required=False,
        min_value=1,
    ),
)


def pagination_representation(component: str, is_capped: str | None = None) -> Representation:
    """The description of ``pagination``; ``is_capped`` describes ``totalIsCapped``, if the list has that key."""
    capped = [] if is_capped is None else [flag("totalIsCapped", None, help_text=is_capped, required=False)]
    return Representation(
        component,
        number("page", None, 1, min_value=1),
        number("limit", None, 20, min_value=1),
        count("total", example=1),
        count("pages", example=1),
        *capped,
    )
