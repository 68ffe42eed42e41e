"""Streams all of an owner's links, newest first. Neither the database nor the process holds more than one batch.

Each batch is a short statement that continues after the last row of the previous one. Concurrent creations and
deletions therefore cause no duplicates or gaps, and no statement runs for long.
"""

from __future__ import annotations

import csv
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from io import StringIO
from typing import Any

import orjson
from django.db import models

from accounts.models import Workspace
from common.database import fetch
from common.http.short_urls import short_url
from common.ids import parse_public_id
from common.rest.fields import iso_utc
from links import searches
from links.availability import STATUS
from links.destinations.utm import UTM_KEYS
from links.fields import FIELDS, RESTRICTIONS, STORED, Kind
from links.key_limits import condition_of
from links.representations import changeable_fields
from links.searches import NO_FILTERS, Filters
from links.transfer.cells import guard, joined
from links.transfer.sealed_passwords import Sealer

BATCH = 1_000

_KEYS = """
SELECT s.created_at, s.link_id, {match} FROM links_searchable s
WHERE s.owner_id = %(owner)s {after} ORDER BY s.created_at DESC, s.link_id DESC LIMIT {batch}
"""
_SELECTED = """
SELECT l.id FROM links_link l WHERE l.public_id = ANY(%(public_ids)s::uuid[]) AND l.owner_id = %(owner)s{limits}
ORDER BY l.created_at DESC, l.id DESC
"""
_AFTER = "AND (s.created_at, s.link_id) < (%(created_at)s, %(link)s)"
_STORED = [field for field in STORED if not field.is_secret]
# The attributes of an exported link, and the SQL expressions that read them.
_EXPRESSIONS = {
    **{name: f"l.{name}" for name in ("public_id", "short_code", "original_url")},
    **{field.column: f"l.{field.column}" for field in _STORED},
    "host": "d.host",
    "aliases": "ARRAY(SELECT code FROM links_code WHERE link_id = l.id AND kind = 'alias' ORDER BY id)",
    "has_password": "l.password IS NOT NULL",
    # `_parsed` seals it.
    "sealed_password": "CASE WHEN %(seals)s THEN l.password END",
    "clicks": "n.clicks",
    "created_at": "l.created_at",
    "updated_at": "l.updated_at",
    "status": STATUS,
}
# Any: mypy requires literal attribute names.
_Exported: Any = namedtuple("_Exported", list(_EXPRESSIONS))  # type: ignore[misc] # computed names
# The driver returns JSON as text.
_JSON = [field.column for field in _STORED if field.kind is Kind.JSON]
_ROWS = f"""
SELECT {", ".join(_EXPRESSIONS.values())}
FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY batch (id, position)
JOIN links_link l ON l.id = batch.id
JOIN links_clickcounter n ON n.link_id = l.id
LEFT JOIN domains_domain d ON d.id = l.domain_id
ORDER BY batch.position
"""  # noqa: S608 # composed of constants


class ExportFormat(models.TextChoices):
    CSV = "csv"
    JSONL = "jsonl"


CONTENT_TYPES = {ExportFormat.CSV: "text/csv; charset=utf-8", ExportFormat.JSONL: "application/jsonl"}


def export_links(
    owner: Workspace,
    *,
    file_format: str,
    filters: Filters = NO_FILTERS,
    sealer: Sealer | None = None,
    report: Callable[[int], None] = lambda _: None,
) -> Iterator[bytes]:
    """Yield the file in chunks. The filters are those of the list. Calls ``report`` with the links of each batch.

    With a ``sealer``, the file has the sealed hashes of passwords.
    """
    write = partial(
        _WRITERS[ExportFormat(file_format)], columns=COLUMNS if sealer is None else SEALED_COLUMNS
    )
    conditions = searches.search_for(owner, filters)
    if conditions is None:
        match = searches.in_list(filters.is_active, filters.is_archived)
    else:
        # The batches look at each link, and need not send all banned ones each time.
        match = conditions._replace(banned=None).match
    values = {"owner": owner.pk} | ({} if conditions is None else conditions.values)
    limits, of_key = condition_of(owner.key)
    if limits:
        match = f"{match} AND EXISTS (SELECT FROM links_link l WHERE l.id = s.link_id{limits})"
    return write(_batches(match, values | of_key, sealer, report))


def export_selected_links(
    owner: Workspace, *, public_ids: Sequence[str], file_format: str
) -> Iterator[bytes]:
    """Yield the file with these links, at most ``BATCH``. It omits ids that are not those of a link of the owner."""
    identifiers = [identifier for text in public_ids if (identifier := parse_public_id(text)) is not None]
    limits, values = condition_of(owner.key)
    values |= {"owner": owner.pk, "public_ids": identifiers}
    ids = [link for (link,) in fetch(_SELECTED.format(limits=limits), values)]
    return _WRITERS[ExportFormat(file_format)]([_fetch_links(ids)], columns=COLUMNS)


