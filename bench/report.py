"""python -m bench.report: add this machine's new figures to bench/results.csv, and renew its titles and targets."""

from __future__ import annotations

import csv

from bench.catalog import SUBJECTS, WANTED
from bench.harness.results import COMMITTED, NEW, read_committed, read_new

COLUMNS = ("name", "subject", "what", "wanted", "figure", "command", "machine", "date")


def main() -> None:
    results = read_committed() | read_new()
    with COMMITTED.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for subject, titles in SUBJECTS.items():
            for name, title in titles.items():
                if name in results:
                    key, *figures = results[name]
                    table.writerow([key, subject, title, WANTED.get(name, ""), *figures])
    NEW.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
