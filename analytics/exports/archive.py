"""An archive of a file and its manifest, which says what the file has, and proves that it arrived whole.

The digest and the rows of a stream are known at its end, but the file has to remain one that every program reads: so
the manifest is not its last line. A second request would have to read everything again, and could see other clicks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from io import RawIOBase
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import orjson

from analytics.exports.formats import written
from analytics.exports.tables import Row, Table

MANIFEST = "manifest.json"


class _Pipe(RawIOBase):
    """What was written since the last `take`. The archive cannot go back in it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(part)

    def take(self) -> bytes:
        content = b"".join(self._parts)
        self._parts.clear()
        return content


def archived(table: Table, file_format: str, *, name: str, query: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the archive in chunks. ``query`` says in the manifest where the rows came from."""
    counted = {"rows": 0, "clicks": 0}
    digest, pipe = sha256(), _Pipe()

    def counting() -> Iterator[Sequence[Row]]:
        for rows in table.batches:
            counted["rows"] += len(rows)
            counted["clicks"] += table.clicks(rows)
            yield rows

    with ZipFile(pipe, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        # The size is unknown, and may exceed 4 GB.
        with archive.open(name, "w", force_zip64=True) as member:
            for chunk in written(table._replace(batches=counting()), file_format):
                digest.update(chunk)
                member.write(chunk)
                if content := pipe.take():
                    yield content
        manifest = {"file": name, **counted, "sha256": digest.hexdigest(), **query}
        archive.writestr(MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
    yield pipe.take()