def _batches(
    match: str, values: dict[str, Any], sealer: Sealer | None, report: Callable[[int], None]
) -> Iterator[list[Any]]:
    """Scan all links and yield the matching ones of each batch, which may be empty."""
    query = _KEYS.format(match=match, after="", batch=BATCH)
    while keys := fetch(query, values):
        ids = [link for _, link, matches in keys if matches]
        yield _fetch_links(ids, sealer) if ids else []
        report(len(ids))
        query = _KEYS.format(match=match, after=_AFTER, batch=BATCH)
        values |= {"created_at": keys[-1][0], "link": keys[-1][1]}


def _fetch_links(ids: list[int], sealer: Sealer | None = None) -> list[Any]:
    rows = fetch(_ROWS, {"ids": ids, "seals": sealer is not None})
    return [_parsed(_Exported._make(row), sealer) for row in rows]


def _parsed(link: Any, sealer: Sealer | None) -> Any:
    texts = ((name, getattr(link, name)) for name in _JSON)
    parsed = {name: orjson.loads(text) for name, text in texts if text is not None}
    if sealer is not None and link.sealed_password is not None:
        parsed["sealed_password"] = sealer.seal(link.sealed_password, link.short_code)
    return link._replace(**parsed)


# The writers keep no reference to a batch while the response waits for its client.


def _as_lines(batches: Iterable[list[Any]], columns: Sequence[str]) -> Iterator[bytes]:  # the columns of CSV
    return map(_lines, batches)


def _lines(batch: list[Any]) -> bytes:
    return b"".join(orjson.dumps(_fields(link), option=orjson.OPT_APPEND_NEWLINE) for link in batch)


def _as_csv(batches: Iterable[list[Any]], columns: Sequence[str]) -> Iterator[bytes]:
    page = StringIO(newline="")
    writer = csv.writer(page)
    writer.writerow(columns)
    for cells in (_rows(batch, columns) for batch in batches):
        writer.writerows(cells)
        del cells
        yield page.getvalue().encode()
        page.seek(0)
        page.truncate()
    # The header, if there were no batches.
    yield page.getvalue().encode()


def _rows(batch: list[Any], columns: Sequence[str]) -> list[list[str]]:
    return [_cells(link, columns) for link in batch]


_WRITERS: dict[ExportFormat, Callable[..., Iterator[bytes]]] = {
    ExportFormat.CSV: _as_csv,
    ExportFormat.JSONL: _as_lines,
}


def _fields(link: Any) -> dict[str, Any]:
    """Fields as in the API, except for the domain's host: its id has no meaning in other installations."""
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
        "status": link.status,
        **({} if link.sealed_password is None else {SEALED_PASSWORD: link.sealed_password}),
    }


SEALED_PASSWORD = "sealedPassword"  # noqa: S105 # a column
_FIRST_COLUMNS = (
    "_id", "shortUrl", "domain", "shortCode", "customCode", "aliases", "originalUrl", "title", "description", "tags",
    "isActive", "expiresAt", "hasPassword", "redirectType", "clickCount", "createdAt", "updatedAt",
    *(field.name for field in RESTRICTIONS),
    *(f"utm{key.capitalize()}" for key in UTM_KEYS),
)  # fmt: skip
_FURTHER_FIELDS = [
    field
    for field in FIELDS
    if not field.is_secret and field.name not in {*_FIRST_COLUMNS, "utm", "restrictions"}
]
# These cells have the JSON of the API.
_IN_JSON = [field.name for field in _FURTHER_FIELDS if field.kind is Kind.JSON]
# In the order of `_cells`. New fields come last.
COLUMNS = (*_FIRST_COLUMNS, *(field.name for field in _FURTHER_FIELDS), "status")
SEALED_COLUMNS = (*COLUMNS, SEALED_PASSWORD)


def _cells(link: Any, columns: Sequence[str]) -> list[str]:
    fields = _fields(link)
    fields |= fields["restrictions"] | {
        f"utm{key.capitalize()}": value for key, value in fields["utm"].items()
    }
    fields |= {name: _json_cell(fields[name]) for name in _IN_JSON}
    return [_cell(fields.get(name)) for name in columns]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return guard(joined(value) if isinstance(value, list) else str(value))


def _json_cell(value: Any) -> str:
    return orjson.dumps(value).decode() if value else ""
