"""The front end divides a file into the same rows as the service reads."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from dashboard.files import FRONT
from links.transfer.import_files import raw_rows, text
from testing.nodejs import node

HEAD = "originalUrl,title\n"
FILES = {
    "plain": HEAD + "https://example.com/1,One\nhttps://example.com/2,Two\n",
    "no last line break": HEAD + "https://example.com/1,One",
    "windows": HEAD.replace("\n", "\r\n") + "https://example.com/1,One\r\nhttps://example.com/2,Two\r\n",
    "old mac": "originalUrl,title\rhttps://example.com/1,One\rhttps://example.com/2,Two\r",
    "semicolons": "originalUrl;title\nhttps://example.com/1;a,b\nhttps://example.com/2;c\n",
    "tabs": "originalUrl\ttitle\nhttps://example.com/1\ta,b;c\n",
    "line breaks in cells": HEAD + 'https://example.com/1,"a\nb"\nhttps://example.com/2,"c\r\nd"\n',
    "separators in cells": HEAD + '"https://example.com/1","a,b"\nhttps://example.com/2,c\n',
    "escaped quotes": HEAD + 'https://example.com/1,"say ""a\nb"""\nhttps://example.com/2,c\n',
    "quotes within cells": HEAD + 'https://example.com/1,5" screen\nhttps://example.com/2,6" screen\n',
    "text after quotes": HEAD + 'https://example.com/1,"a"b"\nhttps://example.com/2,c\n',
    "unclosed quote": HEAD + 'https://example.com/1,"a\nhttps://example.com/2,b\n',
    "empty rows": HEAD + '\n,\nhttps://example.com/1,One\n"",""\n\nhttps://example.com/2,Two\n\n',
    "leading empty lines": "\n  \n" + HEAD + "https://example.com/1,One\n",
    "unicode": HEAD + "https://example.com/1,Straße 🚀\nhttps://example.com/2,日本\n",
    "only a header": HEAD,
    "JSON array": '[{"originalUrl": "https://example.com/1"},\n {"originalUrl": "https://example.com/2"}]',
    "JSON lines": '{"originalUrl": "https://example.com/1"}\n\n{"originalUrl": "https://example.com/2"}\n',
    "JSON line": '{"originalUrl": "https://example.com/1"}',
}
SCRIPT = """
import { readFileSync } from "node:fs";
import { batches, tableOf } from "./rows.mjs";
const files = JSON.parse(readFileSync("files.json", "utf8"));
const divided = Object.entries(files).map(([name, content]) => {
    const { rows, join, isWhole } = tableOf(content);
    const single = [...batches([...rows.keys()], rows, { rows: 1, characters: 1e6 })];
    return [name, { isWhole, pieces: single.map(part => join(part.map(position => rows[position]))) }];
});
console.log(JSON.stringify(Object.fromEntries(divided)));
"""


def divide(files: dict[str, str], folder: Path) -> dict[str, dict[str, object]]:
    """Each file in pieces of one row."""
    (folder / "rows.mjs").write_text((FRONT / "pages/import/rows.js").read_text())
    (folder / "files.json").write_text(json.dumps(files))
    (folder / "divide.mjs").write_text(SCRIPT)
    done = node(folder / "divide.mjs", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    return divide(FILES, tmp_path_factory.mktemp("rows"))


def rows_of(content: str) -> list[object]:
    rows, _ = raw_rows(text(content))
    return [row if isinstance(row, dict) else str(row) for row in rows]


@pytest.mark.parametrize("name", FILES)
def test_pieces_of_one_row_have_the_rows_of_the_file(
    name: str, divided: dict[str, dict[str, object]]
) -> None:
    pieces = divided[name]["pieces"]
    assert isinstance(pieces, list)
    whole = rows_of(FILES[name])
    assert [rows_of(piece) for piece in pieces] == [[row] for row in whole]


def test_object_with_links_is_not_divided(tmp_path: Path) -> None:
    content = json.dumps({"links": [{"long_url": "https://example.com/"}] * 3})
    [answer] = divide({"bitly": content}, tmp_path).values()
    assert answer == {"isWhole": True, "pieces": [content]}


def test_parts_have_at_most_so_many_characters(tmp_path: Path) -> None:
    (tmp_path / "rows.mjs").write_text((FRONT / "pages/import/rows.js").read_text())
    (tmp_path / "batches.mjs").write_text(
        'import { batches } from "./rows.mjs";\n'
        'const rows = ["aaaa", "bb", "cc", "ddddddddd", "e"];\n'
        "console.log(JSON.stringify([...batches([0, 1, 2, 3, 4], rows, { rows: 2, characters: 6 })]));\n"
    )
    assert json.loads(node(tmp_path / "batches.mjs", cwd=tmp_path).stdout) == [[0, 1], [2], [3], [4]]


def test_thousand_rows_of_a_spreadsheet(tmp_path: Path) -> None:
    file = StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["originalUrl", "title"])
    writer.writerows([f"https://example.com/{row}", f'"{row}",\n;\t'] for row in range(1000))
    [answer] = divide({"file": file.getvalue()}, tmp_path).values()
    pieces = answer["pieces"]
    assert isinstance(pieces, list)
    assert [rows_of(piece) for piece in pieces] == [[row] for row in rows_of(file.getvalue())]
