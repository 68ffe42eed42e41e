"""The description of the API as operations and types, with everything that both languages need to know.

It understands the part of OpenAPI 3.1 that the service uses, and raises `Unsupported` for anything else: a client that
silently lacks a parameter would be worse than none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

# The argument of each header, in words. Another header is an error, so that somebody decides about it.
HEADERS = {
    "Idempotency-Key": "idempotency key",
    "If-Match": "if match",
    "If-None-Match": "if none match",
    "Prefer": "prefer",
    "X-Workspace": "workspace",
}
# They say which kind of file a report becomes; the operation that returns JSON does without.
FILE_PARAMETERS = {"format", "manifest"}
PAGE_PARAMETERS = {"page", "cursor"}
# They restrict values, and leave their type as it is.
_LIMITS = {
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
    "format",
    "required",
}
JSON = "application/json"

Schema = dict[str, Any]


class Unsupported(Exception):
    """The description has something that this generator does not know."""


@dataclass(frozen=True)
class Named:
    """A type of the components."""

    name: str


@dataclass(frozen=True)
class Scalar:
    kind: Literal["string", "integer", "number", "boolean", "null", "anything"]


@dataclass(frozen=True)
class Choice:
    """One of these values."""

    values: tuple[str | int | bool, ...]


@dataclass(frozen=True)
class ListOf:
    item: Type


@dataclass(frozen=True)
class MapOf:
    """An object with any keys."""

    value: Type


@dataclass(frozen=True)
class AnyOf:
    options: tuple[Type, ...]


Type = Named | Scalar | Choice | ListOf | MapOf | AnyOf


@dataclass(frozen=True)
class Field:
    name: str
    type: Type
    required: bool
    text: str


@dataclass(frozen=True)
class Record:
    """An object with known fields."""

    name: str
    fields: tuple[Field, ...]
    text: str


@dataclass(frozen=True)
class Alias:
    """A name for a type that is no object with known fields."""

    name: str
    type: Type
    text: str


@dataclass(frozen=True)
class Rows:
    """The list of objects in each page: the name of its field, and the type of an object."""

    name: str
    item: Type


@dataclass(frozen=True)
class Operation:
    """``result`` is None if the operation returns a file. ``rows`` are those of a list in pages."""

    name: str
    method: str
    path: str
    tag: str
    text: str
    arguments: tuple[Field, ...]
    query: tuple[Field, ...]
    headers: tuple[Field, ...]
    body: str | None
    body_required: bool
    result: Type | None
    rows: Rows | None
    idempotent: bool
    credential: Literal["any", "token", "none"]

    @property
    def iteration(self) -> Operation:
        """The operation that goes through all pages: ``listUrls`` becomes ``iterateUrls``."""
        return replace(
            self,
            name="iterate" + self.name.removeprefix("list"),
            text=f"Every object of all pages of {self.name}.",
            query=tuple(field for field in self.query if field.name != "page"),
        )


@dataclass(frozen=True)
class Description:
    version: str
    operations: tuple[Operation, ...]
    types: tuple[Record | Alias, ...]
    # The statuses of each code of an error.
    codes: dict[str, tuple[int, ...]]


def read(described: dict[str, Any]) -> Description:
    schemas = described["components"]["schemas"]
    operations: list[Operation] = []
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            operations += _operations(method.upper(), path, operation, schemas)
    return Description(
        version=described["info"]["version"],
        operations=tuple(operations),
        types=tuple(_component(name, schema) for name, schema in sorted(schemas.items())),
        codes=_codes(described),
    )


def _operations(method: str, path: str, operation: Schema, schemas: Schema) -> list[Operation]:
    """One for JSON, one for files, or both."""
    kinds = _kinds(operation)
    body = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema")
    if body is not None and "$ref" not in body:
        raise Unsupported(f"{operation['operationId']}: the body has no name.")
    headers = _parameters(operation, "header")
    if unknown := {field.name for field in headers} - set(HEADERS):
        raise Unsupported(f"{operation['operationId']}: unknown headers {unknown}.")
    query = _parameters(operation, "query")
    whole = Operation(
        name=operation["operationId"],
        method=method,
        path=path,
        tag=operation["tags"][0],
        text=_text(operation.get("summary", ""), operation.get("description", "")),
        # In the order of the path, whatever that of the description is.
        arguments=tuple(
            sorted(_parameters(operation, "path"), key=lambda field: path.index(f"{{{field.name}}}"))
        ),
        query=query,
        headers=headers,
        body=None if body is None else _named(body["$ref"]).name,
        body_required=operation.get("requestBody", {}).get("required", False),
        result=None,
        rows=None,
        idempotent=any(field.name == "Idempotency-Key" for field in headers),
        credential=_credential(operation["security"]),
    )
    if JSON not in kinds:
        return [whole]
    result = _type(kinds[JSON])
    json = replace(
        whole,
        result=result,
        rows=_rows(query, result, schemas),
        query=tuple(field for field in query if len(kinds) == 1 or field.name not in FILE_PARAMETERS),
    )
    if len(kinds) == 1:
        return [json]
    file = replace(
        whole,
        name=re.sub("^(get|list)", "download", whole.name),
        text=f"The same as {whole.name}, as a file.",
        query=tuple(_of_file(field) for field in query),
    )
    return [json, file]


def _kinds(operation: Schema) -> Schema:
    """The schema of each content type of a success."""
    kinds: Schema = {}
    for status, response in operation["responses"].items():
        for kind, content in response.get("content", {}).items() if status.startswith("2") else ():
            schema = content.get("schema", {})
            if kinds.setdefault(kind, schema) != schema:
                raise Unsupported(f"{operation['operationId']}: successes of different types.")
    return kinds


def _of_file(field: Field) -> Field:
    """The format is required, because the default is no file."""
    if field.name != "format" or not isinstance(field.type, Choice):
        return field
    kinds = tuple(value for value in field.type.values if value != "json")
    return replace(field, type=Choice(kinds), required=True)


def _rows(query: tuple[Field, ...], result: Type, schemas: Schema) -> Rows | None:
    """The only array in the data of a list in pages."""
    if not any(field.name in PAGE_PARAMETERS for field in query):
        return None
    if not isinstance(result, Named):
        raise Unsupported("A page without a name.")
    data = schemas[result.name]["properties"]["data"]
    data = schemas[_named(data["$ref"]).name] if "$ref" in data else data
    arrays = {name: schema for name, schema in data["properties"].items() if schema.get("type") == "array"}
    if len(arrays) != 1:
        raise Unsupported(f"{result.name} has {len(arrays)} lists.")
    [(name, schema)] = arrays.items()
    return Rows(name, _type(schema["items"]))


def _parameters(operation: Schema, place: str) -> tuple[Field, ...]:
    return tuple(
        Field(
            parameter["name"],
            _type(parameter["schema"]),
            parameter.get("required", False),
            _text(parameter.get("description", "")),
        )
        for parameter in operation.get("parameters", [])
        if parameter["in"] == place
    )


def _credential(security: list[dict[str, Any]]) -> Literal["any", "token", "none"]:
    if not security:
        return "none"
    return "any" if any("ApiKeyAuth" in way for way in security) else "token"


def _component(name: str, schema: Schema) -> Record | Alias:
    text = _text(schema.get("description", ""))
    if schema.get("type") != "object" or not schema.get("properties"):
        return Alias(name, _type(schema), text)
    required = set(schema.get("required", ()))
    fields = tuple(
        Field(key, _type(value), key in required, _text(value.get("description", "")))
        for key, value in schema["properties"].items()
    )
    return Record(name, fields, text)


def _type(schema: Schema) -> Type:
    if "$ref" in schema:
        return _named(schema["$ref"])
    if "const" in schema:
        return Choice((schema["const"],))
    if "enum" in schema:
        values = tuple(value for value in schema["enum"] if value is not None)
        return _any([Choice(values), *([Scalar("null")] if None in schema["enum"] else [])])
    for key in ("oneOf", "anyOf"):
        options = [option for option in schema.get(key, ()) if set(option) - _LIMITS]
        if options:
            return _any([_type(option) for option in options])
    if "allOf" in schema:
        if len(schema["allOf"]) != 1:
            raise Unsupported(f"allOf of several: {schema}")
        return _type(schema["allOf"][0])
    kinds = schema.get("type")
    if kinds is None:
        if set(schema) - {"description", "title"}:
            raise Unsupported(f"A schema without a type: {schema}")
        return Scalar("anything")
    return _any([_typed(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


def _typed(kind: str, schema: Schema) -> Type:
    match kind:
        case "string" | "integer" | "number" | "boolean" | "null":
            return Scalar(kind)
        case "array":
            return ListOf(_type(schema.get("items", {})))
        case "object":
            values = schema.get("additionalProperties", {})
            return MapOf(_type(values) if isinstance(values, dict) else Scalar("anything"))
        case _:
            raise Unsupported(f"type: {kind}")


def _any(options: list[Type]) -> Type:
    distinct = tuple(dict.fromkeys(options))
    return distinct[0] if len(distinct) == 1 else AnyOf(distinct)


def _named(reference: str) -> Named:
    return Named(reference.removeprefix("#/components/schemas/"))


def _codes(described: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """From the examples of errors, of which each operation has all."""
    statuses: dict[str, set[int]] = {}
    for methods in described["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                for content in response.get("content", {}).values():
                    for example in content.get("examples", {}).values():
                        value = example.get("value")
                        if status >= "4" and isinstance(value, dict) and "code" in value:
                            statuses.setdefault(value["code"], set()).add(int(status))
    return {code: tuple(sorted(found)) for code, found in sorted(statuses.items())}


def _text(*parts: str) -> str:
    return " ".join(" ".join(part.split()) for part in parts if part)
