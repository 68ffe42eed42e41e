"""Spreadsheet cells. Text that a spreadsheet would run as a formula is escaped."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from io import StringIO
from typing import Any

import orjson

# Characters that start a formula in some spreadsheet: some ignore leading whitespace, some accept full-width forms.
_FORMULA = "\\s*[=+\\-@|%\uff1d\uff0b\uff0d\uff20\\x00]|[\t\r\n]"
_DANGEROUS = re.compile(f"'*(?:{_FORMULA})")
_GUARDED = re.compile(f"'+(?:{_FORMULA})")

_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})


def guard(text: str) -> str:
    """Escape text that a spreadsheet would run as a formula. `unguard` restores any text exactly."""
    return f"'{text}" if _DANGEROUS.match(text) else text


def unguard(text: str) -> str:
    return text[1:] if _GUARDED.match(text) else text


def joined(texts: Iterable[str]) -> str:
    """Join several texts in one cell, separated by commas. A text that contains commas is quoted."""
    row = list(texts)
    # `split` would parse an unquoted leading bracket as a JSON list.
    looks_like_json = bool(row) and row[0].startswith("[")
    line = StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL if looks_like_json else csv.QUOTE_MINIMAL).writerow(row)
    return line.getvalue().removesuffix("\r\n")


def split(cell: str, separator: str = ",") -> list[str]:
    """Reverse `joined`; also accepts a JSON list."""
    if cell.startswith("["):
        try:
            values = orjson.loads(cell)
        except orjson.JSONDecodeError:
            values = None
        if isinstance(values, list):
            return values
    return next(csv.reader(StringIO(cell, newline=""), delimiter=separator), [])


def number(value: Any) -> Any:
    """Convert digits to an integer. Anything else stays unchanged, for validation to reject."""
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,19}", value) else value


def boolean(value: Any) -> Any:
    if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    return bool(value) if value in (0, 1) and type(value) is int else value


def json_value(value: Any) -> Any:
    """Parse the JSON of a cell. Anything else stays unchanged, for validation to reject."""
    if not isinstance(value, str) or not value:
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
