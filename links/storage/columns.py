"""The columns of a link, from which the statements of creation, bulk updates and exports are built.

A new field of a link is one line here, besides its model, migration and serializer. The columns of each INSERT, COPY
and UPDATE have the order of this table. The statements are built once, when their modules are imported.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

import orjson

from links.models import Link
from links.storage.many_rows import array_text


class Column(NamedTuple):
    """``api_name`` is empty if the API does not show the stored value."""

    name: str
    sql_type: str
    api_name: str = ""

    @property
    def is_list(self) -> bool:
        return self.sql_type.endswith("[]")

    @property
    def is_json(self) -> bool:
        return self.sql_type == "jsonb"


_IDENTITY = (
    Column("public_id", "uuid", "_id"),
    Column("owner_id", "bigint"),
    Column("creator_id", "bigint"),
    Column("key_id", "bigint"),
    Column("domain_id", "bigint"),
    Column("short_code", "text", "shortCode"),
    Column("original_url", "text", "originalUrl"),
)
# Where the link leads. A change of `destination` without one of `target_url` is refused by a trigger.
ROUTING = (
    Column("target_url", "text", "targetUrl"),
    Column("destination", "text"),
    Column("starts_at", "timestamptz", "startsAt"),
    Column("not_started_url", "text", "notStartedUrl"),
    Column("expired_url", "text", "expiredUrl"),
    Column("forward_query", "boolean", "forwardQuery"),
    Column("referrer_policy", "text", "referrerPolicy"),
    Column("rules", "jsonb", "rules"),
    Column("split", "jsonb", "split"),
    Column("preview", "jsonb", "preview"),
    Column("other_destinations", "text[]"),
)
# The API nests these in ``restrictions``. An empty value restricts nothing.
RESTRICTIONS = (
    Column("max_clicks", "integer", "maxClicks"),
    Column("max_clicks_per_visitor", "integer", "maxClicksPerVisitor"),
    Column("allowed_countries", "text[]", "allowedCountries"),
    Column("blocked_countries", "text[]", "blockedCountries"),
    Column("allowed_devices", "text[]", "allowedDevices"),
)
CHANGEABLE = (
    Column("custom_code", "text", "customCode"),
    Column("title", "text", "title"),
    Column("description", "text", "description"),
    Column("tags", "text[]", "tags"),
    Column("tag_keys", "text[]"),
    Column("is_active", "boolean", "isActive"),
    Column("expires_at", "timestamptz", "expiresAt"),
    Column("password", "text"),
    Column("utm", "jsonb", "utm"),
    *RESTRICTIONS,
    Column("redirect_type", "smallint", "redirectType"),
    *ROUTING,
)
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
PLAIN = InsertedColumns(
    tuple(column for column in INSERTED if column not in ROUTING or column.name == "destination")
)
_routing_of = attrgetter(*(column.name for column in ROUTING if column.name != "destination"))


def is_plain(link: Link) -> bool:
    """Whether `PLAIN` has all values of the link that are not the defaults."""
    return not any(_routing_of(link))


def stored_value(column: Column, value: Any) -> Any:
    """A value as a parameter of a statement."""
    if column.is_list:
        return array_text(value)
    if column.is_json and value is not None:
        return orjson.dumps(value).decode()
    return value
