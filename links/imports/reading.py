"""From a file to rows, one after the other: CSV, JSON or lines of JSON, in any of the layouts."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import chain, zip_longest
from typing import Any, NamedTuple, TextIO

import orjson

from common.errors import FieldError, InvalidFields
from links.cells import unguard
from links.imports.layouts import LAYOUTS, OWN, Fields, Layout, Row, plain_key

_SEPARATORS = ",;\t"
# Where exports that are one document have their links.
_NESTS = ("shortUrls", "links", "urls", "data", "result", "results")


class Unreadable(InvalidFields):
    """The file as a whole; ``code`` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__([FieldError("content", code, message)])


class Source(NamedTuple):
    """Rows with the fields of a creation, and ``host``. What cannot be read of them says so in its place."""

    layout: str
    rows: Iterator[Fields | InvalidFields]


def read(file: TextIO, layout: str | None = None) -> Source:
    """Raises Unreadable, when it is not known what the rows mean."""
    first = _first_line(file)
    is_json = first.lstrip()[:1] in ("{", "[")
    rows = _json_rows(first, file) if is_json else _csv_rows(first, file)
    row = next(rows, None)
    if row is None:
        raise Unreadable("empty", "There are no links in it.")
    if layout is not None:
        chosen = _named(layout)
    elif isinstance(row, InvalidFields):
        raise Unreadable(row.errors[0].code, row.errors[0].message)
    else:
        chosen = _recognised(frozenset(row))
    if chosen.name == OWN and not is_json:
        rows = map(_unguarded, rows)
        row = _unguarded(row)
    return Source(chosen.name, (_fields(chosen, each) for each in chain([row], rows)))


def _unguarded(row: Row | InvalidFields) -> Row | InvalidFields:
    """As it was before a spreadsheet was kept from taking it for a formula."""
    if isinstance(row, InvalidFields):
        return row
    return {name: unguard(cell) for name, cell in row.items()}


def _fields(layout: Layout, row: Row | InvalidFields) -> Fields | InvalidFields:
    if isinstance(row, InvalidFields):
        return row
    found = layout.fields(row)
    return {key: value for key, value in found.items() if value is not None and value != ""}


def _named(name: str) -> Layout:
    return next(layout for layout in LAYOUTS if layout.name == name)


def _recognised(keys: frozenset[str]) -> Layout:
    for layout in LAYOUTS:
        if layout.is_of(keys):
            return layout
    raise Unreadable(
        "unknown_format",
        "It is none of the known formats: the first row names none of their columns. An originalUrl is the least.",
    )


def _first_line(file: TextIO) -> str:
    line = file.readline().removeprefix("\ufeff")
    while line and not line.strip():
        line = file.readline()
    return line


def _csv_rows(first: str, file: TextIO) -> Iterator[Row | InvalidFields]:
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(chain([first], file), delimiter=separator)
    try:
        names = [plain_key(name) for name in next(reader, [])]
        for cells in reader:
            if any(cells[len(names) :]):
                yield _bad_row("This row has more cells than the first one.")
            elif any(cells):
                yield dict(zip_longest(names, cells[: len(names)], fillvalue=""))
    except csv.Error as error:
        yield _bad_row(f"From here on it is no CSV: {error}.")


def _json_rows(first: str, file: TextIO) -> Iterator[Row | InvalidFields]:
    """Each line is a document, or all of them are one."""
    document = _parsed(first)
    if isinstance(document, InvalidFields):
        document = _parsed(first + file.read())
        if isinstance(document, InvalidFields):
            raise Unreadable("invalid_json", document.errors[0].message)
    yield from _rows_of(document)
    for line in file:
        if line.strip():
            yield from _rows_of(_parsed(line))


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return _bad_row(f"This is not valid JSON: {error}."[:200])


def _rows_of(document: Any) -> Iterator[Row | InvalidFields]:
    links = _links_in(document)
    for each in [document] if links is None else links:
        if isinstance(each, InvalidFields):
            yield each
        elif isinstance(each, dict):
            yield {plain_key(key): value for key, value in each.items() if value is not None}
        else:
            yield _bad_row("This is no object.")


def _links_in(document: Any, depth: int = 3) -> list[Any] | None:
    """None for what is a link itself."""
    if isinstance(document, list):
        return document
    if isinstance(document, dict) and depth:
        for nest in _NESTS:
            inner = document.get(nest)
            if isinstance(inner, list):
                return inner
            if isinstance(inner, dict):
                # YOURLS numbers them: link_1, link_2.
                deeper = _links_in(inner, depth - 1)
                return list(inner.values()) if deeper is None else deeper
    return None


def text(content: str) -> TextIO:
    """To be read as a file is that was opened with its line ends as they are."""
    return StringIO(content, newline="")


def _bad_row(message: str) -> InvalidFields:
    return InvalidFields([FieldError("row", "unreadable", message)])
