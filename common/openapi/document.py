"""All operations of the description share these: headers, and hooks that add what drf-spectacular omits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from drf_spectacular.utils import OpenApiParameter


def _header(description: str, kind: str = "integer", *, required: bool = False) -> dict[str, Any]:
    header: dict[str, Any] = {"description": description, "schema": {"type": kind}}
    return {**header, "required": True} if required else header


_RATE_LIMIT = {
    "RateLimit": _header(
        'What is left of the limit that the caller is closest to, such as `"default";r=598;t=41`.', "string"
    ),
    "RateLimit-Policy": _header(
        'That limit and its window in seconds, such as `"default";q=600;w=60`.', "string"
    ),
    "RateLimit-Limit": _header("The limit alone."),
    "RateLimit-Remaining": _header("Requests left within this limit."),
    "RateLimit-Reset": _header("Seconds until the limit resets."),
}
_RETRY_AFTER = {"Retry-After": _header("Seconds to wait before the next attempt.", required=True)}
_BY_STATUS = {
    "401": {"WWW-Authenticate": _header("How to authenticate.", "string", required=True)},
    "429": _RETRY_AFTER,
    "503": _RETRY_AFTER,
}
_REPLAYED = {
    "Idempotent-Replayed": _header("`true` if this is the stored response of an earlier request.", "string")
}
_DEPRECATED = {
    "Deprecation": _header(
        "Since when the operation is deprecated, such as `@1893456000`.", "string", required=True
    ),
    "Sunset": _header("When the operation will be removed.", "string", required=True),
}
_APPLIED = {"Preference-Applied": _header("Which of the preferences in `Prefer` applied.", "string")}
# Components of the header `ETag`.
ETAG, CONTENT_ETAG = "ETag", "ContentETag"
_ETAGS = {
    ETAG: _header("The version of the object, for `If-Match` and `If-None-Match`.", "string", required=True),
    CONTENT_ETAG: _header("A tag of the content, for `If-None-Match`. Files have none.", "string"),
}
_LOCATION = {"Location": _header("The path of the new object.", "string", required=True)}
_LINK = {
    "Link": _header(
        "The pages next to this one (RFC 8288): `rel=next`, unless it is the last one, and where pages are numbered"
        " `rel=prev`. They have a `cursor` and the other parameters of the request. Of a deprecated operation also"
        " `rel=deprecation`: where to read more.",
        "string",
    )
}
_LAG = {
    "Data-Lag": _header(
        "If a standby of the database has answered: by how many seconds it lagged behind, such as `0.000`. It never"
        " lacks your own changes.",
        "string",
    )
}
_ALL = {
    name: header
    for headers in (
        _RATE_LIMIT,
        *_BY_STATUS.values(),
        _REPLAYED,
        _APPLIED,
        _ETAGS,
        _LOCATION,
        _LINK,
        _LAG,
        _DEPRECATED,
    )
    for name, header in headers.items()
}

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    OpenApiParameter.HEADER,
    description="A name for this request, unique in the account, such as a random UUID. Repeating the request with the"
    " same key within 24 hours has no further effect and returns the first response. Only success uses the key up.",
)

IF_MATCH = OpenApiParameter(
    "If-Match",
    # Without an example: generated requests would send it, and the service would refuse them.
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` of an earlier response. If the object has changed since, nothing is changed, and the"
    " response is 412. Clicks are no change.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` of an earlier response. If the content is still the same, the response is 304 without it.",
)
# An extension of operations whose response has an `ETag`: the component that describes it.
HAS_ETAG = "x-has-etag"
# An extension of operations whose 201 has a `Location`.
HAS_LOCATION = "x-has-location"
# An extension of operations that a standby of the database can answer.
HAS_LAG = "x-has-lag"
# An extension of operations whose 200 can have a `Link`.
HAS_LINK = "x-has-link"

WORKSPACE = OpenApiParameter(
    "X-Workspace",
    {"type": "string", "format": "uuid"},
    OpenApiParameter.HEADER,
    description="The `_id` of the workspace in which to act. Without it, the account acts in its personal one.",
)


PREFER = OpenApiParameter(
    "Prefer",
    # Without an example: generated requests would send it beside unknown fields.
    str,
    OpenApiParameter.HEADER,
    description="`handling=strict` refuses every unknown field and parameter (RFC 7240). Otherwise, those that look"
    " like a known one are refused, and all others by reports and shares. The rest is ignored and listed in"
    " `warnings`. `return=representation`: the response to a creation or update of links has all their fields.",
)


def share_headers(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Define each header once. A hook, because drf-spectacular does not support header components."""
    used = set()
    for methods in result["paths"].values():
        for operation in methods.values():
            parameters = {parameter["name"] for parameter in operation.get("parameters", ())}
            etag, has_location = operation.pop(HAS_ETAG, None), operation.pop(HAS_LOCATION, False)
            has_link, has_lag = operation.pop(HAS_LINK, False), operation.pop(HAS_LAG, False)
            for status, response in operation["responses"].items():
                if "content" not in response and status != "304":
                    # The API does not send this response.
                    continue
                names = {**_RATE_LIMIT, **_BY_STATUS.get(status, {})}
                if status in ("200", "201", "400"):
                    names |= _APPLIED
                if IDEMPOTENCY_KEY.name in parameters and status in ("200", "201"):
                    names |= _REPLAYED
                if has_location and status == "201":
                    names |= _LOCATION
                if has_link and status == "200":
                    names |= _LINK
                if has_lag and status in ("200", "304"):
                    names |= _LAG
                if operation.get("deprecated"):
                    names |= {**_DEPRECATED, **_LINK}
                response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
                if etag is not None and status in ("200", "201"):
                    response["headers"]["ETag"] = {"$ref": f"#/components/headers/{etag}"}
                    used.add(etag)
                used.update(names)
    result["components"]["headers"] = {name: header for name, header in _ALL.items() if name in used}
    return result


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


def enumerate_codes(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Narrow the code of each error response to those of its examples.

    Beside the reference, so that generated clients have one type of all errors, which new codes do not break. Whatever
    takes input can break a rule of its fields, which the schema of the input says rather than an example.
    """
    for operation in _operations(result):
        for status, response in operation["responses"].items():
            if status >= "400" and (content := response.get("content", {}).get("application/json")):
                codes = {example["value"]["code"] for example in content["examples"].values()}
                if status == "400" and _takes_input(operation):
                    codes.add("validation_error")
                content["schema"]["properties"] = {"code": {"enum": sorted(codes)}}
    return result


def _takes_input(operation: dict[str, Any]) -> bool:
    return "requestBody" in operation or any(
        parameter["in"] == "query" for parameter in operation.get("parameters", ())
    )


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


def unwrap_parameters(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Refer to a named type directly: the description of a parameter is not in its schema."""
    for operation in _operations(result):
        for parameter in operation.get("parameters", ()):
            schema = parameter["schema"]
            if len(wrapped := schema.get("allOf", ())) == 1:
                parameter["schema"] = {**wrapped[0], **{k: v for k, v in schema.items() if k != "allOf"}}
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
