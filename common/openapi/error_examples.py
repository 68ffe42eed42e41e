"""The error responses of operations in the OpenAPI description, one for each status."""

from __future__ import annotations

from collections.abc import Iterable

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema_field
from rest_framework import exceptions
from rest_framework.fields import BooleanField, DictField

from common.error_catalogue import docs_address
from common.errors import (
    MAX_REPORTED,
    BadBody,
    BodyTooLarge,
    FieldError,
    InvalidFields,
    LengthRequired,
    ServiceError,
    TooManyRequests,
    Unavailable,
)
from common.http.urls import MAX_HREF_LENGTH, InvalidDestination, canonical_destination
from common.openapi.responses import Field, Representation, number, text
from common.rest.envelope import KeyExpired, TokenRefused, as_service_error, error_body
from common.rest.unknown_fields import Handling, SerializerType


@extend_schema_field({"type": "boolean", "const": False})
class _Failed(BooleanField):
    pass


FIELD_ERROR = Representation(
    "FieldError",
    text("field", None, help_text="Path in the request body: `restrictions.maxClicks`."),
    text("code", None, help_text="The broken rule, for programs."),
    text("message", None, help_text="The broken rule, for people."),
    text(
        "didYouMean",
        None,
        help_text="With `unknown_field`: the path of the known field that looks like it.",
        required=False,
    ),
)
RETRY_AFTER = number(
    "retryAfter",
    None,
    help_text="With status 429: the seconds to wait, as in the `Retry-After` header.",
    required=False,
    min_value=1,
)
MORE_ERRORS = number(
    "moreErrors",
    None,
    help_text="The number of broken rules that `errors` omits.",
    required=False,
    min_value=1,
)
_MISSING = "Missing if the service was too busy to read the request."
_ERROR = Representation(
    "Error",
    Field("success", None, _Failed()),
    text("message", None, help_text="One sentence for people."),
    text("code", None, help_text="The reason, for programs. Each operation lists its own."),
    FIELD_ERROR.listed(
        "errors",
        required=False,
        help_text="With `validation_error` and `unknown_field`: the first broken rules.",
    ),
    MORE_ERRORS,
    RETRY_AFTER,
    Field("data", None, DictField(required=False, help_text="Details of the error.")),
    text(
        "docs",
        None,
        help_text=f"The page about the code: its cause, and what to do. {_MISSING}",
        required=False,
    ),
    text(
        "requestId",
        None,
        help_text=f"The id of the request in the operator's log, as in the header `X-Request-ID`. {_MISSING}",
        required=False,
    ),
)

_CONDITIONS = {
    400: "The request breaks a rule or is not valid JSON.",
    401: "The credential is missing, invalid or expired.",
    403: "The caller's plan, role or key does not allow this.",
    404: "The caller has no such object.",
    409: "The name is in use or reserved, or another request is creating the object.",
    411: "The body has no `Content-Length`.",
    412: "The object has changed since the version in `If-Match`.",
    413: "The body is too large.",
    415: "The body is not `application/json` in plain UTF-8.",
    422: "The `Idempotency-Key` was used for a different request.",
    429: "Too many attempts or requests, or a limit of the plan is reached.",
    503: "A dependency of the service does not respond.",
}
_BAD_DESTINATIONS = (
    *("https://", "ftp://example.com/", "https://example.com/\n", "https://example.com:0/"),
    *("https://ada@example.com/", "https://example.com\\@example.net/"),
    "https://example.com/" + "x" * MAX_HREF_LENGTH,
)
NO_CREDENTIAL = exceptions.NotAuthenticated()
KEY_EXPIRED = KeyExpired()
TOKEN_REFUSED = TokenRefused()
_ALWAYS = (TooManyRequests(30, limit=600, window=60), Unavailable())


def bad_bodies(max_bytes: int) -> tuple[Exception, ...]:
    """The errors of every write: a request body must be valid even if the endpoint ignores it."""
    return (
        BadBody(),
        LengthRequired(),
        BodyTooLarge(f"The request body is larger than {max_bytes} bytes."),
        exceptions.UnsupportedMediaType("text/plain"),
    )


def invalid(field: str, code: str = "required", message: str = "This field is required.") -> InvalidFields:
    return InvalidFields([FieldError(field, code, message)])


def unknown_field(serializer: SerializerType) -> InvalidFields:
    """The error for an unknown field of a body or query: a misspelt one, if any is known."""
    name = next(iter(serializer._declared_fields), None)
    sample = "example" if name is None else f"{name}_"
    try:
        Handling(is_strict=True).read(serializer(), {sample: None})
    except InvalidFields as error:
        return InvalidFields(error.errors[:1])
    raise ValueError(sample)


def invalid_destination(field: str) -> InvalidFields:
    """Reasons to reject a URL that no schema can express."""
    return InvalidFields([_error_of_destination(field, sample) for sample in _BAD_DESTINATIONS])


def _error_of_destination(field: str, sample: str) -> FieldError:
    try:
        canonical_destination(sample)
    except InvalidDestination as error:
        return FieldError(field, error.code, error.message)
    raise ValueError(sample)


def error_responses(errors: Iterable[Exception]) -> dict[int, OpenApiResponse]:
    """One response for each status, with the actual error bodies as examples. Adds the errors of every operation."""
    by_status: dict[int, list[ServiceError]] = {}
    rules: list[FieldError] = []
    for error in map(as_service_error, [*errors, *_ALWAYS]):
        if isinstance(error, InvalidFields) and error.code == InvalidFields.code and error.data is None:
            rules += error.errors
        elif error is not None:
            by_status.setdefault(error.status, []).append(error)
    if rules:
        # As many broken rules in a body as in a real response.
        bodies = [InvalidFields(rules[at : at + MAX_REPORTED]) for at in range(0, len(rules), MAX_REPORTED)]
        by_status[InvalidFields.status] = [*bodies, *by_status.get(InvalidFields.status, [])]
    return {
        status: OpenApiResponse(
            _ERROR.serializer,
            _CONDITIONS[status],
            _examples(by_status[status]),
        )
        for status in sorted(by_status)
    }


def _examples(errors: Iterable[ServiceError]) -> list[OpenApiExample]:
    """Examples with different names: the code, and a number if several errors have the same code."""
    examples: dict[str, OpenApiExample] = {}
    for error in errors:
        number = sum(name.partition(" ")[0] == error.code for name in examples) + 1
        name = error.code if number == 1 else f"{error.code} {number}"
        examples[name] = OpenApiExample(name, {**error_body(error), "docs": docs_address(error.code)})
    return list(examples.values())
