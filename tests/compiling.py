"""Each worker of pytest-xdist compiles its share of the test modules, and reads the others' bytecode.

All workers collect all tests in the same order. On a fresh clone, each of them would compile every module, which takes
almost as much processor time as everything else that they do before the first test.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def compile_share(files: list[Path]) -> None:
    """Import this worker's share. pytest finds these modules when it collects them, and reports their errors."""
    # Options such as `--tx id=NAME//popen` name workers otherwise. Then they compile as they collect.
    number = re.fullmatch(r"gw(\d+)", os.environ.get("PYTEST_XDIST_WORKER", ""))
    if number:
        workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for file in sorted(files)[int(number[1]) :: workers]:
            with suppress(Exception, pytest.skip.Exception):
                import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
