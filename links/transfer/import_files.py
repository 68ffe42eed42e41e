"""Reads the rows of an import: from a file or the content of a request, as CSV, JSON or JSON Lines."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import BufferedReader, FileIO, StringIO, TextIOWrapper
from itertools import chain, zip_longest
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TextIO

import orjson

from common.errors import FieldError, InvalidFields
from links.transfer.cells import unguard
from links.transfer.import_layouts import LAYOUTS, OWN, Layout
from links.transfer.import_rows import Fields, Row, normalized_key

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class ImportFile:
    """Context manager. ``text`` reads the file, or pipe, once. ``size`` in bytes; None for a pipe.

    Raises OSError if the file cannot be opened.
    """

    def __init__(self, path: Path, encoding: str = "utf-8-sig") -> None:
        self.size = path.stat().st_size if path.is_file() else None
        self._file = _CountingFile(path)
        self.text: TextIO = TextIOWrapper(BufferedReader(self._file), encoding=encoding, newline="")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.text.close()

    @property
    def read_bytes(self) -> int:
        """Bytes read so far, a little ahead of the rows."""
        return self._file.read_bytes


class _CountingFile(FileIO):
    """Counts what it reads: a pipe has no position."""

    read_bytes = 0

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = super().readinto(buffer)
        self.read_bytes += count or 0
        return count

    def readall(self) -> bytes:
        content = super().readall()
        self.read_bytes += len(content or b"")
        return content


_SEPARATORS = ",;\t"
# Keys under which a single JSON document contains the links, or visits.
_CONTAINER_KEYS = ("shortUrls", "visits", "links", "urls", "data", "result", "results")


class Unreadable(InvalidFields):
    """The whole file is unreadable; ``code`` gives the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__([FieldError("content", code, message)])


class Source(NamedTuple):
    """Rows with the fields of a creation, ``host`` and ``warnings``. An error takes the place of an unreadable row."""

    layout: str
    rows: Iterator[Fields | InvalidFields]


def read(file: TextIO, layout: str | None = None) -> Source:
    """Raises Unreadable if the file has no rows or an unknown layout."""
    rows, is_json = raw_rows(file)
    row = next(rows, None)
    if row is None:
        raise Unreadable("empty", "The file contains no links.")
    if layout is not None:
        chosen = _layout_named(layout)
    elif isinstance(row, InvalidFields):
        raise Unreadable(row.errors[0].code, row.errors[0].message)
    else:
        chosen = _detected_layout(frozenset(row))
    if chosen.name == OWN and not is_json:
        rows = map(_unguarded, rows)
        row = _unguarded(row)
    return Source(chosen.name, (_fields(chosen, raw) for raw in chain([row], rows)))


def raw_rows(file: TextIO) -> tuple[Iterator[Row | InvalidFields], bool]:
    """Return the rows, and whether the file is JSON."""
    first = _first_line(file)
    if first.lstrip()[:1] in ("{", "["):
        return _json_rows(first, file), True
    return _csv_rows(first, file), False


def _unguarded(row: Row | InvalidFields) -> Row | InvalidFields:
    """Remove the escaping of formulas from each cell."""
    if isinstance(row, InvalidFields):
        return row
    return Row(((name, unguard(cell)) for name, cell in row.items()), row.names)


def _fields(layout: Layout, row: Row | InvalidFields) -> Fields | InvalidFields:
    if isinstance(row, InvalidFields):
        return row
    try:
        return layout.read(row)
    except InvalidFields as refusal:
        return refusal


def _layout_named(name: str) -> Layout:
    return next(layout for layout in LAYOUTS if layout.name == name)


def _detected_layout(keys: frozenset[str]) -> Layout:
    for layout in LAYOUTS:
        if layout.matches(keys):
            return layout
    raise Unreadable(
        "unknown_format",
        "No column with destinations found. Call it originalUrl.",
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
        columns = next(reader, [])
        keys = [normalized_key(column) for column in columns]
        names = dict(zip(keys, columns, strict=True))
        for cells in reader:
            if any(cells[len(keys) :]):
                yield _bad_row("This row has more cells than the first one.")
            elif any(cells):
                yield Row(zip_longest(keys, cells[: len(keys)], fillvalue=""), names)
    except csv.Error as error:
        yield _bad_row(f"Invalid CSV from this row on: {error}.")


def _json_rows(first: str, file: TextIO) -> Iterator[Row | InvalidFields]:
    """Each line is a document, or the whole file is one document."""
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
    for link in [document] if links is None else links:
        if isinstance(link, InvalidFields):
            yield link
        elif isinstance(link, dict):
            names = {normalized_key(key): key for key, value in link.items() if value is not None}
            yield Row(((key, link[name]) for key, name in names.items()), names)
        else:
            yield _bad_row("Expected a JSON object.")


def _links_in(document: Any, depth: int = 3) -> list[Any] | None:
    """Return the list of links; None if the document is a link itself."""
    if isinstance(document, list):
        return document
    if isinstance(document, dict) and depth:
        for key in _CONTAINER_KEYS:
            nested = document.get(key)
            if isinstance(nested, list):
                return nested
            if isinstance(nested, dict):
                # YOURLS uses an object with numbered keys: link_1, link_2.
                deeper = _links_in(nested, depth - 1)
                return list(nested.values()) if deeper is None else deeper
    return None


def text(content: str) -> TextIO:
    """Wrap a text as a file without newline translation."""
    return StringIO(content, newline="")


def _bad_row(message: str) -> InvalidFields:
    return InvalidFields([FieldError("row", "unreadable", message)])
