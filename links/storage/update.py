"""Updates a link in one statement that also returns it, if the new values do not depend on the present ones.

Trades clarity for speed: a second way to update a link, beside the one that locks it first.
Changing a title takes half of the processor time. docs/adr/0008-cost-of-an-api-request.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.history.recording import NAME_AUTHOR, author
from common.database import prepared_cursor
from links.link_rows import COLUMNS, IS_OWNER, JOINS, link_of
from links.models import Link
from links.storage.columns import CHANGEABLE, Column, stored_value


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
    """`greatest` makes versions strictly increasing: the statement may have waited for a later update.

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
    SELECT {NAME_AUTHOR}, links_codes_of(l.id), {COLUMNS} FROM link l {JOINS}
    """  # noqa: S608 # composed of constants
