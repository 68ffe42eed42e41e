"""Cells of spreadsheets: what is written there is text, and some text would be a formula."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from io import StringIO
from typing import Any

import orjson

# What spreadsheets take for the beginning of a formula: some after blanks, and the wide ones where people type those.
_FORMULA = "\\s*[=+\\-@|%\uff1d\uff0b\uff0d\uff20\\x00]|[\t\r\n]"
_DANGEROUS = re.compile(f"'*(?:{_FORMULA})")
_GUARDED = re.compile(f"'+(?:{_FORMULA})")

_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})


def guard(text: str) -> str:
    """Text that no spreadsheet takes for a formula. `unguard` gives back what it was, whatever it was."""
    return f"'{text}" if _DANGEROUS.match(text) else text


def unguard(text: str) -> str:
    return text[1:] if _GUARDED.match(text) else text


def joined(texts: Iterable[str]) -> str:
    """Several in one cell, separated by commas; those that hold commas are in quotes."""
    row = list(texts)
    # What begins like a JSON list would be read as one.
    looks_like_json = bool(row) and row[0].startswith("[")
    line = StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL if looks_like_json else csv.QUOTE_MINIMAL).writerow(row)
    return line.getvalue().removesuffix("\r\n")


def split(cell: str, separator: str = ",") -> list[str]:
    """The opposite, also of a JSON list."""
    if cell.startswith("["):
        try:
            found = orjson.loads(cell)
        except orjson.JSONDecodeError:
            found = None
        if isinstance(found, list):
            return found
    return next(csv.reader(StringIO(cell, newline=""), delimiter=separator), [])


def number(value: Any) -> Any:
    """An integer if it can be one; else as it is, for the rules to refuse."""
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,19}", value) else value


def boolean(value: Any) -> Any:
    if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    return bool(value) if value in (0, 1) and type(value) is int else value
