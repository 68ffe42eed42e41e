"""Describes the actions of views: their words, with what the views declare of access, bodies and responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_choice_field
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    Direction,
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework.fields import BooleanField, CharField
from rest_framework.serializers import Serializer

from common.errors import (
    FieldError,
    InvalidFields,
    KeyLimited,
    NotFound,
    RoleRequired,
    ScopeRequired,
    WorkspaceNotFound,
)
from common.openapi.document import (
    CONTENT_ETAG,
    ETAG,
    HAS_ETAG,
    HAS_LAG,
    HAS_LINK,
    HAS_LOCATION,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    NEXT_OPERATIONS,
    PREFER,
    WORKSPACE,
    NextOperations,
)
from common.openapi.error_examples import (
    KEY_EXPIRED,
    NO_CREDENTIAL,
    TOKEN_REFUSED,
    bad_bodies,
    error_responses,
    unknown_field,
)
from common.openapi.responses import WARNINGS, Field, Representation
from common.rest.access import OWN_ACCOUNT, Access
from common.rest.api import ApiViewSet
from common.rest.deprecation import deprecation_of
from common.rest.fields import Boolean, ColorField, DateTime, QueryBoolean
from common.rest.pagination import BAD_CURSOR, PageQuery
from common.rest.returns import Returned, can_be_read
from common.rest.unknown_fields import REPEATED, Closed, NoFields

_NAMES: dict[tuple[Any, ...], str] = {}


def name_choices(component: str, values: Iterable[Any]) -> None:
    """Name the component of every ``ChoiceField`` with exactly these values, so that generated clients have one
    readable type for them. Other choices stay inline.
    """
    _NAMES[tuple(values)] = component


class _ChoiceExtension(OpenApiSerializerFieldExtension):
    target_class = "rest_framework.fields.ChoiceField"

    def get_name(self) -> str | None:
        return _NAMES.get(tuple(self.target.choices))

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema: dict[str, Any] = build_choice_field(self.target)
        if self.get_name() is not None:
            # The same component serves fields that can be null: what refers to it says so.
            schema["enum"] = [value for value in schema["enum"] if value is not None]
        return schema


def request_body(
    serializer: type[Serializer[Any]] | None,
    examples: Sequence[Mapping[str, Any]],
    placeholders: Mapping[str, str],
) -> OpenApiRequest | None:
    """``placeholders``: values that the reader must replace before an example succeeds, by field."""
    if serializer is None:
        return None
    names = ["Example"] if len(examples) == 1 else [f"Example {n + 1}" for n in range(len(examples))]
    return OpenApiRequest(
        serializer,
        examples=[
            OpenApiExample(name, dict(value), description=_instructions(value, placeholders))
            for name, value in zip(names, examples, strict=True)
        ],
    )


def _instructions(value: Any, placeholders: Mapping[str, str]) -> str:
    names = _names(value)
    return " ".join(f"Replace `{name}` with {text}." for name, text in placeholders.items() if name in names)


def _names(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set(value).union(*map(_names, value.values()))
    return set().union(*map(_names, value)) if isinstance(value, list) else set()


View = TypeVar("View", bound=type[ApiViewSet])

extend_schema_field(OpenApiTypes.BOOL)(Boolean)
extend_schema_field(OpenApiTypes.BOOL)(QueryBoolean)
extend_schema_field(OpenApiTypes.DATETIME)(DateTime)
extend_schema_field({"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"})(ColorField)

_CONDITIONAL_WRITES = ("update", "partial_update", "destroy", "upsert")
_METHODS = {"create": "post", "update": "put", "partial_update": "patch", "destroy": "delete"}
_ON_ONE_OBJECT = ("retrieve", "update", "partial_update", "destroy")
# The role of every member.
_LEAST_ROLE = "viewer"
_TOO_LONG = OpenApiResponse(
    None,
    "The URL with its query is longer than 8,190 bytes. The web server rejects it, so the body is not an `Error`.",
)


_FORMATS = {"email": "email", "password": "password", "url": "uri"}


class _TextExtension(OpenApiSerializerFieldExtension):
    target_class = "common.rest.fields.Text"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        if self.target.characters is not None:
            schema["maxLength"] = self.target.characters
        if (pattern := getattr(self.target, "pattern", None)) is not None:
            schema["pattern"] = f"^{pattern}$"
        if (kind := self.target.style.get("input_type")) is not None:
            schema["format"] = _FORMATS[kind]
        return schema


class _StrictObjectExtension(OpenApiSerializerExtension):
    target_class = "common.rest.fields.StrictObject"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        # The inherited method describes the target class itself, not its subclass.
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return {**schema, "additionalProperties": False}


def annotate(serializer: type[Serializer[Any]], notes: Mapping[str, Mapping[str, Any]]) -> None:
    """Add to the schema of a request the rules that its fields cannot express."""

    def map_serializer(self: Any, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema: dict[str, Any] = OpenApiSerializerExtension.map_serializer(self, auto_schema, direction)
        for name, note in notes.items():
            schema["properties"][name].update(note)
        return schema

    members = {"target_class": serializer, "map_serializer": map_serializer}
    type(f"{serializer.__name__}Notes", (OpenApiSerializerExtension,), members)


@extend_schema_field({"type": "boolean", "const": True})
class _Succeeded(BooleanField):
    pass


@dataclass(frozen=True)
class Operation:
    """One action of a view, in words. ``returns`` describes the successful response, which the view declares.

    ``files`` are the responses other than JSON, by media type. ``errors`` are the action's own errors, and
    ``next_operations`` its OpenAPI links. An example of the request succeeds as it stands, or once the reader has
    replaced its ``placeholders``. ``parameters`` are those that the view does not declare, and ``also``
    describes successful responses of the same shape with other statuses.
    """

    id: str
    summary: str
    returns: str = ""
    files: Mapping[str, OpenApiResponse] = field(default_factory=dict)
    component: str = ""
    examples: Sequence[Mapping[str, Any]] = ()
    placeholders: Mapping[str, str] = field(default_factory=dict)
    parameters: Sequence[OpenApiParameter] = ()
    also: Mapping[int, str] = field(default_factory=dict)
    errors: Sequence[Exception] = ()
    description: str = field(kw_only=True)
    next_operations: NextOperations | None = None


def describe(tag: str, of: str = "", **operations: Operation) -> Callable[[View], View]:
    """Describe the actions of a view by name; ``of`` names the object that its path identifies."""

    def decorate(view: View) -> View:
        described = {name: _schema(tag, of, view, name, operation) for name, operation in operations.items()}
        return extend_schema_view(**described)(view)

    return decorate


def _schema(
    tag: str, of: str, view: type[ApiViewSet], name: str, operation: Operation
) -> Callable[[Any], Any]:
    action = getattr(view, name)
    parameters: list[Any] = list(operation.parameters)
    if _is_on_one_object(of, action, name):
        key = getattr(view, "lookup_url_kwarg", None) or "id"
        text = f"The `{'name' if key == 'name' else '_id'}` of the {of}."
        parameters.append(OpenApiParameter(key, str, OpenApiParameter.PATH, description=text))
    responses: dict[Any, OpenApiResponse] = dict(
        error_responses([*operation.errors, *_derived_errors(of, view, name)])
    )
    returned: Returned | None = getattr(action, "returned", None)
    if returned is not None:
        success = responses[returned.status] = _success(operation, returned)
        for status, words in operation.also.items():
            responses[status] = OpenApiResponse(success.response, words, success.examples)
    responses |= {(200, media_type): file for media_type, file in operation.files.items()}
    if name in view.queries:
        parameters.append(view.queries[name])
        responses[414] = _TOO_LONG
    if _access(view, name).role is not None and not view.has_workspace_in_path:
        parameters.append(WORKSPACE)
    parameters.append(PREFER)
    if hasattr(action, "idempotency_errors"):
        parameters.append(IDEMPOTENCY_KEY)
    has_etag = returned is not None and returned.has_etag
    if name in _CONDITIONAL_WRITES and _has_versions(view):
        parameters.append(IF_MATCH)
    is_conditional = returned is not None and returned.content is not None
    if is_conditional or (has_etag and name == "retrieve"):
        parameters.append(IF_NONE_MATCH)
        responses[304] = OpenApiResponse(None, "The content has the tag in `If-None-Match`.")
    if operation.next_operations is not None:
        NEXT_OPERATIONS[operation.id] = operation.next_operations
    return extend_schema(
        operation_id=operation.id,
        summary=operation.summary,
        description="\n\n".join([operation.description, *_notices(view, name), _requirements(view, name)]),
        deprecated=deprecation_of(view, name) is not None,
        tags=[tag],
        parameters=parameters,
        request=request_body(view.bodies.get(name), operation.examples, operation.placeholders),
        responses=responses,
        extensions={
            **_required(view, name),
            **({HAS_ETAG: CONTENT_ETAG if is_conditional else ETAG} if has_etag or is_conditional else {}),
            **({HAS_LAG: True} if hasattr(action, "reads_standby") else {}),
            **({HAS_LINK: True} if "cursor" in _parameters(view, name) else {}),
            **({HAS_LOCATION: True} if can_be_read(view) and _creates(name, returned) else {}),
        },
    )


def _parameters(view: type[ApiViewSet], name: str) -> Mapping[str, Any]:
    return view.queries[name]._declared_fields if name in view.queries else {}


def _creates(name: str, returned: Returned | None) -> bool:
    return name == "create" or (returned is not None and returned.is_sibling)


# Extensions of operations. A null means: no role, and no key with scopes.
REQUIRED_ROLE, REQUIRED_SCOPE = "x-required-role", "x-required-scope"
# Whether the operation takes keys that are limited to a domain or to their own links.
TAKES_LIMITED_KEYS = "x-takes-limited-keys"


def _required(view: type[ApiViewSet], name: str) -> dict[str, Any]:
    """What the server checks, for programs. Operations for everybody have no such extensions."""
    if name not in view.access:
        return {}
    access = view.access[name]
    return {
        REQUIRED_ROLE: access.role and str(access.role),
        REQUIRED_SCOPE: access.scope and str(access.scope),
        TAKES_LIMITED_KEYS: access.scope is not None and access.limited,
    }


def _notices(view: type[ApiViewSet], name: str) -> Iterator[str]:
    if (deprecation := deprecation_of(view, name)) is not None:
        yield deprecation.text


def _requirements(view: type[ApiViewSet], name: str) -> str:
    """The same, for people."""
    if name not in view.access:
        return "Needs no credential."
    access = view.access[name]
    role = "no role" if access.role is None else f"the role `{access.role}`"
    if not view.takes_keys:
        return f"Requires a token, and {role}."
    if access.scope is None:
        return f"Requires {role}. Keys with scopes are refused."
    limited = (
        "" if access.limited else "; keys that are limited to a domain or to their own links are refused"
    )
    return f"Requires {role}, and of a key with scopes `{access.scope}`{limited}."


def _derived_errors(of: str, view: type[ApiViewSet], name: str) -> Iterator[Exception]:
    action = getattr(view, name)
    options = getattr(action, "kwargs", {})
    if _METHODS.get(name) or {"post", "put", "patch"} & getattr(action, "mapping", {}).keys():
        [parser] = options.get("parser_classes", view.parser_classes)
        yield from bad_bodies(parser.max_bytes)
    yield unknown_field(view.bodies.get(name) or view.queries.get(name) or NoFields)
    if issubclass(view.queries.get(name, NoFields), Closed):
        yield InvalidFields([FieldError(next(iter(_parameters(view, name))), "repeated", REPEATED)])
    if "cursor" in _parameters(view, name) and issubclass(view.queries[name], PageQuery):
        yield InvalidFields([BAD_CURSOR])
    if view.authentication_classes:
        yield NO_CREDENTIAL
    access = _access(view, name)
    role = access.role
    if name in view.access and view.takes_keys:
        yield KEY_EXPIRED
        yield TOKEN_REFUSED
        yield from _errors_of_keys(access)
    if role is not None:
        yield WorkspaceNotFound()
    if role not in (None, _LEAST_ROLE):
        yield RoleRequired(role)
    if _is_on_one_object(of, action, name):
        yield NotFound(f"{of[0].upper()}{of[1:]} not found.")
    yield from getattr(action, "idempotency_errors", ())


def _access(view: type[ApiViewSet], name: str) -> Access:
    """Views that need no credential have no entry."""
    return view.access.get(name, OWN_ACCOUNT)


def _has_versions(view: type[ApiViewSet]) -> bool:
    """Whether a change of the view's objects can depend on their version, which a read tells."""
    returned: Returned | None = getattr(getattr(view, "retrieve", None), "returned", None)
    return returned is not None and returned.has_etag


def _errors_of_keys(access: Access) -> Iterator[Exception]:
    if access.scope is not None:
        yield ScopeRequired(access.scope)
    if access.scope is None or not access.limited:
        yield KeyLimited()


def _is_on_one_object(of: str, action: Any, name: str) -> bool:
    """Whether the path contains an id. Without ``of`` it does not, such as that of the caller's own account."""
    return bool(getattr(action, "detail", of and name in _ON_ONE_OBJECT))


def _success(operation: Operation, returned: Returned) -> OpenApiResponse:
    name = operation.component or operation.id[0].upper() + operation.id[1:]
    fields = [Field("success", None, _Succeeded(), True)]
    if returned.message is not None:
        sentence = CharField(help_text="One sentence for people.")
        fields.append(Field("message", None, sentence, returned.message))
    fields += returned.beside
    if returned.data:
        fields.append(Representation(f"{name}Data", *returned.data).nested("data"))
    fields += WARNINGS
    body = Representation(f"{name}Response", *fields)
    return OpenApiResponse(body.serializer, operation.returns, [OpenApiExample("Example", body.example)])
