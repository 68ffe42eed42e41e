"""The page of benchmarks: generated from the committed results, each of which names what was run, where and when."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from bench import __main__ as programs
from bench import report
from bench.catalog import SUBJECTS, TITLES, WANTED
from bench.harness import results
from bench.harness.results import COMMITTED, Result


def test_the_page_is_the_generated_one() -> None:
    assert report.PAGE.read_text() == report.render(results.read(COMMITTED)), "Run `make docs`."


def test_every_committed_result_belongs_to_a_row_and_says_how_it_was_measured() -> None:
    committed = results.read(COMMITTED)
    assert committed.keys() <= TITLES.keys()
    incomplete = [row.key for row in committed.values() if not all(row)]
    assert incomplete == []
    assert [
        row.date for row in committed.values() if not re.fullmatch(r"(by )?\d{4}-\d\d-\d\d", row.date)
    ] == []


def test_a_key_belongs_to_one_subject() -> None:
    assert len(TITLES) == sum(map(len, SUBJECTS.values()))


def test_a_target_belongs_to_a_row() -> None:
    assert WANTED.keys() <= TITLES.keys()


def test_only_tables_with_targets_have_a_column_for_them() -> None:
    drained = Result("clicks-drain", "10", "python -m bench.clicks drain", "2 cores", "2026-01-01")
    faults = drained._replace(key="changes-outage", figure="0 failures")
    page = report.render({row.key: row for row in (drained, faults)})
    assert "\n- M1: 2 cores\n" in page
    tables = [[line for line in part.splitlines() if line.startswith("|")] for part in page.split("## ")[1:]]
    command = "`python -m bench.clicks drain` | M1 | 2026-01-01 |"
    assert tables == [
        [
            "| what | figure | command | machine | date |",
            "|---|---|---|---|---|",
            f"| {TITLES['changes-outage']} | 0 failures | {command}",
        ],
        [
            "| what | wanted | figure | command | machine | date |",
            "|---|---|---|---|---|---|",
            f"| {TITLES['clicks-drain']} | {WANTED['clicks-drain']} | 10 | {command}",
        ],
    ]


def test_every_recorded_key_is_in_the_catalog() -> None:
    sources = "".join(path.read_text() for path in Path(report.__file__).parent.rglob("*.py"))
    keys = set(re.findall(r'record\(\s*"([a-z-]+)"', sources))
    assert len(keys) > 10
    assert keys - TITLES.keys() == set()


def test_a_new_result_replaces_the_former_one_of_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, committed, page = tmp_path / "var/new.jsonl", tmp_path / "committed.jsonl", tmp_path / "page.md"
    for module in (results, report):
        monkeypatch.setattr(module, "NEW", new)
    monkeypatch.setattr(report, "COMMITTED", committed)
    monkeypatch.setattr(report, "PAGE", page)
    former = Result("clicks-drain", "10", "python -m bench.clicks drain", "2 cores", "2026-01-01")
    other = former._replace(key="clicks-visible", figure="20 ms")
    results.write(committed, {row.key: row for row in (former, other)}, TITLES)
    results.record("clicks-drain", "30")
    results.record("clicks-drain", "40")
    monkeypatch.setattr(sys, "argv", ["report", "--new"])
    report.main()
    figures = {key: result.figure for key, result in results.read(committed).items()}
    assert figures == {"clicks-drain": "40", "clicks-visible": "20 ms"}
    assert "| 40 |" in page.read_text()
    assert not new.exists()


def test_a_result_of_no_row_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"clicks-unheard-of is missing from bench\.catalog"):
        results.record("clicks-unheard-of", "1")


def test_every_program_of_the_list_exists() -> None:
    root = Path(report.__file__).parent.parent
    paths = {name: root / program.module.replace(".", "/") for name, program in programs.PROGRAMS.items()}
    missing = [
        name
        for name, path in paths.items()
        if not path.with_suffix(".py").exists() and not (path / "__main__.py").exists()
    ]
    assert missing == []
    assert [name for name in programs.PROGRAMS if f"  {name} " not in programs.listing()] == []


@pytest.mark.parametrize(
    ("values", "shown"), [([3.0], "3 / 3 / 3"), ([2.0, 1.0, 4.0], "1 / 2 / 4"), ([1.0, 2.0], "1 / 2 / 2")]
)
def test_a_spread_is_minimum_median_and_maximum(values: list[float], shown: str) -> None:
    assert results.spread(values, ".0f") == shown
