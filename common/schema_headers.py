"""The headers of answers, described once for all operations."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter


def _header(description: str, kind: str = "integer", *, required: bool = False) -> dict[str, Any]:
    described: dict[str, Any] = {"description": description, "schema": {"type": kind}}
    return {**described, "required": True} if required else described


_RATE_LIMIT = {
    "RateLimit-Limit": _header("How many requests the limit allows that the caller is nearest to."),
    "RateLimit-Remaining": _header("How many of them are left."),
    "RateLimit-Reset": _header("In how many seconds there are more."),
    "RateLimit-Policy": _header("How many are allowed in how many seconds, as `600;w=60`.", "string"),
}
_RETRY_AFTER = {"Retry-After": _header("In how many seconds to try again.", required=True)}
_OF_STATUS = {
    "401": {"WWW-Authenticate": _header("How to authenticate.", "string", required=True)},
    "429": _RETRY_AFTER,
    "503": _RETRY_AFTER,
}
_REPLAYED = {
    "Idempotent-Replayed": _header("`true` when this was answered before, and nothing done again.", "string")
}
_ALL = {name: each for some in (_RATE_LIMIT, *_OF_STATUS.values(), _REPLAYED) for name, each in some.items()}

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    OpenApiParameter.HEADER,
    description="A name for this request, unique in the account, such as a random UUID. Sent again with it within 24"
    " hours, the request is not carried out again: the first answer is repeated. Only a success uses it up.",
)


def share_headers(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular, which knows no components of this kind."""
    for methods in result["paths"].values():
        for described in methods.values():
            named = any(each["name"] == IDEMPOTENCY_KEY.name for each in described.get("parameters", ()))
            for status, response in described["responses"].items():
                if "content" not in response:
                    # Not answered by the API.
                    continue
                names = {**_RATE_LIMIT, **_OF_STATUS.get(status, {})}
                if named and status in ("200", "201"):
                    names |= _REPLAYED
                response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    result["components"]["headers"] = _ALL
    return result
