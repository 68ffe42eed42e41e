"""Lists the deleted links that can be brought back."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, NamedTuple

from accounts.models import Workspace
from common.database import fetch
from common.pages import Page, Window, page_of
from links.list_counts import COUNT_LIMIT
from links.storage.deletion import UNDELETE_DAYS

_RESTORABLE = f"""
FROM links_deletedlink
WHERE owner_id = %(owner)s AND deleted_at > statement_timestamp() - interval '{UNDELETE_DAYS} days'
"""
_COUNT = f"SELECT count(*) FROM (SELECT {_RESTORABLE} LIMIT {COUNT_LIMIT + 1}) d"  # noqa: S608 # composed of constants
# A link whose domain is gone comes back on the default domain.
_ROWS = f"""
SELECT d.public_id, l.original_url, l.target_url, l.short_code, l.custom_code, o.host, l.title, l.tags, d.clicks,
    l.created_at, d.deleted_at, d.deleted_at + interval '{UNDELETE_DAYS} days', d.link_id
FROM (
    SELECT link_id {_RESTORABLE} {{after}}
    ORDER BY deleted_at {{direction}}, link_id {{direction}} LIMIT %(limit)s OFFSET %(offset)s
) page
JOIN links_deletedlink d USING (link_id)
CROSS JOIN LATERAL jsonb_populate_record(NULL::links_link, d.link) l
LEFT JOIN domains_domain o ON o.id = l.domain_id AND o.owner_id = d.owner_id
ORDER BY d.deleted_at DESC, d.link_id DESC
"""  # noqa: S608 # composed of constants


class DeletedRow(NamedTuple):
    """``host`` is None on the default domain."""

    public_id: uuid.UUID
    original_url: str
    target_url: str | None
    short_code: str
    custom_code: str | None
    host: str | None
    title: str | None
    tags: list[str]
    clicks: int
    created_at: datetime
    deleted_at: datetime
    restorable_until: datetime
    pk: int


def list_deleted_links(owner: Workspace, window: Window) -> Page[DeletedRow]:
    """One page, the link that was deleted last first."""
    values: dict[str, Any] = {"owner": owner.pk, "limit": window.rows, "offset": window.offset}
    [[links]] = fetch(_COUNT, values)
    after = ""
    if window.place is not None:
        values["deleted_at"], values["link"] = window.place.key
        after = f"AND (deleted_at, link_id) {'>' if window.is_backward else '<'} (%(deleted_at)s, %(link)s)"
    query = _ROWS.format(after=after, direction="ASC" if window.is_backward else "DESC")
    rows = [DeletedRow(*row) for row in fetch(query, values)] if window.offset < links else []
    total, is_capped = min(links, COUNT_LIMIT), links > COUNT_LIMIT
    return page_of(rows, window, total, lambda row: (row.deleted_at, row.pk), is_capped=is_capped)
