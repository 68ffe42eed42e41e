"""Reads values of other shorteners' exports: times, addresses, lists and texts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from common.http.urls import canonical_host
from links.transfer.cells import split

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
