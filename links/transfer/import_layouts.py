"""Layouts of this service's and other shorteners' exports: their columns, and how to read them as a link's fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from links.destinations.utm import UTM_KEYS
from links.fields import FIELDS, RESTRICTIONS, Kind, LinkField
from links.transfer import hosted_layouts
from links.transfer.cells import boolean, json_value, number
from links.transfer.import_rows import (
    Fields,
    Row,
    first_value,
    host_and_code,
    iso_time,
    rule_of,
    split_cell,
    split_list,
    truncated,
    without_empty,
)

OWN = "own"
# The reason in a file of refused rows, which may be imported again.
_ALWAYS_IGNORED = frozenset({"importerror"})


class Layout(NamedTuple):
    """``fields`` returns the fields of a creation, and ``host``: the link's former host. It may raise InvalidFields.

    A row has this layout if it has all columns of one of the ``signatures``. ``ignored`` are columns without a meaning
    for the link, and ``reasons`` say why a column is left out.
    """

    name: str
    signatures: tuple[frozenset[str], ...]
    fields: Callable[[Row], Fields]
    ignored: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = MappingProxyType({})

    def read(self, row: Row) -> Fields:
        """The fields with a value, and under ``warnings`` what the link loses."""
        fields = self.fields(row)
        row.confess(self.ignored | _ALWAYS_IGNORED, self.reasons)
        known = {key: value for key, value in fields.items() if value is not None and value != ""}
        return {**known, "warnings": row.warnings} if row.warnings else known

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
        "sealedPassword": row.get("sealedpassword"),
        "utm": without_empty(utm) or None if isinstance(utm, dict) else utm,
        "restrictions": without_empty(restrictions) or None
        if isinstance(restrictions, dict)
        else restrictions,
        "clickCount": number(row.get("clickcount")),
        "createdAt": row.get("createdat"),
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
        "startsAt": iso_time(meta.get("validSince")),
        "expiresAt": iso_time(meta.get("validUntil")),
        "forwardQuery": True if boolean(row.get("forwardquery")) is True else None,
        "rules": _device_rules(row) or None,
        "restrictions": None if max_clicks is None else {"maxClicks": max_clicks},
        "clickCount": number(summary.get("total", first_value(row, "visitscount", "visits"))),
        "createdAt": iso_time(first_value(row, "datecreated", "createdat")),
    }


def _device_rules(row: Row) -> list[Fields]:
    """The addresses of Shlink 3, before it had rules."""
    key = "devicelongurls"
    urls = row.get(key)
    if not isinstance(urls, dict):
        return []
    conditions = {"ios": ("os", "iOS"), "android": ("os", "Android"), "desktop": ("device", "desktop")}
    return [
        rule
        for name, (kind, value) in conditions.items()
        for rule in rule_of(row, key, kind, [value], urls.get(name))
    ]


_HAS_RULES = "The file does not contain the redirect rules of this link."


def _set(columns: str) -> frozenset[str]:
    return frozenset(columns.split())


def _signatures(*signatures: str) -> tuple[frozenset[str], ...]:
    return tuple(map(_set, signatures))


def _hosted(name: str, fields: Callable[[Row], Fields], *signatures: str) -> Layout:
    ignored, reasons = _set(hosted_layouts.IGNORED[name]), hosted_layouts.REASONS.get(name, {})
    return Layout(name, _signatures(*signatures), fields, ignored, reasons)


_BITLY_COLUMNS = ("link", "bitlink", "customlink", "custombitlink", "custombitlinks")
# The first matching layout applies. Short.io also has an originalUrl.
LAYOUTS = (
    _hosted("shortio", hosted_layouts.short_io, "originalurl path"),
    Layout(OWN, _signatures("originalurl"), _own, _set("id shorturl updatedat status")),
    _hosted("linkly", hosted_layouts.linkly, "fullurl slug url"),
    _hosted("tly", hosted_layouts.tly, "longurl shortid"),
    Layout("kutt", _signatures("address target"), _kutt, _set("id uuid updatedat link domainid reuse")),
    Layout(
        "shlink",
        _signatures("longurl shortcode", "longurl shorturl"),
        _shlink,
        reasons={"hasredirectrules": _HAS_RULES},
    ),
    _hosted(
        "bitly",
        hosted_layouts.bitly,
        *(
            f"{destination} {column}"
            for destination in ("longurl", "destinationurl")
            for column in _BITLY_COLUMNS
        ),
    ),
    Layout("yourls", _signatures("keyword url", "shorturl url timestamp"), _yourls, _set("ip")),
    _hosted("dub", hosted_layouts.dub, "shortlink destinationurl", "shortlink url", "link url", "key url"),
    _hosted(
        "rebrandly",
        hosted_layouts.rebrandly,
        *("slashtag destination", "shorturl destination", "shorturl destinationurl"),
    ),
)
AUTO = "auto"
NAMES = [layout.name for layout in LAYOUTS]
