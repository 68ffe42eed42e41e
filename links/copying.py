"""Links by COPY, the fastest way into a table."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import orjson
from django.db import connection

from links.columns import columns
from links.drafts import Draft
from links.models import Link

_COLUMNS = (
    "id", "public_id", "owner_id", "domain_id", "short_code", "custom_code", "original_url", "destination", "title",
    "description", "tags", "tag_keys", "is_active", "expires_at", "password", "utm", "max_clicks",
    "allowed_countries", "blocked_countries", "allowed_devices", "redirect_type", "created_at", "updated_at",
)  # fmt: skip
_values_of = attrgetter(*_COLUMNS)
_COPY = f"COPY links_link ({', '.join(_COLUMNS)}) FROM STDIN"
_CLICKS = """
UPDATE links_clickcounter c SET clicks = brought.clicks, imported = brought.clicks
FROM unnest(%(links)s::bigint[], %(clicks)s::bigint[]) brought (link_id, clicks) WHERE c.link_id = brought.link_id
"""


def copy_links(drafts: Sequence[Draft]) -> None:
    """The links of drafts that are complete, in the caller's transaction, and the clicks that they bring along."""
    with connection.cursor() as cursor:
        # Django translates the errors of statements alone.
        with connection.wrap_database_errors, cursor.copy(_COPY) as copy:
            for draft in drafts:
                copy.write_row(_row(draft.link))
        brought = [(draft.link.pk, draft.clicks) for draft in drafts if draft.clicks]
        if brought:
            cursor.execute(_CLICKS, columns("links clicks", brought))


def _row(link: Link) -> list[Any]:
    # Lists as text, which the driver takes three times as long to make of them.
    values = [_array(value) if isinstance(value, list) else value for value in _values_of(link)]
    values[_COLUMNS.index("utm")] = orjson.dumps(link.utm).decode()
    return values


def _array(texts: list[str]) -> str:
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"
