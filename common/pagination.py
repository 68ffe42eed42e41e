"""Pages by number, as the interface has them."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from rest_framework import serializers

from common.fields import QueryInteger

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
# The database reads and throws away every row before the page, so the depth is bounded.
MAX_DEPTH = 1_000_000
TOO_DEEP = f"Pages reach down to row {MAX_DEPTH}; narrow the list with a filter."


class Pagination(TypedDict):
    page: int
    limit: int
    total: int
    pages: int
    totalIsCapped: NotRequired[bool]


class PageQuery(serializers.Serializer[Any]):
    page = QueryInteger(default=1, min_value=1, max_value=MAX_DEPTH)
    limit = QueryInteger(default=DEFAULT_LIMIT, min_value=1, max_value=MAX_LIMIT)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["page"] * attrs["limit"] > MAX_DEPTH:
            raise serializers.ValidationError({"page": TOO_DEEP}, code="too_deep")
        return attrs


def pagination(page: int, limit: int, total: int, *, is_capped: bool = False) -> Pagination:
    """``is_capped``: there are more than ``total``, which were not counted."""
    found: Pagination = {"page": page, "limit": limit, "total": total, "pages": -(-total // limit)}
    if is_capped:
        found["totalIsCapped"] = True
    return found
