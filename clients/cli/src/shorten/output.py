"""What the program prints: tables for people, lines with tabs for pipes, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

# rich knows NO_COLOR, and writes no colours into pipes.
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def is_terminal() -> bool:
    return sys.stdout.isatty()


def line(text: str) -> None:
    """Exactly this text: no wrapping and no markup."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """For people, on stderr."""
    err.print(Text(text))


def json_line(value: Any) -> None:
    line(json.dumps(value, ensure_ascii=False))


def json_text(value: Any) -> None:
    line(json.dumps(value, ensure_ascii=False, indent=2))


def plain(value: Any) -> str:
    """One cell: no tab or line break of a value breaks the lines of a pipe, and no control character acts in a
    terminal.
    """
    if value is None:
        return ""
    if isinstance(value, list):
        text = ", ".join(map(plain, value))
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "".join(character if character.isprintable() else " " for character in text)


def rows(names: list[str], lines: Iterable[list[Any]]) -> None:
    """A table in a terminal. Into a pipe, each row goes as soon as it is there."""
    if not is_terminal():
        for cells in lines:
            line("\t".join(map(plain, cells)))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for number, name in enumerate(names):
        table.add_column(name, overflow="ellipsis", no_wrap=number == 0)
    for cells in lines:
        table.add_row(*(Text(plain(cell)) for cell in cells))
    Console(highlight=False).print(table)


def properties(values: dict[str, Any]) -> None:
    width = max(map(len, values), default=0)
    for name, value in values.items():
        line(f"{name.ljust(width)}  {plain(value)}" if is_terminal() else f"{name}\t{plain(value)}")


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Progress]:
    """A bar on stderr, only if that is a terminal."""
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    with Progress(*columns, console=err, transient=True, disable=not sys.stderr.isatty()) as bar:
        bar.add_task(label, total=total)
        yield bar
