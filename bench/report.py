"""python -m bench.report [--new]: write bench/results.md from the committed results.

``--new`` first adds the results that benchmarks on this machine have recorded since the last report.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from bench.catalog import SUBJECTS, TITLES, WANTED
from bench.harness.results import COMMITTED, NEW, PROJECT_DIR, Result, read, write

PAGE = PROJECT_DIR / "bench" / "results.md"

_INTRODUCTION = """\
# Results of the benchmarks

Generated from `results.jsonl` by `make bench-report`; [README.md](README.md) describes the benchmarks. On shared
cores, ratios within one run and processor time are more reliable than elapsed time. Three values separated by slashes
are the minimum, median and maximum of the rounds. The machines:
"""


def render(results: Mapping[str, Result]) -> str:
    names = sorted({result.machine for result in results.values()})
    machines = {name: f"M{number}" for number, name in enumerate(names, 1)}
    legend = "".join(f"- {number}: {machine}\n" for machine, number in machines.items())
    tables = (_table(subject, rows, results, machines) for subject, rows in SUBJECTS.items())
    return "\n".join([_INTRODUCTION, legend, *(table for table in tables if table)])


def _table(
    subject: str, rows: Mapping[str, str], results: Mapping[str, Result], machines: Mapping[str, str]
) -> str:
    measured = {key: results[key] for key in rows if key in results}
    if not measured:
        return ""
    # A table without targets has no column for them.
    has_targets = not WANTED.keys().isdisjoint(measured)
    lines = [_line("what", *["wanted"] * has_targets, "figure", "command", "machine", "date")]
    lines.append("|---" * (5 + has_targets) + "|\n")
    for key, result in measured.items():
        wanted = [WANTED.get(key, "")] * has_targets
        lines.append(
            _line(
                rows[key],
                *wanted,
                result.figure,
                f"`{result.command}`",
                machines[result.machine],
                result.date,
            )
        )
    return f"## {subject}\n\n{''.join(lines)}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--new", action="store_true", help="add the results of this machine first")
    options = parser.parse_args()
    results = read(COMMITTED)
    if options.new:
        results |= read(NEW)
        write(COMMITTED, results, TITLES)
        NEW.unlink(missing_ok=True)
    PAGE.write_text(render(results))


if __name__ == "__main__":
    main()
