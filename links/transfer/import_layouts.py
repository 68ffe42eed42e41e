"""Layouts of this service's and other shorteners' exports: their columns, and how to read them as a link's fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from common.errors import FieldError, InvalidFields
from common.http.urls import canonical_host
from links.destinations.utm import UTM_KEYS
from links.fields import FIELDS, RESTRICTIONS, Kind, LinkField
from links.transfer.cells import boolean, json_value, number, split

# A row with its keys normalized by `import_layouts.normalized_key`.
Row = Mapping[str, Any]
Fields = dict[str, Any]


def iso_time(value: Any) -> Any:
    """Convert Unix seconds and database timestamps to ISO 8601. Anything else stays unchanged."""
    if type(value) is int and 0 <= value < 253_402_300_800:
        return datetime.fromtimestamp(value, UTC).isoformat()
    if isinstance(value, str):
        text = value.strip().removesuffix(" UTC")
        # MySQL's zero date: unknown.
        return None if text.startswith("0000-00-00") else text
    return value


def first_value(row: Row, *keys: str) -> Any:
    return next((row[key] for key in keys if row.get(key) not in (None, "")), None)


def host_and_code(address: Any) -> tuple[str | None, str | None]:
    """Return the canonical host and the code of a short link. The code is percent-decoded, as on a request."""
    if not isinstance(address, str) or not address:
        return None, None
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
    except ValueError:
        return None, address
    authority = parts.netloc.rpartition("@")[2]
    return canonical_host(authority) or authority.lower(), unquote(parts.path.strip("/"))


def split_cell(value: Any, separator: str = ",") -> Any:
    """Split a cell with several values. A list stays unchanged."""
    return split(value, separator) if isinstance(value, str) else value


def split_list(value: Any, separator: str = ",") -> Any:
    """Like ``split_cell``, but strip whitespace and drop empty values."""
    items = split_cell(value, separator)
    if not isinstance(items, list):
        return items
    stripped = [item.strip() if isinstance(item, str) else item for item in items]
    return [item for item in stripped if item != ""]


def truncated(value: Any, characters: int) -> Any:
    """Truncate a long descriptive text rather than refuse the link."""
    return value[:characters] if isinstance(value, str) else value


def without_empty(values: Fields) -> Fields:
    return {key: value for key, value in values.items() if value not in (None, "", [])}


# Unix times of JavaScript are in milliseconds. In seconds, this is the year 5138.
_FIRST_MILLISECONDS = 100_000_000_000
_ROOT = "This is the root of a domain, not a link."


def short_io(row: Row) -> Fields:
    """Links of Short.io's API (JSON), and CSV or TSV files with the same columns.

    API: `GET /api/links`, https://developers.short.io/reference/get_api-links, with `originalURL`, `path`,
    `shortURL`, `secureShortURL`, `title`, `tags`, `createdAt`, `expiresAt`, `clicksLimit` and `password`, as its
    public clients read them: github.com/MacHu-GWU/pyshortio-project (pyshortio/model.py) and github.com/dubinc/dub
    (apps/web/app/(ee)/api/cron/import/short/utils.ts).

    Files: example/export.tsv of pyshortio-project has `short_url`, `original_url`, `path`, `tags`, `clicks_limit` and
    `expire_at`. No public source shows the header of the dashboard's own export, or a column for clicks. So this also
    reads the names in the API's statistics: `totalClicks` and `humanClicks`.
    """
    host, code = host_and_code(first_value(row, "secureshorturl", "shorturl"))
    code = row.get("path") or code
    if not code:
        raise InvalidFields([FieldError("path", "root", _ROOT)])
    max_clicks = number(first_value(row, "clickslimit"))
    return {
        "host": host or first_value(row, "domain", "hostname"),
        "originalUrl": row.get("originalurl"),
        "customCode": code,
        "title": truncated(row.get("title"), 200),
        "tags": split_list(row.get("tags")),
        "expiresAt": _time(first_value(row, "expiresat", "expireat")),
        "password": row.get("password"),
        "hasPassword": True if row.get("haspassword") in (True, "true") else None,
        "restrictions": None if max_clicks is None else {"maxClicks": max_clicks},
        "clickCount": number(first_value(row, "clicks", "totalclicks", "clickcount", "humanclicks")),
        "createdAt": _time(first_value(row, "createdat", "created", "creationdate", "datecreated")),
    }


def rebrandly(row: Row) -> Fields:
    """Links of Rebrandly's API (JSON), and the CSV files of its public exporters.

    API: `GET /v1/links`, https://developers.rebrandly.com/docs/link-entity, with `slashtag`, `destination`,
    `shortUrl`, `domain.fullName`, `title`, `tags`, `clicks` and `createdAt`.

    CSV: `id, createdAt, shortUrl, domain, slashtag, destination` of github.com/lmammino/rebrandly-links-export
    (src/index.js); `id, createdAt, shortUrl, destination` of github.com/simhskal/export-links-from-rebrandly
    (export.py); the keys of the API, with an unreadable `domain`, of github.com/slaveofcode/rebrandly-export-csv
    (index.js). No public source shows the header of the dashboard's own export. So this also reads the labels of its
    pages: `Short URL`, `Destination URL`, `Slashtag`, `Created at`.
    """
    host, code = host_and_code(row.get("shorturl"))
    code = row.get("slashtag") or code
    if not code:
        raise InvalidFields([FieldError("slashtag", "root", _ROOT)])
    domain = row.get("domain")
    if isinstance(domain, dict):
        domain = domain.get("fullName")
    return {
        "host": host or domain,
        "originalUrl": first_value(row, "destination", "destinationurl"),
        "customCode": code,
        "title": truncated(row.get("title"), 200),
        "description": truncated(row.get("description"), 500),
        "tags": _names(split_list(row.get("tags"))),
        "clickCount": number(first_value(row, "clicks", "totalclicks")),
        "createdAt": iso_time(first_value(row, "createdat", "created", "creationdate")),
    }


def _names(tags: Any) -> Any:
    if not isinstance(tags, list):
        return tags
    return [tag.get("name") if isinstance(tag, dict) else tag for tag in tags]


def _time(value: Any) -> Any:
    moment = number(value)
    if type(moment) is int:
        return iso_time(moment // 1000 if moment >= _FIRST_MILLISECONDS else moment)
    return iso_time(value)


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


_READERS: dict[Kind, Callable[[Any], Any]] = {
    Kind.FLAG: boolean,
    Kind.COUNT: number,
    Kind.CHOICE: number,
    Kind.LIST: split_cell,
    Kind.JSON: json_value,
}


def _value(row: Row, field: LinkField) -> Any:
    value = row.get(field.name.lower())
    read = _READERS.get(field.kind)
    return value if read is None else read(value)


def _own(row: Row) -> Fields:
    utm = row.get("utm") or {key: row.get(f"utm{key}") for key in UTM_KEYS}
    restrictions = row.get("restrictions") or {field.name: _value(row, field) for field in RESTRICTIONS}
    return {
        **{field.name: _value(row, field) for field in FIELDS},
        "host": row.get("domain"),
        "originalUrl": row.get("originalurl"),
        "shortCode": row.get("shortcode"),
        "aliases": split_cell(row.get("aliases")),
        "hasPassword": boolean(row.get("haspassword")),
        "utm": without_empty(utm) or None if isinstance(utm, dict) else utm,
        "restrictions": without_empty(restrictions) or None
        if isinstance(restrictions, dict)
        else restrictions,
        "clickCount": number(row.get("clickcount")),
        "createdAt": row.get("createdat"),
    }


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
