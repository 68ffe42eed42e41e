"""What drf-spectacular leaves out of a description, put into it afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Following(NamedTuple):
    """Which operations take what one has made: by a parameter of theirs, or as a key of their body."""

    pointer: str
    parameters: Mapping[str, str]
    bodies: Mapping[str, str] = {}


# By operation.
FOLLOWING: dict[str, Following] = {}


def require_a_security_of_all(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """An empty list says that something is for anybody."""
    for operation in _operations(result):
        operation.setdefault("security", [])
    return result


def link_operations(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    for operation in _operations(result):
        if (following := FOLLOWING.get(operation["operationId"])) is not None:
            operation["responses"]["201"]["links"] = _links(following)
    return result


def _operations(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in result["paths"].values():
        yield from methods.values()


def _links(following: Following) -> dict[str, Any]:
    made = f"$response.body#{following.pointer}"
    return {
        **{
            name: {"operationId": name, "parameters": {parameter: made}}
            for name, parameter in following.parameters.items()
        },
        **{name: {"operationId": name, "requestBody": {key: made}} for name, key in following.bodies.items()},
    }
