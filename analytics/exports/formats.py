"""Writes tables as CSV, JSON lines or Parquet: the bytes of the start, of each batch of rows, and of the end.

All formats have the same columns, so that a program can change from one to another.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Protocol

import orjson

from analytics.exports.parquet import ParquetWriter
from analytics.exports.tables import Column, Row, Table
from links.transfer.cells import guard

JSON = "json"


class Writer(Protocol):
    def start(self) -> bytes: ...

    def rows(self, rows: Sequence[Row]) -> bytes: ...

    def end(self) -> bytes: ...


class CsvWriter:
    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns

    def start(self) -> bytes:
        return _lines([[column.name for column in self._columns]])

    def rows(self, rows: Sequence[Row]) -> bytes:
        return _lines([_cell(value) for value in row] for row in rows)

    def end(self) -> bytes:
        return b""


def _lines(rows: Any) -> bytes:
    page = StringIO(newline="")
    csv.writer(page).writerows(rows)
    return page.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return guard(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


class LinesWriter:
    def __init__(self, columns: Sequence[Column]) -> None:
        self._names = [column.name for column in columns]

    def start(self) -> bytes:
        return b""

    def rows(self, rows: Sequence[Row]) -> bytes:
        return b"".join(
            orjson.dumps(dict(zip(self._names, row, strict=True)), option=orjson.OPT_APPEND_NEWLINE)
            for row in rows
        )

    def end(self) -> bytes:
        return b""


FORMATS: Mapping[str, tuple[str, Callable[[Sequence[Column]], Writer]]] = {
    "csv": ("text/csv; charset=utf-8", CsvWriter),
    "jsonl": ("application/jsonl", LinesWriter),
    "parquet": ("application/vnd.apache.parquet", ParquetWriter),
}


def written(table: Table, file_format: str) -> Iterator[bytes]:
    """Yield the file in chunks, the first of which has the first rows: if nobody can read them, there is no file."""
    writer = FORMATS[file_format][1](table.columns)
    begun = writer.start()
    for rows in table.batches:
        yield begun + writer.rows(rows)
        begun = b""
    yield begun + writer.end()
