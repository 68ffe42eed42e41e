"""What the exports of this service and of others call things, and what of it a link of ours can take over."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from links.cells import boolean, number, split

# A row with its keys as `plain_key` writes them.
Row = Mapping[str, Any]
Fields = dict[str, Any]

OWN = "own"

_UTM = ("source", "medium", "campaign", "term", "content")
_COUNTRIES = ("allowedCountries", "blockedCountries", "allowedDevices")


@cache
def plain_key(key: str) -> str:
    """What ``created_at``, ``createdAt`` and ``Created at`` have in common."""
    return re.sub("[^a-z0-9]", "", key.lower())


class Layout(NamedTuple):
    """``fields`` are those of a creation, and ``host``: where the link was."""

    name: str
    marks: tuple[frozenset[str], ...]
    fields: Callable[[Row], Fields]

    def is_of(self, keys: frozenset[str]) -> bool:
        return any(mark <= keys for mark in self.marks)


def _own(row: Row) -> Fields:
    utm = row.get("utm") or {key: row.get(f"utm{key}") for key in _UTM}
    restrictions = row.get("restrictions") or {
        "maxClicks": number(row.get("maxclicks")),
        **{name: _cell(row.get(name.lower())) for name in _COUNTRIES},
    }
    return {
        "host": row.get("domain"),
        "originalUrl": row.get("originalurl"),
        "shortCode": row.get("shortcode"),
        "customCode": row.get("customcode"),
        "aliases": _cell(row.get("aliases")),
        "title": row.get("title"),
        "description": row.get("description"),
        "tags": _cell(row.get("tags")),
        "isActive": boolean(row.get("isactive")),
        "expiresAt": row.get("expiresat"),
        "password": row.get("password"),
        "hasPassword": boolean(row.get("haspassword")),
        "utm": _given(utm) or None if isinstance(utm, dict) else utm,
        "restrictions": _given(restrictions) or None if isinstance(restrictions, dict) else restrictions,
        "redirectType": number(row.get("redirecttype")),
        "clickCount": number(row.get("clickcount")),
        "createdAt": row.get("createdat"),
    }


def _bitly(row: Row) -> Fields:
    host, code = _place(_first(row, "link", "bitlink", "id"))
    given = _list(_first(row, "custombitlinks", "custombitlink", "customlink"))
    custom = [_place(each) for each in given] if isinstance(given, list) else []
    codes = [each for each in (*(own for _, own in custom), code) if each]
    return {
        "host": custom[0][0] if custom else host,
        "originalUrl": _first(row, "longurl", "destinationurl"),
        "customCode": codes[0] if codes else None,
        "aliases": codes[1:],
        "title": _cropped(row.get("title"), 200),
        "tags": _list(row.get("tags")),
        "clickCount": number(_first(row, "clicks", "totalclicks", "engagements", "totalengagements")),
        "createdAt": moment(_first(row, "createdat", "created", "datecreated")),
    }


def _yourls(row: Row) -> Fields:
    host, code = _place(row.get("shorturl"))
    return {
        "host": host,
        "originalUrl": row.get("url"),
        "customCode": row.get("keyword") or code,
        "title": _cropped(row.get("title"), 200),
        "clickCount": number(row.get("clicks")),
        "createdAt": moment(row.get("timestamp")),
    }


def _kutt(row: Row) -> Fields:
    password = boolean(row.get("password"))
    return {
        "host": row.get("domain") or _place(row.get("link"))[0],
        "originalUrl": row.get("target"),
        "customCode": row.get("address"),
        "description": _cropped(row.get("description"), 500),
        "isActive": False if boolean(row.get("banned")) is True else None,
        "hasPassword": password if isinstance(password, bool) else None,
        "expiresAt": moment(row.get("expirein")),
        "clickCount": number(row.get("visitcount")),
        "createdAt": moment(row.get("createdat")),
    }


def _shlink(row: Row) -> Fields:
    host, code = _place(row.get("shorturl"))
    tags, meta, summary = row.get("tags"), row.get("meta"), row.get("visitssummary")
    meta, summary = meta if isinstance(meta, dict) else {}, summary if isinstance(summary, dict) else {}
    most = number(meta.get("maxVisits"))
    return {
        "host": row.get("domain") or host,
        "originalUrl": row.get("longurl"),
        "customCode": row.get("shortcode") or code,
        "title": _cropped(row.get("title"), 200),
        "tags": _list(tags, "|" if "|" in str(tags) else ","),
        "expiresAt": moment(meta.get("validUntil")),
        "restrictions": None if most is None else {"maxClicks": most},
        "clickCount": number(summary.get("total", _first(row, "visitscount", "visits"))),
        "createdAt": moment(_first(row, "datecreated", "createdat")),
    }


def _dub(row: Row) -> Fields:
    host, code = _place(_first(row, "shortlink", "link"))
    tags = _list(row.get("tags"))
    if isinstance(tags, list):
        tags = [each.get("name") if isinstance(each, dict) else each for each in tags]
    return {
        "host": row.get("domain") or host,
        "originalUrl": _first(row, "url", "destinationurl"),
        "customCode": row.get("key") or code,
        "title": _cropped(row.get("title"), 200),
        "description": _cropped(row.get("description"), 500),
        "tags": tags,
        "isActive": False if row.get("disabledat") else None,
        "expiresAt": moment(row.get("expiresat")),
        "password": row.get("password"),
        "clickCount": number(row.get("clicks")),
        "createdAt": moment(row.get("createdat")),
    }


def _marks(*marks: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(mark.split()) for mark in marks)


_OF_BITLY = ("link", "bitlink", "customlink", "custombitlink", "custombitlinks")
# The first that fits is meant.
LAYOUTS = (
    Layout(OWN, _marks("originalurl"), _own),
    Layout("kutt", _marks("address target"), _kutt),
    Layout("shlink", _marks("longurl shortcode", "longurl shorturl"), _shlink),
    Layout(
        "bitly",
        _marks(*(f"{address} {mark}" for address in ("longurl", "destinationurl") for mark in _OF_BITLY)),
        _bitly,
    ),
    Layout("yourls", _marks("keyword url", "shorturl url timestamp"), _yourls),
    Layout("dub", _marks("shortlink destinationurl", "shortlink url", "link url", "key url"), _dub),
)
AUTO = "auto"
NAMES = [layout.name for layout in LAYOUTS]


def moment(value: Any) -> Any:
    """Seconds since 1970, and times as databases write them, as ISO 8601; all else as it is."""
    if type(value) is int and 0 <= value < 253_402_300_800:
        return datetime.fromtimestamp(value, UTC).isoformat()
    if isinstance(value, str):
        text = value.strip().removesuffix(" UTC")
        # MySQL's way to say that it does not know.
        return None if text.startswith("0000-00-00") else text
    return value


def _first(row: Row, *keys: str) -> Any:
    return next((row[key] for key in keys if row.get(key) not in (None, "")), None)


def _place(address: Any) -> tuple[str | None, str | None]:
    """The host and the code of a short link."""
    if not isinstance(address, str) or not address:
        return None, None
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
    except ValueError:
        return None, address
    return parts.netloc.lower(), parts.path.strip("/")


def _cell(value: Any, separator: str = ",") -> Any:
    """Several in a cell, or what is a list already."""
    return split(value, separator) if isinstance(value, str) else value


def _list(value: Any, separator: str = ",") -> Any:
    """The same, where blanks are there for the eye."""
    found = _cell(value, separator)
    if not isinstance(found, list):
        return found
    texts = [each.strip() if isinstance(each, str) else each for each in found]
    return [each for each in texts if each != ""]


def _cropped(value: Any, characters: int) -> Any:
    """What only describes a link does not keep it from being imported."""
    return value[:characters] if isinstance(value, str) else value


def _given(values: Fields) -> Fields:
    return {key: value for key, value in values.items() if value not in (None, "", [])}
