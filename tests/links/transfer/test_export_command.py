"""`manage.py export_links`."""

from __future__ import annotations

import signal
import stat
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.management.commands import export_links
from tests.links.exports import export

MakeLink = Callable[..., dict[str, Any]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "links.out"


def run(file: Path, *arguments: str) -> tuple[str, int]:
    output, status = StringIO(), 0
    try:
        call_command("export_links", str(file), "--owner", "Alice@example.com", *arguments, stdout=output)
    except SystemExit as end:
        status = int(end.code or 0)
    return output.getvalue(), status


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_the_file_is_that_of_the_api_and_private(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, file: Path, file_format: str
) -> None:
    for number in range(3):
        make_link(f"https://example.com/{number}")
    strange_api.post("/api/urls", {"originalUrl": "https://example.com/hers"})
    assert run(file, "--format", file_format) == (f"{file}: 3 links.\n", 0)
    assert file.read_bytes().decode() == export(api, format=file_format)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_csv_is_the_default_and_an_account_without_links_gets_the_header(
    api: APIClient, alice: NewAccount, file: Path
) -> None:
    file.write_text("replaced")
    assert run(file) == (f"{file}: 0 links.\n", 0)
    assert file.read_bytes().decode() == export(api)


def test_ctrl_c_leaves_the_former_file(
    make_link: MakeLink, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_link()
    file.write_text("former")

    def interrupted(*args: Any, **options: Any) -> Iterator[bytes]:
        yield b"half"
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(export_links, "export_links", interrupted)
    assert run(file) == (f"Interrupted. {file} is unchanged. Run the same command to export again.\n", 130)
    assert file.read_text() == "former"
    assert list(file.parent.iterdir()) == [file]


def test_errors_are_reported(alice: NewAccount, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "links.csv"
    with pytest.raises(CommandError, match=r"^Cannot write .*: No such file or directory\.$"):
        run(missing)
    with pytest.raises(CommandError, match=r"^There is no account nobody@example\.com\.$"):
        call_command("export_links", str(tmp_path / "links.csv"), "--owner", "nobody@example.com")
