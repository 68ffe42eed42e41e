"""Inserts links with COPY, the fastest way to insert rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection

from links.models import Link
from links.storage.columns import ALL, PLAIN, InsertedColumns, is_plain
from links.storage.drafts import Draft
from links.storage.row_arrays import columns
from links.storage.statement_groups import statement_groups

_COPY = "COPY links_link (id, created_at, updated_at, {names}) FROM STDIN"
_CLICKS = """
UPDATE links_clickcounter c SET clicks = imported.clicks, imported = imported.clicks
FROM unnest(%(links)s::bigint[], %(clicks)s::bigint[]) imported (link_id, clicks) WHERE c.link_id = imported.link_id
"""


def copy_links(drafts: Sequence[Draft]) -> None:
    """Insert the links of complete drafts and set their imported clicks, in the caller's transaction."""
    with connection.cursor() as cursor:
        links: dict[bool, list[Link]] = {True: [], False: []}
        for draft in drafts:
            links[is_plain(draft.link)].append(draft.link)
        _copy(cursor, links[True], PLAIN)
        for group in statement_groups(links[False]):
            _copy(cursor, group, ALL)
        clicks = [(draft.link.pk, draft.clicks) for draft in drafts if draft.clicks]
        if clicks:
            cursor.execute(_CLICKS, columns("links clicks", clicks))


def _copy(cursor: Any, links: Sequence[Link], columns: InsertedColumns) -> None:
    if not links:
        return
    statement = _COPY.format(names=columns.names)
    # Django translates errors of statements, but not those of COPY.
    with connection.wrap_database_errors, cursor.copy(statement) as copy:
        for link in links:
            copy.write_row([link.pk, link.created_at, link.updated_at, *columns.values(link)])
