"""All of an owner's links, a batch at a time: neither the database nor a process ever holds more than one.

The newest first. Each batch is a short statement of its own that goes on where the last one ended, so that links which
come or go meanwhile disturb nothing and no statement runs for long.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from typing import Any

import orjson
from django.db import models

from accounts.models import User
from common.fields import iso_utc
from links import searches
from links.cells import guard, joined
from links.representations import changeable_fields, short_url
from links.selectors import ExportedLink, fetch
from links.utm import UTM_KEYS

BATCH = 1_000

_KEYS = """
SELECT s.created_at, s.link_id, {match} FROM links_searchable s
WHERE s.owner_id = %(owner)s {after} ORDER BY s.created_at DESC, s.link_id DESC LIMIT {batch}
"""
_AFTER = "AND (s.created_at, s.link_id) < (%(created_at)s, %(link)s)"
_ROWS = """
SELECT l.public_id, d.host, l.short_code, l.custom_code,
    ARRAY(SELECT code FROM links_code WHERE link_id = l.id AND kind = 'alias' ORDER BY id), l.original_url,
    l.title, l.description, l.tags, l.is_active, l.expires_at, l.password IS NOT NULL, l.max_clicks,
    l.allowed_countries, l.blocked_countries, l.allowed_devices, l.redirect_type, n.clicks, l.created_at, l.updated_at,
    l.utm
FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY wanted (id, place)
JOIN links_link l ON l.id = wanted.id
JOIN links_clickcounter n ON n.link_id = l.id
LEFT JOIN domains_domain d ON d.id = l.domain_id
ORDER BY wanted.place
"""


class ExportFormat(models.TextChoices):
    CSV = "csv"
    JSONL = "jsonl"


CONTENT_TYPES = {ExportFormat.CSV: "text/csv; charset=utf-8", ExportFormat.JSONL: "application/jsonl"}


def export_links(
    owner: User, *, file_format: str, search: str = "", tags: str = "", is_active: bool | None = None
) -> Iterator[bytes]:
    """The file in pieces, the filters being those of the list."""
    write = _WRITERS[ExportFormat(file_format)]
    wanted = searches.search_for(search, tags, is_active)
    match = searches.activity(is_active) if wanted is None else wanted.match
    values = {"owner": owner.pk} | ({} if wanted is None else wanted.values)
    return write(_batches(match, values))


def _batches(match: str, values: dict[str, Any]) -> Iterator[list[ExportedLink]]:
    """Of the links that are walked past, those that match; some batches are empty."""
    query = _KEYS.format(match=match, after="", batch=BATCH)
    while keys := fetch(query, values):
        ids = [link for _, link, matches in keys if matches]
        rows = fetch(_ROWS, {"ids": ids}) if ids else []
        yield [ExportedLink._make((*columns, orjson.loads(utm))) for *columns, utm in rows]
        query = _KEYS.format(match=match, after=_AFTER, batch=BATCH)
        values |= {"created_at": keys[-1][0], "link": keys[-1][1]}


def _as_lines(batches: Iterable[list[ExportedLink]]) -> Iterator[bytes]:
    for batch in batches:
        yield b"".join(orjson.dumps(_fields(link), option=orjson.OPT_APPEND_NEWLINE) for link in batch)


def _as_csv(batches: Iterable[list[ExportedLink]]) -> Iterator[bytes]:
    page = StringIO(newline="")
    writer = csv.writer(page)
    writer.writerow(COLUMNS)
    for batch in batches:
        writer.writerows(_cells(link) for link in batch)
        yield page.getvalue().encode()
        page.seek(0)
        page.truncate()
    # The header, where there is nothing else.
    yield page.getvalue().encode()


_WRITERS: dict[ExportFormat, Callable[[Iterable[list[ExportedLink]]], Iterator[bytes]]] = {
    ExportFormat.CSV: _as_csv,
    ExportFormat.JSONL: _as_lines,
}


def _fields(link: ExportedLink) -> dict[str, Any]:
    """Named as in the API, where the domain is known by an id that means nothing elsewhere."""
    return {
        "_id": str(link.public_id),
        "shortUrl": short_url(link.host, link.custom_code or link.short_code),
        "domain": link.host,
        "shortCode": link.short_code,
        "aliases": link.aliases,
        "originalUrl": link.original_url,
        **changeable_fields(link),
        "clickCount": link.clicks,
        "createdAt": iso_utc(link.created_at),
        "updatedAt": iso_utc(link.updated_at),
    }


# In the order of `_cells`.
COLUMNS = (
    "_id", "shortUrl", "domain", "shortCode", "customCode", "aliases", "originalUrl", "title", "description", "tags",
    "isActive", "expiresAt", "hasPassword", "redirectType", "clickCount", "createdAt", "updatedAt",
    "maxClicks", "allowedCountries", "blockedCountries", "allowedDevices",
    *(f"utm{key.capitalize()}" for key in UTM_KEYS),
)  # fmt: skip


def _cells(link: ExportedLink) -> list[str]:
    fields = _fields(link)
    fields |= fields["restrictions"] | {
        f"utm{key.capitalize()}": value for key, value in fields["utm"].items()
    }
    return [_cell(fields.get(name)) for name in COLUMNS]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return guard(joined(value) if isinstance(value, list) else str(value))
