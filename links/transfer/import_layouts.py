"""Column names of this service's and other shorteners' exports, and their mapping to a link's fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from links.destinations.utm import UTM_KEYS
from links.storage.columns import RESTRICTIONS, ROUTING
from links.transfer.cells import boolean, json_value, number
from links.transfer.hosted_layouts import rebrandly, short_io
from links.transfer.layout_values import (
    Fields,
    Row,
    first_value,
    host_and_code,
    iso_time,
    split_cell,
    split_list,
    truncated,
    without_empty,
)

OWN = "own"


@cache
def normalized_key(key: str) -> str:
    """Map ``created_at``, ``createdAt`` and ``Created at`` to one key."""
    return re.sub("[^a-z0-9]", "", key.lower())


class Layout(NamedTuple):
    """``fields`` returns the fields of a creation, and ``host``: the link's former host. It may raise InvalidFields.

    A row has this layout if it has all columns of one of the ``signatures``.
    """

    name: str
    signatures: tuple[frozenset[str], ...]
    fields: Callable[[Row], Fields]

    def matches(self, keys: frozenset[str]) -> bool:
        return any(signature <= keys for signature in self.signatures)


def _own(row: Row) -> Fields:
    utm = row.get("utm") or {key: row.get(f"utm{key}") for key in UTM_KEYS}
    restrictions = row.get("restrictions") or {
        column.api_name: (split_cell if column.is_list else number)(row.get(column.api_name.lower()))
        for column in RESTRICTIONS
    }
    return {
        "host": row.get("domain"),
        "originalUrl": row.get("originalurl"),
        "shortCode": row.get("shortcode"),
        "customCode": row.get("customcode"),
        "aliases": split_cell(row.get("aliases")),
        "title": row.get("title"),
        "description": row.get("description"),
        "tags": split_cell(row.get("tags")),
        "isActive": boolean(row.get("isactive")),
        "expiresAt": row.get("expiresat"),
        "password": row.get("password"),
        "hasPassword": boolean(row.get("haspassword")),
        "utm": without_empty(utm) or None if isinstance(utm, dict) else utm,
        "restrictions": without_empty(restrictions) or None
        if isinstance(restrictions, dict)
        else restrictions,
        "redirectType": number(row.get("redirecttype")),
        "clickCount": number(row.get("clickcount")),
        "createdAt": row.get("createdat"),
        **{
            column.api_name: _READERS.get(column.sql_type, _unchanged)(row.get(column.api_name.lower()))
            for column in ROUTING
            if column.api_name
        },
    }


def _unchanged(value: Any) -> Any:
    return value


_READERS: dict[str, Callable[[Any], Any]] = {"jsonb": json_value, "boolean": boolean}


def _bitly(row: Row) -> Fields:
    host, code = host_and_code(first_value(row, "link", "bitlink", "id"))
    bitlinks = split_list(first_value(row, "custombitlinks", "custombitlink", "customlink"))
    custom = [host_and_code(bitlink) for bitlink in bitlinks] if isinstance(bitlinks, list) else []
    codes = [code for code in (*(custom_code for _, custom_code in custom), code) if code]
    return {
        "host": custom[0][0] if custom else host,
        "originalUrl": first_value(row, "longurl", "destinationurl"),
        "customCode": codes[0] if codes else None,
        "aliases": codes[1:],
        "title": truncated(row.get("title"), 200),
        "tags": split_list(row.get("tags")),
        "clickCount": number(first_value(row, "clicks", "totalclicks", "engagements", "totalengagements")),
        "createdAt": iso_time(first_value(row, "createdat", "created", "datecreated")),
    }


def _yourls(row: Row) -> Fields:
    host, code = host_and_code(row.get("shorturl"))
    return {
        "host": host,
        "originalUrl": row.get("url"),
        "customCode": row.get("keyword") or code,
        "title": truncated(row.get("title"), 200),
        "clickCount": number(row.get("clicks")),
        "createdAt": iso_time(row.get("timestamp")),
    }


def _kutt(row: Row) -> Fields:
    password = boolean(row.get("password"))
    return {
        "host": row.get("domain") or host_and_code(row.get("link"))[0],
        "originalUrl": row.get("target"),
        "customCode": row.get("address"),
        "description": truncated(row.get("description"), 500),
        "isActive": False if boolean(row.get("banned")) is True else None,
        "hasPassword": password if isinstance(password, bool) else None,
        "expiresAt": iso_time(row.get("expirein")),
        "clickCount": number(row.get("visitcount")),
        "createdAt": iso_time(row.get("createdat")),
    }


def _shlink(row: Row) -> Fields:
    host, code = host_and_code(row.get("shorturl"))
    tags, meta, summary = row.get("tags"), row.get("meta"), row.get("visitssummary")
    meta, summary = meta if isinstance(meta, dict) else {}, summary if isinstance(summary, dict) else {}
    max_clicks = number(meta.get("maxVisits"))
    return {
        "host": row.get("domain") or host,
        "originalUrl": row.get("longurl"),
        "customCode": row.get("shortcode") or code,
        "title": truncated(row.get("title"), 200),
        "tags": split_list(tags, "|" if "|" in str(tags) else ","),
        "expiresAt": iso_time(meta.get("validUntil")),
        "restrictions": None if max_clicks is None else {"maxClicks": max_clicks},
        "clickCount": number(summary.get("total", first_value(row, "visitscount", "visits"))),
        "createdAt": iso_time(first_value(row, "datecreated", "createdat")),
    }


def _dub(row: Row) -> Fields:
    host, code = host_and_code(first_value(row, "shortlink", "link"))
    tags = split_list(row.get("tags"))
    if isinstance(tags, list):
        tags = [tag.get("name") if isinstance(tag, dict) else tag for tag in tags]
    return {
        "host": row.get("domain") or host,
        "originalUrl": first_value(row, "url", "destinationurl"),
        "customCode": row.get("key") or code,
        "title": truncated(row.get("title"), 200),
        "description": truncated(row.get("description"), 500),
        "tags": tags,
        "isActive": False if row.get("disabledat") else None,
        "expiresAt": iso_time(row.get("expiresat")),
        "password": row.get("password"),
        "clickCount": number(row.get("clicks")),
        "createdAt": iso_time(row.get("createdat")),
    }


def _signatures(*signatures: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(signature.split()) for signature in signatures)


_BITLY_COLUMNS = ("link", "bitlink", "customlink", "custombitlink", "custombitlinks")
# The first matching layout applies. Short.io also has an originalUrl.
LAYOUTS = (
    Layout("shortio", _signatures("originalurl path"), short_io),
    Layout(OWN, _signatures("originalurl"), _own),
    Layout("kutt", _signatures("address target"), _kutt),
    Layout("shlink", _signatures("longurl shortcode", "longurl shorturl"), _shlink),
    Layout(
        "bitly",
        _signatures(
            *(
                f"{destination} {column}"
                for destination in ("longurl", "destinationurl")
                for column in _BITLY_COLUMNS
            )
        ),
        _bitly,
    ),
    Layout("yourls", _signatures("keyword url", "shorturl url timestamp"), _yourls),
    Layout("dub", _signatures("shortlink destinationurl", "shortlink url", "link url", "key url"), _dub),
    Layout(
        "rebrandly",
        _signatures("slashtag destination", "shorturl destination", "shorturl destinationurl"),
        rebrandly,
    ),
)
AUTO = "auto"
NAMES = [layout.name for layout in LAYOUTS]
