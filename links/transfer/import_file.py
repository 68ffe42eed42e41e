"""A file to import, and how much of it has been read."""

from __future__ import annotations

from io import BufferedReader, FileIO, TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class ImportFile:
    """Context manager. ``text`` reads the file, or pipe, once. ``size`` in bytes; None for a pipe.

    Raises OSError if the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.size = path.stat().st_size if path.is_file() else None
        self._file = _CountingFile(path)
        # utf-8-sig: a byte order mark is not part of the first column name.
        self.text: TextIO = TextIOWrapper(BufferedReader(self._file), encoding="utf-8-sig", newline="")

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
