"""Updates a link: finds the columns that a change of its fields sets, and writes them.

`update_columns` updates and returns a link in one statement, if the new values do not depend on the present ones. That
trades clarity for speed: it is a second way to update a link, beside the one that locks it first. Changing a title
takes half of the processor time. docs/adr/0008-cost-of-an-api-request.md has the reasons.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from accounts.history import NAME_AUTHOR, author
from common.database import fetch, prepared_cursor
from common.errors import InvalidFields
from links.models import Link
from links.routing.addresses import new_addresses_of, refuse_own_addresses, restored_destination
from links.routing.columns import NUMBERS, columns_of, has_new_branches
from links.selectors import COLUMNS, IS_OWNER, link_of
from links.storage.columns import CHANGEABLE, Column, stored_value
from links.storage.refused_destinations import refused_links

# The last period of each number, from the index: links that change often have thousands of periods.
_FREED_NUMBERS = """
SELECT link.link_id, number, until
FROM unnest(%(links)s::bigint[]) link (link_id), unnest(%(numbers)s::smallint[]) numbers (number), LATERAL (
    SELECT until FROM links_route r WHERE r.link_id = link.link_id AND r.number = numbers.number
    ORDER BY since DESC LIMIT 1
) latest WHERE until IS NOT NULL
"""


class RouteChange(NamedTuple):
    """``sent`` has the validated fields of the update."""

    link: Link
    sent: Mapping[str, Any]


Columns = dict[str, Any]


def changed_columns(link: Link, sent: Mapping[str, Any]) -> Columns:
    """The columns that the fields set, with their values. Raises InvalidFields."""
    [columns] = changed_columns_of_each({0: RouteChange(link, sent)}).values()
    if isinstance(columns, InvalidFields):
        raise columns
    return columns


def changed_columns_of_each(changes: Mapping[int, RouteChange]) -> dict[int, Columns | InvalidFields]:
    """The changed columns of each link, or its error. At most two queries, and none if no URL is new."""
    restored = {key: restored_destination(*change) for key, change in changes.items()}
    addresses = {key: new_addresses_of(*change, restored[key]) for key, change in changes.items()}
    refused: dict[int, InvalidFields] = {}
    for key, group in addresses.items():
        try:
            refuse_own_addresses(group)
        except InvalidFields as refusal:
            refused[key] = refusal
    refused |= refused_links({key: group for key, group in addresses.items() if key not in refused})
    freed = _freed_numbers([
        change.link.pk
        for key, change in changes.items()
        if key not in refused and has_new_branches(change.link, change.sent)
    ])  # fmt: skip
    results: dict[int, Columns | InvalidFields] = {**refused}
    for key, (link, sent) in changes.items():
        if key not in refused:
            try:
                results[key] = columns_of(link, sent, freed[link.pk], restored[key])
            except InvalidFields as refusal:
                results[key] = refusal
    return results


def _freed_numbers(link_ids: Collection[int]) -> dict[int, dict[int, datetime]]:
    """Return for each link the last moment at which each of its former numbers became free."""
    freed: dict[int, dict[int, datetime]] = defaultdict(dict)
    if link_ids:
        for link_id, number, until in fetch(
            _FREED_NUMBERS, {"links": list(link_ids), "numbers": list(NUMBERS)}
        ):
            freed[link_id][number] = until
    return freed


def update_columns(
    public_id: UUID,
    values: Mapping[str, Any],
    *,
    owner_id: int,
    updated_at: datetime,
    versions: Sequence[datetime] | None,
    prepare: bool,
) -> tuple[Link, list[str]] | None:
    """Set these columns, at least one. Returns the link and all its codes.

    Returns None if the owner has no such link in one of these versions.

    ``prepare``: for a few common sets of columns. Each set is one of the statements that a connection keeps.
    """
    columns = tuple(column for column in CHANGEABLE if column.name in values)
    stored = {column.name: stored_value(column, values[column.name]) for column in columns}
    is_conditional = versions is not None
    values = {
        **stored,
        "link": public_id,
        "owner": owner_id,
        "updated_at": updated_at,
        "versions": versions,
        "author": author(),
    }
    with prepared_cursor() if prepare and not is_conditional else connection.cursor() as cursor:
        cursor.execute(_statement(columns, is_conditional), values)
        row = cursor.fetchone()
    return None if row is None else (link_of(row[2:]), row[1])


@cache
def _statement(columns: tuple[Column, ...], is_conditional: bool) -> str:
    """One statement saves 58 % of the processor time of an update, compared with the ORM.

    `greatest` makes versions strictly increasing: the statement may have waited for a later update.

    `links_codes_of` is called after the update, and sees the code of a rename for whose commit the update waited. The
    snapshot of the statement does not.
    """
    condition = "AND updated_at = ANY(%(versions)s::timestamptz[])" if is_conditional else ""
    values = ", ".join(f"{column.name} = %({column.name})s::{column.sql_type}" for column in columns)
    return f"""
    WITH link AS (
        UPDATE links_link SET {values},
            updated_at = greatest(updated_at + interval '1 microsecond', %(updated_at)s)
        WHERE public_id = %(link)s AND owner_id {IS_OWNER} {condition} RETURNING *
    )
    SELECT {NAME_AUTHOR}, links_codes_of(l.id), {COLUMNS} FROM link l
    """  # noqa: S608 # composed of constants
