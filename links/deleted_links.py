"""Lists the deleted links that can be brought back."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, NamedTuple

from accounts.models import Workspace
from common.database import fetch
from common.pages import Page
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
    l.created_at, d.deleted_at, d.deleted_at + interval '{UNDELETE_DAYS} days'
FROM (
    SELECT link_id {_RESTORABLE} ORDER BY deleted_at DESC, link_id DESC LIMIT %(limit)s OFFSET %(offset)s
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


def list_deleted_links(owner: Workspace, *, page: int, limit: int) -> Page[DeletedRow]:
    """One page, the link that was deleted last first."""
    values: dict[str, Any] = {"owner": owner.pk, "limit": limit, "offset": (page - 1) * limit}
    [[links]] = fetch(_COUNT, values)
    rows = [DeletedRow(*row) for row in fetch(_ROWS, values)] if values["offset"] < links else []
    return Page(rows, min(links, COUNT_LIMIT), links > COUNT_LIMIT)
