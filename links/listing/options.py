"""What a client requests of a list or an export: filters, and for a list also a page and its order."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from links.fields import UNIQUE


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
    """The filters of a list or an export. ``unique`` has the columns of unique fields with their values."""

    search: str = ""
    tags: str = ""
    is_active: bool | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None
    domain_id: str | None = None
    unique: tuple[tuple[str, str], ...] = ()

    @property
    def created(self) -> Period:
        return Period(self.created_from, self.created_before)


NO_FILTERS = Filters()
_UNIQUE = frozenset(field.column for field in UNIQUE)


def filters_of(parameters: Mapping[str, Any]) -> Filters:
    """The filters of a request, as `links.serializers.ListFilters` validates them."""
    others = {name: value for name, value in parameters.items() if name not in _UNIQUE}
    unique = ((name, value) for name, value in parameters.items() if name in _UNIQUE)
    return Filters(**others, unique=tuple(unique))


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
    return ListOptions(page, limit, sort_by, sort_order, filters_of(filters))
