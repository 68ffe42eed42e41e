"""What the OpenAPI descriptions of all endpoints share: the envelope, the refusals and the fields of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, NamedTuple, TypeVar

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    Direction,
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_serializer,
)
from rest_framework import exceptions
from rest_framework.fields import BooleanField, CharField, DictField, Field
from rest_framework.serializers import Serializer

from common.destination_url import MAX_HREF_LENGTH, InvalidDestination, canonical_destination
from common.envelope import as_service_error, error_body
from common.errors import (
    BadBody,
    BodyTooLarge,
    FieldError,
    InvalidFields,
    LengthRequired,
    ServiceError,
    TooManyRequests,
    Unavailable,
)
from common.fields import Boolean, DateTime, QueryBoolean
from common.schema_headers import IDEMPOTENCY_KEY
from common.schema_hooks import FOLLOWING, Following
from common.strict_json import MAX_BODY_BYTES

View = TypeVar("View", bound=Callable[..., Any])

extend_schema_field(OpenApiTypes.BOOL)(Boolean)
extend_schema_field(OpenApiTypes.BOOL)(QueryBoolean)
extend_schema_field(OpenApiTypes.DATETIME)(DateTime)


class _TextExtension(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call] # its __init_subclass__
    target_class = "common.fields.Text"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        if self.target.characters is None:
            return {"type": "string"}
        return {"type": "string", "maxLength": self.target.characters}


class _Notes(OpenApiSerializerExtension):  # type: ignore[no-untyped-call] # its __init_subclass__
    notes: Mapping[str, Mapping[str, Any]] = {}
    closed = False

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema = super().map_serializer(auto_schema, direction)
        for name, note in self.notes.items():
            schema["properties"][name].update(note)
        return {**schema, "additionalProperties": False} if self.closed else schema


def annotate(
    serializer: type[Serializer[Any]], notes: Mapping[str, Mapping[str, Any]], *, closed: bool = False
) -> None:
    """Adds what the rules of the fields do not say by themselves; ``closed``: that other keys are refused."""
    members = {"target_class": serializer, "notes": notes, "closed": closed}
    type(f"{serializer.__name__}Notes", (_Notes,), members)


@extend_schema_field({"type": "boolean", "const": True})
class _Succeeded(BooleanField):
    pass


@extend_schema_field({"type": "boolean", "const": False})
class _Failed(BooleanField):
    pass


class Part(NamedTuple):
    """A field of an answer and its value in the examples, out of which it is left by default."""

    field: Field[Any, Any, Any, Any]
    example: Any = ...


Parts = Mapping[str, Part]


def pick(parts: Parts, names: str) -> Parts:
    return {name: parts[name] for name in names.split()}


def component(name: str, parts: Parts) -> type[Serializer[Any]]:
    """An object of an answer, under its name in ``#/components/schemas``."""
    # Copies: fields show in the order in which they were made, and each under the one name it was made for.
    fields = {key: deepcopy(part.field) for key, part in parts.items()}
    return extend_schema_serializer(many=False, component_name=name)(type(name, (Serializer,), fields))


def example(parts: Parts) -> dict[str, Any]:
    return {key: part.example for key, part in parts.items() if part.example is not ...}


def nested(name: str, parts: Parts) -> Part:
    return Part(component(name, parts)(), example(parts))


def nested_list(name: str, parts: Parts) -> Part:
    return Part(component(name, parts)(many=True), [example(parts)])


def answer(
    name: str,
    description: str,
    message: str | None = None,
    *,
    data: Parts | None = None,
    beside: Parts | None = None,
) -> OpenApiResponse:
    """A success: ``data``, and ``beside`` it the keys that the interface puts on the top level."""
    parts = {"success": Part(_Succeeded(), True)}
    if message is not None:
        parts["message"] = Part(CharField(help_text="One sentence for people."), message)
    parts |= beside or {}
    if data is not None:
        parts["data"] = nested(f"{name}Data", data)
    examples = [OpenApiExample("Example", example(parts))]
    return OpenApiResponse(component(f"{name}Response", parts), description, examples)


FIELD_ERROR = component(
    "FieldError",
    {
        "field": Part(CharField(help_text="Where it is, as it was sent: `restrictions.maxClicks`.")),
        "code": Part(CharField(help_text="The broken rule, for programs.")),
        "message": Part(CharField(help_text="The broken rule, for people.")),
    },
)
_ERROR = component(
    "Error",
    {
        "success": Part(_Failed()),
        "message": Part(CharField(help_text="One sentence for people.")),
        "code": Part(CharField(help_text="The reason, for programs.")),
        "errors": Part(
            FIELD_ERROR(
                many=True, required=False, help_text="Of a `validation_error`: every broken rule at once."
            )
        ),
        "data": Part(DictField(required=False, help_text="What the operation says of its refusals.")),
        "requestId": Part(
            CharField(required=False, help_text="Of an `internal_error`: what the operator finds it by.")
        ),
    },
)

