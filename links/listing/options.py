from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from links.listing.searches import Period


class ListOptions(NamedTuple):
    """The page, the order and the filters of a list, as `links.serializers.ListQuery` validates them."""

    page: int
    limit: int
    sort_by: str
    sort_order: str
    search: str = ""
    tags: str = ""
    is_active: bool | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None
    domain_id: str | None = None

    @property
    def created(self) -> Period:
        return Period(self.created_from, self.created_before)

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit
