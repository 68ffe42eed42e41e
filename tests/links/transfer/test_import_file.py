"""The file of an import is read once, and its progress is known."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from links.transfer.import_files import ImportFile

LINES = ["originalUrl\n", *(f"https://example.com/{number}\n" for number in range(10_000))]
CONTENT = ("\ufeff" + "".join(LINES)).encode()


def test_the_bytes_read_grow_to_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_bytes(CONTENT)
    with ImportFile(path) as file:
        assert (file.size, file.read_bytes) == (len(CONTENT), 0)
        assert file.text.readline() == LINES[0]
        assert 0 < file.read_bytes < len(CONTENT)
        assert list(file.text) == LINES[1:]
        assert file.read_bytes == len(CONTENT)


def test_a_file_that_is_read_as_a_whole_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "links.json"
    path.write_bytes(CONTENT)
    with ImportFile(path) as file:
        assert file.text.read() == "".join(LINES)
        assert file.read_bytes == len(CONTENT)


def test_a_pipe_has_no_size_but_its_bytes_are_counted() -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, b"originalUrl\n")
        os.close(writer)
        with ImportFile(Path(f"/dev/fd/{reader}")) as file:
            assert (file.text.read(), file.size, file.read_bytes) == ("originalUrl\n", None, 12)
    finally:
        os.close(reader)


def test_a_missing_file_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ImportFile(tmp_path / "links.csv")
