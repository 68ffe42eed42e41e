from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from accounts.services import NewAccount
from common.errors import ServiceError
from domains.models import Domain
from links.bulk import creation
from links.management.commands import import_links
from links.models import Code, Link
from links.storage.insert import Draft, Refusals
from links.transfer import imports

CSV = "originalUrl,customCode,clickCount\nhttps://example.com/ä,spring,7\nhttps://example.com/,admin,\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "links.csv"


def run(*arguments: str | Path) -> tuple[list[str], int]:
    output, status = StringIO(), 0
    try:
        call_command("import_links", *map(str, arguments), "--owner", "Alice@example.com", stdout=output)
    except SystemExit as end:
        status = int(end.code or 0)
    return output.getvalue().splitlines(), status


def test_a_dry_run_reports_and_apply_imports(alice: NewAccount, file: Path) -> None:
    file.write_text("\ufeff" + CSV)
    verdicts = [
        "1: http://sho.rt/spring -> https://example.com/ä",
        "2: refused, code_reserved: The code admin is reserved.",
    ]
    assert run(file) == ([*verdicts, "1 of 2 links can be imported (own). Use --apply to import them."], 1)
    assert Link.objects.count() == 0
    assert run(file, "--apply") == ([*verdicts, "1 of 2 links were imported (own)."], 1)
    link = Link.objects.select_related("counter").get()
    assert (link.owner, link.custom_code, link.counter.clicks) == (alice.workspace, "spring", 7)


def test_exit_status_is_0_if_all_rows_succeed(alice: NewAccount, file: Path) -> None:
    file.write_text("originalUrl\r\nhttps://example.com/\r\n")
    output, status = run(file)
    assert (output[0], status) == ("1: a new code -> https://example.com/", 0)
    assert run(file, "--apply")[1] == 0


def test_a_domain_and_a_format_can_be_named(alice: NewAccount, file: Path) -> None:
    Domain.objects.create(owner=alice.workspace, domain="go.example", host="go.example", status="active")
    file.write_text("url,keyword,clicks\nhttps://example.com/,spring,3\n")
    run(file, "--apply", "--format", "yourls", "--domain", "Go.example")
    assert str(Link.objects.get().domain) == "go.example"


@pytest.mark.parametrize(
    "lines",
    [
        ["{", '"originalUrl":', '"https://example.com/"', "}"],
        ['{"originalUrl":"https://example.com/"}', "{"],
    ],
)
def test_json_is_read_as_a_whole_or_line_by_line(alice: NewAccount, file: Path, lines: list[str]) -> None:
    file.write_text("\n".join(lines))
    output, _ = run(file)
    assert output[0] == "1: a new code -> https://example.com/"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "content: The file contains no links."),
        (b"a,b\n1,2\n", "content: No column with destinations found. Call it originalUrl."),
        (
            b"originalUrl\nhttps://example.com/\xff\n",
            "The file has another encoding after row 0. Name it, such as --encoding cp1252.",
        ),
    ],
)
def test_errors_in_a_file_are_reported(alice: NewAccount, file: Path, content: bytes, complaint: str) -> None:
    file.write_bytes(content)
    with pytest.raises(CommandError, match=f"^{complaint}$"):
        run(file)


def test_a_file_of_excel_is_read_in_its_encoding(alice: NewAccount, file: Path) -> None:
    file.write_bytes("originalUrl;title\nhttps://example.com/;Frühling\n".encode("cp1252"))
    run(file, "--apply", "--encoding", "cp1252")
    assert Link.objects.get().title == "Frühling"


def test_a_link_that_loses_its_host_or_a_column_says_so(alice: NewAccount, file: Path) -> None:
    file.write_text('{"shortLink":"https://dub.sh/a","url":"https://example.com/","rewrite":true}')
    assert run(file)[0][0] == (
        "1: http://sho.rt/a -> https://example.com/ (was on dub.sh)"
        " [rewrite: Links are not cloaked; visitors see the address of the destination.]"
    )


# Continuing, and Ctrl-C


def rows_of(count: int) -> str:
    return "originalUrl,customCode\n" + "".join(
        f"https://example.com/{number},code{number}\n" for number in range(1, count + 1)
    )


def test_an_import_can_start_at_a_row(alice: NewAccount, file: Path) -> None:
    file.write_text(rows_of(3))
    output, status = run(file, "--apply", "--from-row", "3")
    assert (output, status) == (
        ["3: http://sho.rt/code3 -> https://example.com/3", "1 of 1 links were imported (own)."],
        0,
    )
    assert run(file, "--from-row", "9")[0] == [
        "0 of 0 links can be imported (own). Use --apply to import them."
    ]


@pytest.mark.parametrize("row", ["0", "-1"])
def test_a_row_below_1_is_refused(alice: NewAccount, file: Path, row: str) -> None:
    file.write_text(rows_of(1))
    with pytest.raises(CommandError, match=r"^--from-row must be at least 1\.$"):
        run(file, f"--from-row={row}")


def test_ctrl_c_finishes_the_batch_and_says_how_to_continue(
    alice: NewAccount, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "MAX_ITEMS", 2)
    monkeypatch.setattr(import_links, "MAX_ITEMS", 2)
    file.write_text(rows_of(7))
    real, calls = imports.store_drafts, []

    def interrupted(
        owner: User, drafts: Sequence[Draft | ServiceError], **options: Any
    ) -> list[Draft | ServiceError]:
        calls.append(len(drafts))
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return real(owner, drafts, **options)

    monkeypatch.setattr(imports, "store_drafts", interrupted)
    output, status = run(file, "--apply")
    assert (output[-1], status) == (
        "Interrupted after row 4. Earlier rows are finished."
        " Run the same command with --from-row 5 to continue.",
        130,
    )
    assert sorted(Link.objects.values_list("custom_code", flat=True)) == ["code1", "code2", "code3", "code4"]
    monkeypatch.setattr(imports, "store_drafts", real)
    output, status = run(file, "--apply", "--from-row", "5")
    assert (output[-1], status) == ("3 of 3 links were imported (own).", 0)
    assert Link.objects.count() == 7


def test_a_second_ctrl_c_stops_at_once_and_leaves_whole_batches(
    alice: NewAccount, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "MAX_ITEMS", 2)
    monkeypatch.setattr(import_links, "MAX_ITEMS", 2)
    file.write_text(rows_of(4))
    real, calls = creation.insert_links, []

    def interrupted(drafts: Mapping[int, Draft], owner_id: int) -> Refusals:
        refused = real(drafts, owner_id)
        calls.append(refused)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return refused

    monkeypatch.setattr(creation, "insert_links", interrupted)
    output, status = run(file, "--apply")
    assert (output[-1], status) == (
        "Interrupted after row 2. The last batch is stored as a whole or not at all."
        " Run the same command with --from-row 3 to continue."
        " Rows without a code may then be imported twice; check the last 2.",
        130,
    )
    assert Link.objects.count() == 2
    assert Code.objects.filter(kind="custom").count() == 2


def test_a_pipe_is_read_once(alice: NewAccount) -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, CSV.encode())
        os.close(writer)
        assert run(f"/dev/fd/{reader}")[0][-1] == (
            "1 of 2 links can be imported (own). Use --apply to import them."
        )
    finally:
        os.close(reader)
