"""Numbered pages, and walks from page to page by cursors in the header ``Link`` (RFC 8288).

A cursor is a sealed place of a list. It opens only for the list whose response had it, with the same filters and
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NotRequired, TypedDict, cast

import orjson
from django.conf import settings
from rest_framework import serializers
from rest_framework.request import Request

from common.cursors import opened_cursor, sealed_cursor
from common.errors import FieldError, InvalidFields
from common.pages import Key, Page, Place, Window
from common.rest.fields import QueryInteger, Text

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
# The database reads and discards every row before the page, so their number is limited.
MAX_DEPTH = 1_000_000
TOO_DEEP = f"At most {MAX_DEPTH} entries may precede the page; follow the Link header instead."
BAD_CURSOR = FieldError(
    "cursor", "invalid", "Must be that of a Link header of this list, with the same filters and order."
)
_SEALING = "page-cursor"
_OF_PAGES = ("page", "limit", "cursor")


class Pagination(TypedDict):
    page: int
    limit: int
    total: int
    pages: int
    totalIsCapped: NotRequired[bool]


class PageQuery(serializers.Serializer[Any]):
    page = QueryInteger(
        default=1,
        min_value=1,
        max_value=MAX_DEPTH + 1,
        help_text=f"At most {MAX_DEPTH} entries may precede the page: (`page` - 1) times `limit`.",
    )
    limit = QueryInteger(
        default=DEFAULT_LIMIT, min_value=1, max_value=MAX_LIMIT, help_text="Entries per page."
    )
    cursor = Text(
        required=False,
        help_text="Of the `Link` header of a page, which replaces `page`: a walk by `rel=next` misses no entry that is"
        " there all the time, and repeats none.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs["page"] - 1) * attrs["limit"] > MAX_DEPTH:
            raise serializers.ValidationError({"page": TOO_DEEP}, code="too_deep")
        return attrs


def window_of(request: Request, parameters: dict[str, Any]) -> Window:
    """Takes the parameters of a `PageQuery` out of the validated ones. Raises InvalidFields for a bad cursor."""
    page, limit, cursor = (parameters.pop(name, None) for name in _OF_PAGES)
    if cursor is None:
        return Window(page, limit)
    opened = opened_cursor(cursor, None, purpose=_SEALING, context=_context(request))
    if opened is None:
        raise InvalidFields([BAD_CURSOR])
    number, is_backward, *key = orjson.loads(opened)
    return Window(number, limit, Place(tuple(key), is_backward))


def links_of(request: Request, page: Page[Any], window: Window) -> dict[str, str]:
    """The cursors of the pages next to this one, by their relation."""
    links = {}
    if page.last is not None:
        links["next"] = _cursor(request, window.page + 1, page.last, is_backward=False)
    if page.first is not None:
        links["prev"] = _cursor(request, max(1, window.page - 1), page.first, is_backward=True)
    return links


def link_header(request: Request, cursors: Mapping[str, str]) -> str:
    """The addresses of other pages of the list that the request asked for."""
    links = []
    for relation, cursor in cursors.items():
        query = request.query_params.copy()
        query.pop("page", None)
        query["cursor"] = cursor
        # Not the request's own scheme: behind a proxy that does not tell it, a client would send its key in the clear.
        links.append(f'<{settings.BASE_URL}{request.path}?{query.urlencode()}>; rel="{relation}"')
    return ", ".join(links)


def _cursor(request: Request, page: int, key: Key, *, is_backward: bool) -> str:
    place = orjson.dumps([page, is_backward, *key])
    return sealed_cursor(place, purpose=_SEALING, context=_context(request))


def _context(request: Request) -> bytes:
    """The workspace, the list, its filters and its order."""
    others = sorted((name, value) for name, value in request.query_params.items() if name not in _OF_PAGES)
    workspace = cast("Any", request.auth).workspace
    named = orjson.dumps([workspace.pk, request.path, others])
    return blake2b(named, digest_size=16).digest()


def pagination_of(page: Page[Any], window: Window) -> Pagination:
    limit = window.limit
    shown: Pagination = {
        "page": window.page,
        "limit": limit,
        "total": page.total,
        "pages": -(-page.total // limit),
    }
    if page.total_is_capped:
        shown["totalIsCapped"] = True
        # After a full page there may be another one, which clients that stop at ``pages`` must not miss.
        if len(page.rows) == limit:
            shown["pages"] = max(shown["pages"], window.page + 1)
    return shown
