"""Figures for bench/results.csv: benchmarks record them, and `bench.report` adds them to the table.

`record` appends one JSON line to var/benchmarks.jsonl, which is not committed. `python -m bench.report` moves these
lines to the table.
"""

from __future__ import annotations

import csv
import json
import os
import platform
import shlex
import sys
import sysconfig
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bench.catalog import TITLES

PROJECT_DIR = Path(__file__).resolve().parents[2]
NEW = PROJECT_DIR / "var" / "benchmarks.jsonl"
COMMITTED = PROJECT_DIR / "bench" / "results.csv"


class Result(NamedTuple):
    """``key`` is one of `bench.catalog`; ``date`` is a UTC date in ISO 8601. ``machine`` includes the interpreter."""

    key: str
    figure: str
    command: str
    machine: str
    date: str


def record(key: str, figure: str) -> None:
    """Record a measurement of this process, with the command line, the machine, the interpreter and the date."""
    if key not in TITLES:
        raise KeyError(f"{key} is missing from bench.catalog.")
    machine = f"{_machine()}, {interpreter()}"
    result = Result(key, figure, _command(), machine, f"{datetime.now(UTC):%Y-%m-%d}")
    NEW.parent.mkdir(exist_ok=True)
    with NEW.open("a") as file:
        file.write(json.dumps(result._asdict()) + "\n")


def read_new() -> dict[str, Result]:
    """The last result of each key that this machine has recorded since the last report."""
    lines = NEW.read_text().splitlines() if NEW.exists() else []
    results = (Result(**json.loads(line)) for line in lines)
    return {result.key: result for result in results}


def read_committed() -> dict[str, Result]:
    with COMMITTED.open(newline="") as file:
        return {
            row["name"]: Result(row["name"], row["figure"], row["command"], row["machine"], row["date"])
            for row in csv.DictReader(file)
        }


def spread(values: Iterable[float], form: str) -> str:
    """Minimum, median and maximum, the way the tables show them."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return " / ".join(format(value, form) for value in (ordered[0], median, ordered[-1]))


def interpreter() -> str:
    """How this Python was built. The services that benchmarks start run on it, too."""
    version = f"Python {platform.python_version()}"
    if sys.base_prefix == "/usr":
        # Debian builds an optimised one without this option.
        return f"{version} of the operating system"
    arguments = sysconfig.get_config_var("CONFIG_ARGS") or ""
    optimized = "with" if "--enable-optimizations" in arguments else "without"
    return f"{version} built {optimized} --enable-optimizations"


def _command() -> str:
    specification = getattr(sys.modules["__main__"], "__spec__", None)
    module = specification.name.removesuffix(".__main__") if specification else Path(sys.argv[0]).stem
    return shlex.join(["python", "-m", module, *sys.argv[1:]])


def _machine() -> str:
    models = [
        line.partition(": ")[2]
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    model = models[0] if models else platform.machine()
    # All of the machine's: a benchmark may keep its own process on one of them.
    return f"{os.cpu_count()} cores, {model}"
