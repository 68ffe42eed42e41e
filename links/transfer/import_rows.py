"""Rows of an imported file, and how to read their cells as the fields of a link.

A row remembers which columns a layout has read. Every other column with a value becomes a warning, so that an import
never drops a value silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from common.http.urls import canonical_host
from common.rest.envelope import ResponseWarning
from links.destinations.utm import UTM_KEYS
from links.fields import RedirectType
from links.transfer.cells import number, split

Fields = dict[str, Any]

NOT_IMPORTED = "not_imported"
_NO_COUNTERPART = "This service has no counterpart; the value is left out."
_NOT_WEB = "Only http and https addresses can be destinations; this one is left out."
_NOTHING = frozenset({"", "false", "0", "no", "null"})
# Unix times of JavaScript are in milliseconds. In seconds, this is the year 5138.
_FIRST_MILLISECONDS = 100_000_000_000
_EQUIVALENTS = {303: RedirectType.FOUND, 307: RedirectType.FOUND, 308: RedirectType.PERMANENT}


@cache
def normalized_key(key: str) -> str:
    """Map ``created_at``, ``createdAt`` and ``Created at`` to one key."""
    return re.sub("[^a-z0-9]", "", key.lower())


class Row(dict[str, Any]):
    """The cells by their normalized keys. ``names`` has the names of the columns as the file spells them."""

    def __init__(self, cells: Iterable[tuple[str, Any]] = (), names: Mapping[str, str] | None = None) -> None:
        super().__init__(cells)
        self.names = {} if names is None else names
        self.warnings: list[ResponseWarning] = []
        self._read: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self._read.add(key)
        return super().get(key, default)

    def leave_out(self, key: str, message: str = _NO_COUNTERPART) -> None:
        self.warnings.append(ResponseWarning(self.names.get(key, key), NOT_IMPORTED, message))

    def confess(self, ignored: frozenset[str], reasons: Mapping[str, str]) -> None:
        """Warn about each column with a value that nothing has read, except those without a meaning for the link."""
        for key in self.keys() - self._read - ignored:
            if key and has_value(self[key]):
                self.leave_out(key, reasons.get(key, _NO_COUNTERPART))
        self.warnings.sort()


def has_value(value: Any) -> bool:
    return value.strip().lower() not in _NOTHING if isinstance(value, str) else bool(value)


def first_value(row: Row, *keys: str) -> Any:
    return next((value for value in list(map(row.get, keys)) if value not in (None, "")), None)


def iso_time(value: Any) -> Any:
    """Convert Unix seconds and database timestamps to ISO 8601. Anything else stays unchanged."""
    if type(value) is int and 0 <= value < 253_402_300_800:
        return datetime.fromtimestamp(value, UTC).isoformat()
    if isinstance(value, str):
        text = value.strip().removesuffix(" UTC")
        # MySQL's zero date: unknown.
        return None if text.startswith("0000-00-00") else text
    return value


def iso_time_of_digits(value: Any) -> Any:
    """Like ``iso_time``, but also convert milliseconds, and digits in a text."""
    moment = number(value)
    if type(moment) is int:
        return iso_time(moment // 1000 if moment >= _FIRST_MILLISECONDS else moment)
    return iso_time(value)


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


def tag_names(tags: Any) -> Any:
    """The names of tags that are objects, or texts."""
    items = split_list(tags)
    if not isinstance(items, list):
        return items
    return [tag.get("name") if isinstance(tag, dict) else tag for tag in items]


def truncated(value: Any, characters: int) -> Any:
    """Truncate a long descriptive text rather than refuse the link."""
    return value[:characters] if isinstance(value, str) else value


def without_empty(values: Fields) -> Fields:
    return {key: value for key, value in values.items() if value not in (None, "", [])}


def utm_of(row: Row) -> Fields | None:
    """The columns ``utm_source``, ``utmMedium`` and so on."""
    return without_empty({key: truncated(row.get(f"utm{key}"), 200) for key in UTM_KEYS}) or None


def redirect_type_of(row: Row, key: str) -> int | None:
    """301 or 302. The variants that keep the request's method become these."""
    value = row.get(key)
    status = number(value)
    if status in RedirectType.values:
        return int(status)
    if not has_value(value):
        return None
    if type(status) is int and (equivalent := _EQUIVALENTS.get(status)) is not None:
        row.leave_out(key, f"Redirects have the status 301 or 302; {status} becomes {equivalent.value}.")
        return equivalent.value
    row.leave_out(key)
    return None


def web_address(row: Row, key: str, value: Any) -> str | None:
    """The address of a column. One of another scheme, such as that of an app, is left out with a warning."""
    if not has_value(value):
        return None
    if isinstance(value, str) and re.match("https?://", value.strip(), re.IGNORECASE):
        return value.strip()
    row.leave_out(key, _NOT_WEB)
    return None


def rule_of(row: Row, key: str, kind: str, values: list[str], url: Any) -> Iterator[Fields]:
    """A rule that leads visitors to whom the condition applies to the address of a column, if it has one."""
    if (address := web_address(row, key, url)) is not None:
        yield {"url": address, "conditions": [{"type": kind, "values": values}]}


def os_rules(row: Row, **columns: str) -> list[Fields]:
    """Rules by operating system: the column of each."""
    return [
        rule for system, key in columns.items() for rule in rule_of(row, key, "os", [system], row.get(key))
    ]