_CONDITIONS = {
    400: "What was sent breaks a rule, or is not the JSON that it should be.",
    401: "No credential, or one that is not valid (any more).",
    403: "The caller's plan does not allow it.",
    404: "There is no such object among the caller's.",
    409: "It is taken or reserved, or is being created by another request.",
    411: "The body came without its length.",
    413: "The body is too large.",
    415: "The body is not `application/json` in plain UTF-8.",
    422: "The `Idempotency-Key` was sent with another request.",
    429: "Too many attempts or requests, or more than the plan allows.",
    503: "Something that the service depends on does not answer.",
}
_TOO_LONG = OpenApiResponse(
    None,
    "With its query the address is longer than 8,190 bytes. The API is not reached, and this is no `Error`.",
)
NO_CREDENTIAL = exceptions.NotAuthenticated()
# Of every write, as a body that is sent must be a good one even where none is needed.
BAD_BODIES = (
    BadBody(),
    LengthRequired(),
    BodyTooLarge(f"The request body is larger than {MAX_BODY_BYTES} bytes."),
    exceptions.UnsupportedMediaType("text/plain"),
)
_TOO_MANY = TooManyRequests(30, limit=600, window=60)


def bad_bodies(max_bytes: int) -> list[Exception]:
    """Of a write whose body may be larger than others."""
    too_large = BodyTooLarge(f"The request body is larger than {max_bytes} bytes.")
    return [too_large if isinstance(each, BodyTooLarge) else each for each in BAD_BODIES]


def invalid(field: str, code: str = "required", message: str = "This field is required.") -> InvalidFields:
    return InvalidFields([FieldError(field, code, message)])


def invalid_destination(field: str) -> InvalidFields:
    """What addresses are refused for, and no schema can say."""
    samples = (
        *("https://", "ftp://example.com/", "https://example.com/\n", "https://example.com:0/"),
        *(
            "https://ada@example.com/",
            "https://example.com\\@example.net/",
            "https://example.com/" + "x" * MAX_HREF_LENGTH,
        ),
    )
    return InvalidFields([_refusal_of_destination(field, sample) for sample in samples])


def _refusal_of_destination(field: str, sample: str) -> FieldError:
    try:
        canonical_destination(sample)
    except InvalidDestination as refusal:
        return FieldError(field, refusal.code, refusal.message)
    raise ValueError(sample)


def operation(
    operation_id: str,
    summary: str,
    success: OpenApiResponse | Mapping[str, OpenApiResponse],
    refusals: Iterable[Exception],
    *,
    tag: str,
    status: int = 200,
    body: OpenApiRequest | None = None,
    parameters: Iterable[OpenApiParameter | type[Serializer[Any]]] = (),
    description: str | None = None,
    leads_to: Following | None = None,
    is_idempotent: bool = False,
) -> Callable[[View], View]:
    """Describes one action. ``refusals`` are what it raises; that the caller may have asked too often, and that the
    database may be away, goes without saying.

    What succeeds in other media types than JSON comes by media type.
    """
    if leads_to is not None:
        FOLLOWING[operation_id] = leads_to
    responses: dict[Any, OpenApiResponse] = dict(_responses([*refusals, _TOO_MANY, Unavailable()]))
    if isinstance(success, OpenApiResponse):
        responses[status] = success
    else:
        responses |= {(status, media_type): each for media_type, each in success.items()}
    asked = [*parameters, *([IDEMPOTENCY_KEY] if is_idempotent else [])]
    if any(isinstance(each, type) for each in asked):
        responses[414] = _TOO_LONG
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description,
        tags=[tag],
        parameters=asked,
        request=body,
        responses=responses,
    )


def _responses(refusals: Iterable[Exception]) -> dict[int, OpenApiResponse]:
    """One response for each status, with the very bodies that the refusals make as its examples."""
    errors: dict[int, list[ServiceError]] = {}
    rules: list[FieldError] = []
    for error in map(as_service_error, refusals):
        if isinstance(error, InvalidFields):
            rules += error.errors
        elif error is not None:
            errors.setdefault(error.status, []).append(error)
    if rules:
        # Every broken rule at once, as an answer has them.
        errors.setdefault(InvalidFields.status, []).insert(0, InvalidFields(rules))
    return {
        status: OpenApiResponse(
            _ERROR,
            _CONDITIONS[status],
            [OpenApiExample(error.code, error_body(error)) for error in errors[status]],
        )
        for status in sorted(errors)
    }
