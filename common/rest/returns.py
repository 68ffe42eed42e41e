"""What a successful call of an action returns, declared once: for the response and for its OpenAPI description.

Responses can have the version of an object as an entity tag, which is the condition of an update (RFC 9110, 8.8.3 and
13.1.1). A version is the time of the object's last change. Writers make it strictly increasing. It does not include
counters, such as clicks: only the tag does, for clients that read an object again and again. The tag of a report
depends on its content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import wraps
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson
from django.http.response import HttpResponseBase, HttpResponseNotModified
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import ServiceError
from common.openapi.responses import Field, Representation
from common.rest.envelope import ok

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# At most 14 digits, because datetime ends with the year 9999. The rest is the state.
_TAG = re.compile(r'"([0-9a-f]{1,14})(?:-[^"]*)?"')


class BadIfMatch(ServiceError):
    code = "bad_if_match"
    message = "If-Match must be the ETag of a response, with its quotes."


class Version(NamedTuple):
    """The time of an object's last change, and in ``state`` what changes without one, such as counters.

    ``If-Match`` compares the time, and ``If-None-Match`` both.
    """

    changed_at: datetime
    state: str = ""

    @property
    def etag(self) -> str:
        changed_at = f"{(self.changed_at - _EPOCH) // _MICROSECOND:x}"
        return f'"{changed_at}-{self.state}"' if self.state else f'"{changed_at}"'


def required_versions(request: Request) -> list[datetime] | None:
    """The versions that ``If-Match`` allows. None: any. Tags that are weak or unknown allow none.

    Raises BadIfMatch if the header has no tag.
    """
    header: str | None = request.META.get("HTTP_IF_MATCH")
    if header is None or header.strip() == "*":
        return None
    tags = parse_etags(header)
    if not tags:
        raise BadIfMatch
    matches = map(_TAG.fullmatch, tags)
    return [_EPOCH + int(match[1], 16) * _MICROSECOND for match in matches if match is not None]


# The part of a response's data by which clients notice a change.
Content = Callable[[dict[str, Any]], Any]


def unless_known(request: Request, response: Response, content: Content) -> HttpResponseBase:
    """The response with a tag of its content, or 304 if ``If-None-Match`` has this tag.

    The tag is weak: warnings, for example, do not change it.
    """
    etag = f'"{blake2b(orjson.dumps(content(response.data["data"])), digest_size=16).hexdigest()}"'
    response["ETag"] = f"W/{etag}"
    return _not_modified(request, response)


def _not_modified(request: Request, response: Response) -> HttpResponseBase:
    """304 if ``If-None-Match`` has the response's tag, else the response. Compares weakly (RFC 9110, 13.1.2)."""
    if "HTTP_IF_NONE_MATCH" not in request.META:
        return response
    known, etag = parse_etags(request.META["HTTP_IF_NONE_MATCH"]), response["ETag"].removeprefix("W/")
    if "*" in known or any(tag.removeprefix("W/") == etag for tag in known):
        return HttpResponseNotModified(headers={"ETag": response["ETag"]})
    return response


Shape = Representation | list[Representation] | Field


class Returned(NamedTuple):
    """``beside`` are the response's keys next to ``data``."""

    status: int
    message: str | None
    data: tuple[Field, ...]
    beside: tuple[Field, ...]
    has_etag: bool
    content: Content | None
    is_sibling: bool

    def response(self, values: Any) -> Any:
        """The response with these values of the action. A finished response stays as it is."""
        if isinstance(values, HttpResponseBase):
            return values
        if self.has_etag:
            values, version = values
        if values is None:
            return ok(message=self.message, status=self.status)
        said, status = values.pop("message", self.message), values.pop("http_status", self.status)
        beside = {field.name: values.pop(field.name) for field in self.beside}
        response = ok(values or None, said, status=status, **beside)
        if self.has_etag:
            response["ETag"] = version.etag
        return response


def returns(
    status: int,
    message: str | None = None,
    *,
    fields: Iterable[Field] = (),
    beside: Iterable[Field] = (),
    has_etag: bool = False,
    content: Content | None = None,
    is_sibling: bool = False,
    **data: Shape,
) -> Callable[[Callable[..., Any]], Callable[..., Response]]:
    """Decorator of an action of a view, which returns the values of the response as a dict, or raises.

        @returns(201, "URL created successfully.", url=created_link, domain=link_domain)

    Each keyword, such as ``url``, is a key of ``data`` with an object; in brackets, it is a list of them. ``fields``
    are further keys of ``data``, and ``beside`` keys next to it. A ``message`` in the dict replaces the declared one,
    which is then an example, and an ``http_status`` the status. With ``has_etag``, the action returns the dict and the
    `Version` of the object. With ``content``, the tag depends on this part of the data, see `unless_known`. Reads with
    a tag know ``If-None-Match``. A creation names the address of the object, if it can be read; ``is_sibling`` says
    that it is of the same kind as the object that the path names. A finished response stays as it is.
    """
    described = (*fields, *(_field(name, shape) for name, shape in data.items()))
    returned = Returned(status, message, described, tuple(beside), has_etag, content, is_sibling)

    def decorate(action: Callable[..., Any]) -> Callable[..., Response]:
        @wraps(action)
        def respond(view: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
            response = returned.response(action(view, request, *args, **kwargs))
            if not isinstance(response, Response):
                return response
            if content is not None:
                return unless_known(request, response, content)
            if has_etag and request.method in ("GET", "HEAD"):
                return _not_modified(request, response)
            if response.status_code == 201 and can_be_read(view):
                # Without the id and the name of the action.
                collection = request.path.rsplit("/", 2)[0] if is_sibling else request.path
                response["Location"] = f"{collection}/{_created_id(response.data['data'])}"
            return response

        respond.returned = returned  # type: ignore[attr-defined] # read by `common.openapi.operations`
        return respond

    return decorate


def can_be_read(view: Any) -> bool:
    """Whether the objects that the view creates have an address."""
    return "retrieve" in view.access


def _created_id(data: Mapping[str, Any]) -> str:
    """The id of the created object, which is the first of the data."""
    return str(next(iter(data.values()))["_id"])


def _field(name: str, shape: Shape) -> Field:
    if isinstance(shape, Field):
        return shape._replace(name=name)
    return shape[0].listed(name) if isinstance(shape, list) else shape.nested(name)
