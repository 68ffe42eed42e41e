"""Numbered pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from rest_framework import serializers

from common.pages import Page
from common.rest.fields import QueryInteger

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
# The database reads and discards every row before the page, so their number is limited.
MAX_DEPTH = 1_000_000
TOO_DEEP = f"At most {MAX_DEPTH} entries may precede the page; narrow the list with a filter."


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

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs["page"] - 1) * attrs["limit"] > MAX_DEPTH:
            raise serializers.ValidationError({"page": TOO_DEEP}, code="too_deep")
        return attrs


def pagination_of(page: Page[Any], parameters: Mapping[str, Any]) -> Pagination:
    """``parameters`` are the validated ones of a `PageQuery`."""
    number, limit = parameters["page"], parameters["limit"]
    shown: Pagination = {
        "page": number,
        "limit": limit,
        "total": page.total,
        "pages": -(-page.total // limit),
    }
    if page.total_is_capped:
        shown["totalIsCapped"] = True
        # After a full page there may be another one, which clients that stop at ``pages`` must not miss.
        if len(page.rows) == limit:
            shown["pages"] = max(shown["pages"], number + 1)
    return shown
