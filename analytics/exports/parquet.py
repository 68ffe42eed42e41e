"""Writes Parquet files. The format is a few structures of Thrift around the values, which are written as they are.

A library for it would be by far the largest dependency of the service. Reading the format is another matter, so the
tests have one.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from struct import pack
from typing import Any, NamedTuple

from analytics.exports.tables import Column, Row

# Readers work on one group at a time.
_GROUP_ROWS = 100_000
_MAGIC = b"PAR1"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Types of values, encodings and codecs of the format.
_BOOLEAN, _INT64, _BYTES = 0, 2, 6
_PLAIN, _RLE = 0, 3
_GZIP = 2
_OPTIONAL = 1
_PHYSICAL = {"text": _BYTES, "integer": _INT64, "flag": _BOOLEAN, "moment": _INT64}
_UTF8, _MICROSECONDS = 0, 10


class _Page(NamedTuple):
    content: bytes
    rows: int
    uncompressed: int


class ParquetWriter:
    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._pages: list[list[_Page]] = [[] for _ in columns]
        self._position = 0
        self._groups: list[bytes] = []
        self._rows = 0
        self._pending = 0

    def start(self) -> bytes:
        return self._counted(_MAGIC)

    def rows(self, rows: Sequence[Row]) -> bytes:
        if rows:
            for number, column in enumerate(self._columns):
                self._pages[number].append(_page(column, [row[number] for row in rows]))
            self._pending += len(rows)
        return self._group() if self._pending >= _GROUP_ROWS else b""

    def end(self) -> bytes:
        group = self._group() if self._pending else b""
        schema = [_struct((4, "schema"), (5, len(self._columns))), *map(_element, self._columns)]
        footer = _struct((1, 2), (2, schema), (3, _Long(self._rows)), (4, self._groups), (6, "shortener"))
        return group + footer + pack("<i", len(footer)) + _MAGIC

    def _group(self) -> bytes:
        chunks, content, size = [], [], 0
        for column, pages in zip(self._columns, self._pages, strict=True):
            written = b"".join(page.content for page in pages)
            uncompressed = sum(page.uncompressed for page in pages)
            chunk = _struct(
                (1, _PHYSICAL[column.type]), (2, [_PLAIN, _RLE]), (3, [column.name]), (4, _GZIP),
                (5, _Long(self._pending)), (6, _Long(uncompressed)), (7, _Long(len(written))),
                (9, _Long(self._position)),
            )  # fmt: skip
            chunks.append(_struct((2, _Long(self._position)), (3, chunk)))
            content.append(self._counted(written))
            size += uncompressed
        self._groups.append(_struct((1, chunks), (2, _Long(size)), (3, _Long(self._pending))))
        self._rows += self._pending
        self._pending = 0
        self._pages = [[] for _ in self._columns]
        return b"".join(content)

    def _counted(self, content: bytes) -> bytes:
        self._position += len(content)
        return content


def _element(column: Column) -> bytes:
    """The column in the schema, with its type in the old and in the new notation."""
    converted, logical = [], []
    if column.type == "text":
        converted, logical = [(6, _UTF8)], [(10, _struct((1, _struct())))]
    elif column.type == "moment":
        timestamp = _struct((1, True), (2, _struct((2, _struct()))))
        converted, logical = [(6, _MICROSECONDS)], [(10, _struct((8, timestamp)))]
    return _struct((1, _PHYSICAL[column.type]), (3, _OPTIONAL), (4, column.name), *converted, *logical)


def _page(column: Column, values: Sequence[Any]) -> _Page:
    present = [value for value in values if value is not None]
    levels = _bits([value is not None for value in values])
    # One run of single bits, in groups of eight.
    levels = _varint(len(levels) << 1 | 1) + levels
    content = pack("<i", len(levels)) + levels + _encoded(column, present)
    compressed = gzip.compress(content, compresslevel=1, mtime=0)
    data = _struct((1, len(values)), (2, _PLAIN), (3, _RLE), (4, _RLE))
    header = _struct((1, 0), (2, len(content)), (3, len(compressed)), (5, data))
    return _Page(header + compressed, len(values), len(header) + len(content))


def _encoded(column: Column, values: Sequence[Any]) -> bytes:
    if column.type == "flag":
        return _bits(values)
    if column.type == "moment":
        values = [(datetime.fromisoformat(value) - _EPOCH) // timedelta(microseconds=1) for value in values]
    if column.type in {"moment", "integer"}:
        return pack(f"<{len(values)}q", *values)
    texts = [value.encode() for value in values]
    return b"".join(part for text in texts for part in (pack("<i", len(text)), text))


def _bits(flags: Sequence[bool]) -> bytes:
    """The first flag is the lowest bit of the first byte."""
    digits = "".join("1" if flag else "0" for flag in reversed(flags))
    return int(digits or "0", 2).to_bytes((len(flags) + 7) // 8, "little")


# Thrift's compact protocol.


class _Long(int):
    """An integer of 64 bits."""


def _struct(*fields: tuple[int, Any]) -> bytes:
    """Fields in the order of their numbers, up to 15 apart. Bytes are a finished structure."""
    content, last = bytearray(), 0
    for number, value in fields:
        code, written = _value(value)
        content += bytes([(number - last) << 4 | code]) + written
        last = number
    return bytes(content) + b"\0"


def _value(value: Any) -> tuple[int, bytes]:
    """The code of the type, and the value, which a flag has in its code."""
    match value:
        case bool():
            return 1 if value else 2, b""
        case int():
            return 6 if isinstance(value, _Long) else 5, _varint(value << 1)
        case str():
            text = value.encode()
            return 8, _varint(len(text)) + text
        case bytes():
            return 12, value
        case _:
            written = [_value(item) for item in value]
            code = written[0][0] if written else 12
            size = len(written)
            head = bytes([size << 4 | code]) if size < 15 else bytes([0xF0 | code]) + _varint(size)
            return 9, head + b"".join(item for _, item in written)


def _varint(number: int) -> bytes:
    content = bytearray()
    while number > 0x7F:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    content.append(number)
    return bytes(content)
