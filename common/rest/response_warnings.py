"""Warnings in the body of a successful response: the service carried out the request, but the client should know
something.

A view calls ``warn(request, field, code, message)`` at any time before it returns. The warnings become
``warnings: [{field, code, message}]`` beside ``data``. Error responses have none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import MAX_REPORTED

_ATTRIBUTE = "response_warnings"


class ResponseWarning(NamedTuple):
    """``field`` is a path in the request body, or a parameter of the query."""

    field: str
    code: str
    message: str


def warn(request: Request, field: str, code: str, message: str) -> None:
    add_warnings(request, [ResponseWarning(field, code, message)])


def add_warnings(request: Request, warnings: Iterable[ResponseWarning]) -> None:
    """Adds each warning once: work that is retried after a deadlock warns again."""
    # A dict keeps the order, and a request can have a thousand warnings.
    request.__dict__.setdefault(_ATTRIBUTE, {}).update(dict.fromkeys(warnings))


def attach_warnings(request: Request, response: Response) -> None:
    """Move the request's warnings into the response. `ApiViewSet` calls this for every response.

    Files have no place for warnings, and errors report only errors; neither gets any. The stored response to an
    Idempotency-Key keeps its warnings.
    """
    warnings = request.__dict__.pop(_ATTRIBUTE, None)
    if not warnings or response.status_code >= 400 or not isinstance(getattr(response, "data", None), dict):
        return
    if "warnings" not in response.data:
        response.data |= shown_warnings(list(warnings))


def shown_warnings(warnings: list[ResponseWarning], most: int = MAX_REPORTED) -> dict[str, Any]:
    """The keys of a response, or of one result in it. ``moreWarnings`` counts the warnings beyond ``most``."""
    if not warnings:
        return {}
    shown: dict[str, Any] = {"warnings": [warning._asdict() for warning in warnings[:most]]}
    if len(warnings) > most:
        shown["moreWarnings"] = len(warnings) - most
    return shown
