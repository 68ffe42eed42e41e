"""Runs steps with one of the generated clients: the programs of ``tests/clients/drivers``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clients.generate.description import Operation
from testing.clients.walk import Step
from testing.nodejs import node

SORTS = ["sync", "async", "typescript"]
# From steps, each with the URL of its service, and what they know, to what came of each step.
Driver = Callable[[Sequence[tuple[str, Step]], dict[str, str]], list[dict[str, Any]]]


def driver(sort: str, clients: Path, programs: Path, operations: dict[str, Operation]) -> Driver:
    """``programs``: the folder with the compiled drivers, or with the Python ones."""

    def drive(steps: Sequence[tuple[str, Step]], known: dict[str, str]) -> list[dict[str, Any]]:
        walk = json.dumps([[_step(url, each, operations[each.call]) for url, each in steps], known])
        if sort == "typescript":
            done = node(programs / "walk.js", walk, cwd=programs)
        else:
            done = subprocess.run(
                [sys.executable, "-W", "error", programs / "walk.py", sort, walk],
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(clients / "python/src")},
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return [json.loads(line) for line in done.stdout.splitlines()]

    return drive


def kind_of(operation: Operation) -> str:
    if operation.name.startswith("iterate"):
        return "rows"
    return "file" if operation.result is None else "json"


def _step(url: str, step: Step, operation: Operation) -> dict[str, Any]:
    """An empty object stands where the operation takes a query or a body and the step gives none."""
    return {
        **asdict(step),
        "url": url,
        "kind": kind_of(operation),
        "query": step.query if operation.query else None,
        "body": step.body if operation.body else None,
    }
