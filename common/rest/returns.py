"""What a successful call of an action returns, declared once: for the response and for its OpenAPI description."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple

from rest_framework.request import Request
from rest_framework.response import Response

from common.openapi.responses import Field, Representation
from common.rest.envelope import ok
from common.rest.versions import with_etag

Shape = Representation | list[Representation] | Field


class Returned(NamedTuple):
    """``beside`` are the response's keys next to ``data``."""

    status: int
    message: str | None
    data: tuple[Field, ...]
    beside: tuple[Field, ...]
    has_etag: bool


def returns(
    status: int,
    message: str | None = None,
    *,
    fields: Iterable[Field] = (),
    beside: Iterable[Field] = (),
    has_etag: bool = False,
    **data: Shape,
) -> Callable[[Callable[..., Any]], Callable[..., Response]]:
    """Decorator of an action of a view, which returns the values of the response as a dict, or raises.

        @returns(201, "URL created successfully.", url=created_link, domain=link_domain)

    Each keyword, such as ``url``, is a key of ``data`` with an object; in brackets, it is a list of them. ``fields``
    are further keys of ``data``, and ``beside`` keys next to it. A ``message`` in the dict replaces the declared one,
    which is then an example. With ``has_etag``, the action returns the dict and the version of the object. A finished
    response stays as it is.
    """
    described = (*fields, *(_field(name, shape) for name, shape in data.items()))
    returned = Returned(status, message, described, tuple(beside), has_etag)
    names = [field.name for field in returned.beside]

    def decorate(action: Callable[..., Any]) -> Callable[..., Response]:
        @wraps(action)
        def respond(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
            values = action(view, request, *args, **kwargs)
            if isinstance(values, Response):
                return values
            if has_etag:
                values, version = values
            if values is None:
                return ok(message=message, status=status)
            said = values.pop("message", message)
            beside_data = {name: values.pop(name) for name in names}
            response = ok(values or None, said, status=status, **beside_data)
            return with_etag(response, version) if has_etag else response

        respond.returned = returned  # type: ignore[attr-defined] # read by `common.openapi.operations`
        return respond

    return decorate


def _field(name: str, shape: Shape) -> Field:
    if isinstance(shape, Field):
        return shape._replace(name=name)
    return shape[0].listed(name) if isinstance(shape, list) else shape.nested(name)
