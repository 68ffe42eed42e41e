"""Hooks that add to the description what drf-spectacular omits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class NextOperations(NamedTuple):
    """OpenAPI links: operations that take the created object as a parameter or as a key of their body.

    ``pointer`` is the object's place in the response. The mappings give the name of the parameter or key by operation.
    """

    pointer: str
    parameters: Mapping[str, str]
    bodies: Mapping[str, str] = {}


# Keyed by operation.
NEXT_OPERATIONS: dict[str, NextOperations] = {}


def declare_security_of_all(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Declare the security of every operation. An empty list means that the operation needs no credential."""
    for operation in _operations(result):
        operation.setdefault("security", [])
    return result


def link_operations(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the OpenAPI links of operations that create an object."""
    for operation in _operations(result):
        if (next_operations := NEXT_OPERATIONS.get(operation["operationId"])) is not None:
            operation["responses"]["201"]["links"] = _links(next_operations)
    return result


def describe_defaults(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """State the defaults of request fields in their descriptions.

    With ``default``, openapi-typescript and other generators make a field required. Defaults of parameters stay.
    """
    for schema in result["components"]["schemas"].values():
        for field in schema.get("properties", {}).values():
            if "default" in field:
                default = field.pop("default")
                text = default if isinstance(default, str) else json.dumps(default)
                field["description"] = f"{field.get('description', '')} Default: `{text}`.".lstrip()
    return result


def _operations(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in result["paths"].values():
        yield from methods.values()


def _links(next_operations: NextOperations) -> dict[str, Any]:
    created = f"$response.body#{next_operations.pointer}"
    return {
        **{
            name: {"operationId": name, "parameters": {parameter: created}}
            for name, parameter in next_operations.parameters.items()
        },
        **{
            name: {"operationId": name, "requestBody": {key: created}}
            for name, key in next_operations.bodies.items()
        },
    }
