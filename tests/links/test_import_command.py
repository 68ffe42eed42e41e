from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link

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


def test_it_says_first_and_then_does(alice: NewAccount, file: Path) -> None:
    file.write_text("\ufeff" + CSV)
    verdicts = [
        "1: http://sho.rt/spring -> https://example.com/ä",
        "2: refused, code_reserved: The code admin is reserved.",
    ]
    assert run(file) == ([*verdicts, "1 of 2 links can be imported (own). --apply does it."], 1)
    assert Link.objects.count() == 0
    assert run(file, "--apply") == ([*verdicts, "1 of 2 links were imported (own)."], 1)
    link = Link.objects.select_related("counter").get()
    assert (link.owner, link.custom_code, link.counter.clicks) == (alice.user, "spring", 7)


def test_all_well_is_status_0(alice: NewAccount, file: Path) -> None:
    file.write_text("originalUrl\r\nhttps://example.com/\r\n")
    said, status = run(file)
    assert (said[0], status) == ("1: a new code -> https://example.com/", 0)
    assert run(file, "--apply")[1] == 0


def test_a_domain_and_a_format_can_be_named(alice: NewAccount, file: Path) -> None:
    Domain.objects.create(owner=alice.user, domain="go.example", host="go.example", status="active")
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
    said, _ = run(file)
    assert said[0] == "1: a new code -> https://example.com/"


@pytest.mark.parametrize(
    ("content", "arguments", "complaint"),
    [
        (b"", [], "content: There are no links in it."),
        (b"a,b\n1,2\n", [], "content: It is none of the known formats: .*"),
        (b"originalUrl\nhttps://example.com/\xff\n", [], "After row 0, the file is not UTF-8."),
        (
            b"originalUrl\nx\n",
            ["--domain", "hers.example"],
            "hers.example is no active domain of alice@example.com.",
        ),
        (None, [], ".*No such file.*"),
    ],
)
def test_what_cannot_be_done_is_said(
    alice: NewAccount, file: Path, content: bytes | None, arguments: list[str], complaint: str
) -> None:
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CommandError, match=f"^{complaint}$"):
        run(file, *arguments)


@pytest.mark.django_db
def test_an_owner_must_be_there(file: Path) -> None:
    with pytest.raises(CommandError, match=r"^There is no account nobody@example\.com\.$"):
        call_command("import_links", str(file), "--owner", "nobody@example.com")
