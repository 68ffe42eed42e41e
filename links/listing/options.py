"""What a client requests of a list or an export: filters, and for a list also a page and its order."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple


class Period(NamedTuple):
    """The times of creation from ``start`` on and before ``end``. None: without a limit."""

    start: datetime | None = None
    end: datetime | None = None

    @property
    def condition(self) -> str:
        """The end of a condition on `links_searchable s`."""
        start = "" if self.start is None else " AND s.created_at >= %(created_from)s"
        return start if self.end is None else f"{start} AND s.created_at < %(created_before)s"


ALWAYS = Period()


class Filters(NamedTuple):
    """The filters of a list or an export, as `links.serializers.ListFilters` validates them."""

    search: str = ""
    tags: str = ""
    is_active: bool | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None
    domain_id: str | None = None

    @property
    def created(self) -> Period:
        return Period(self.created_from, self.created_before)


NO_FILTERS = Filters()


class ListOptions(NamedTuple):
    page: int
    limit: int
    sort_by: str
    sort_order: str
    filters: Filters

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit


def list_options(*, page: int, limit: int, sort_by: str, sort_order: str, **filters: Any) -> ListOptions:
    """The options of a request, as `links.serializers.ListQuery` validates them."""
    return ListOptions(page, limit, sort_by, sort_order, Filters(**filters))
