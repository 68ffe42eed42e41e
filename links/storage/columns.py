"""The columns of a link, from which the statements of creations and updates are built when their modules are imported.

They are those of `links.fields`, and some that follow from other columns or never change.

Statements about many links take one array for each column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import orjson

from common.database import text_array
from links.fields import STORED
from links.models import Link


class Column(NamedTuple):
    name: str
    sql_type: str

    @property
    def is_list(self) -> bool:
        return self.sql_type.endswith("[]")

    @property
    def is_json(self) -> bool:
        return self.sql_type == "jsonb"


_IDENTITY = (
    Column("public_id", "uuid"),
    Column("owner_id", "bigint"),
    Column("creator_id", "bigint"),
    Column("key_id", "bigint"),
    Column("domain_id", "bigint"),
    Column("short_code", "text"),
    Column("original_url", "text"),
)
_DESTINATION = Column("destination", "text")


def _columns(*, leads: bool) -> tuple[Column, ...]:
    return tuple(Column(field.column, field.type_of_column) for field in STORED if field.leads == leads)


# Where the link leads. A change of `destination` without one of `target_url` is refused by a trigger.
_ROUTING = (*_columns(leads=True), Column("other_destinations", "text[]"))
CHANGEABLE = (*_columns(leads=False), Column("tag_keys", "text[]"), _DESTINATION, *_ROUTING)
# The columns that a creation writes. The database sets the others: ``id``, ``created_at`` and ``updated_at``.
INSERTED = (*_IDENTITY, *CHANGEABLE)


class InsertedColumns:
    """The columns that a statement inserts. ``values`` prepares a link's values for the driver."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self.names = ", ".join(column.name for column in columns)
        self._values_of = attrgetter(*(column.name for column in columns))
        self._converted = [index for index, column in enumerate(columns) if column.is_list or column.is_json]

    def values(self, link: Link) -> list[Any]:
        values = list(self._values_of(link))
        for index in self._converted:
            values[index] = stored_value(self.columns[index], values[index])
        return values

    def named_values(self, link: Link) -> dict[str, Any]:
        return {column.name: value for column, value in zip(self.columns, self.values(link), strict=True)}


ALL = InsertedColumns(INSERTED)
# Most links always lead to one URL. The database has the values of their other columns as defaults.
PLAIN = InsertedColumns(tuple(column for column in INSERTED if column not in _ROUTING))
# And of these, most have a generated code on the default domain, and neither limits nor a password.
_SELDOM = {
    **dict.fromkeys(["key_id", "domain_id", "custom_code", "description", "expires_at", "password"]),
    **dict.fromkeys(["max_clicks", "max_clicks_per_visitor", "external_id"]),
    "is_archived": False,
}
BARE = InsertedColumns(tuple(column for column in PLAIN.columns if column.name not in _SELDOM))
_routing_of = attrgetter(*(column.name for column in _ROUTING))
_seldom_of, _DEFAULTS = attrgetter(*_SELDOM), (*_SELDOM.values(),)


def is_plain(link: Link) -> bool:
    """Whether `PLAIN` has all values of the link that are not the defaults."""
    return not any(_routing_of(link))


def is_bare(link: Link) -> bool:
    """Whether `BARE` has them."""
    return _seldom_of(link) == _DEFAULTS and is_plain(link)


def stored_value(column: Column, value: Any) -> Any:
    """A value as a parameter of a statement."""
    if column.is_list:
        return text_array(value)
    if column.is_json and value is not None:
        return orjson.dumps(value).decode()
    return value


def column_arrays(names: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """One array per column, the parameters of ``unnest``. ``names`` are their names, separated by spaces."""
    return {name: [row[index] for row in rows] for index, name in enumerate(names.split())}


# For each branch, the triggers write a row of the history and the keys of its URL for searches. 1,000 links with ten
# rules in one statement would exceed the statement timeout.
ROUTED_LINKS_PER_STATEMENT = 50
Item = TypeVar("Item")


def statement_groups(routed: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(routed), ROUTED_LINKS_PER_STATEMENT):
        yield routed[start : start + ROUTED_LINKS_PER_STATEMENT]
