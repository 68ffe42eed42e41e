"""docs/routing.md is true."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from links.routing.conditions import CONDITION_TYPES
from redirects.checks import ORDER

PAGE = (Path(__file__).parents[3] / "docs/routing.md").read_text()


def first_column(heading: str) -> list[str]:
    """The names in the first column of the first table below a heading."""
    rows = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0].splitlines()
    cells = [row.split("|")[1].partition(":")[0] for row in rows if row.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def test_the_page_lists_every_check_in_its_order() -> None:
    assert first_column("The order of decisions") == [*ORDER]


def test_the_page_lists_every_type_of_condition() -> None:
    assert {*first_column("Rules")} - {"type"} == {*CONDITION_TYPES}


def test_the_example_of_rules_works(
    make_link: Callable[..., dict[str, Any]], simulate: Callable[..., dict[str, Any]]
) -> None:
    example = orjson.loads(re.search(r'^    (\{"rules": .*?\]\}\]\})\n\n', PAGE, re.MULTILINE | re.DOTALL)[1])

    simulation = simulate(make_link("https://example.com/", **example), country="AT", language="de")

    assert simulation["outcome"]["location"] == "https://example.com/de"
    assert simulation["steps"][8]["detail"] in " ".join(PAGE.split())
