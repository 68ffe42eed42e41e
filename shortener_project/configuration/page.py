"""python -m shortener_project.configuration.page: write docs/configuration.md from the table of variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shortener_project.configuration.declaration import Group, Variable
from shortener_project.configuration.variables import GROUPS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"

_INTRODUCTION = """\
# Configuration

Environment variables configure the service; the defaults suit a trial on one machine. A value that cannot be parsed
stops the start with a message; `manage.py check --deploy` reports risky combinations. In parentheses are the possible
values and, after a semicolon, the default.

This page is generated: edit `shortener_project/configuration/variables.py` and run `make docs`.
"""


def render() -> str:
    return "\n".join([_INTRODUCTION, *map(_group, GROUPS)])


def _group(group: Group) -> str:
    return f"## {group.title}\n\n" + "".join(map(_entry, group.variables))


def _entry(variable: Variable[Any]) -> str:
    default = f"; {variable.default}" if variable.default else ""
    return f"- **`{variable.name}`** ({variable.values}{default}): {variable.meaning}\n"


if __name__ == "__main__":
    PAGE.write_text(render())
