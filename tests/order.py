"""The order in which the workers of pytest-xdist run the tests, and the time limit of slow ones.

A test is marked `slow` if it starts the service or another server as real processes, kills or stops a process, sends
requests by the thousand, draws and reads pictures by the hundred, drives a browser, or waits for a timeout of the
service, or takes longer than one second on an idle machine. Everything else is quick, and so are the tests of roles,
scopes and tenants.

`--dist worksteal` gives each worker an equal number of consecutive tests, and a worker that has finished takes half of
the rest of another one, from its end. In the order of the folders, one worker would get all slow tests. Here, all
workers but one begin with slow tests, which mostly wait, and the remaining one runs quick tests meanwhile. The slow
files are dealt out longest first, so that none of them runs alone at the end. A file stays together: its tests share
services. How long each takes is known from earlier runs of this checkout. In a new one, those with the longest
timeouts and the most tests come first: otherwise a single test could run alone for minutes at the end.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

# pytest ends a slow test without a timeout of its own after this time. Quick tests have that of pyproject.toml.
SLOW_SECONDS = 900
EARLIER = Path(__file__).parents[1] / ".pytest_cache/seconds.json"


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow, quick = [], []
    for item in items:
        if item.get_closest_marker("slow"):
            slow.append(item)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
        else:
            quick.append(item)
    items[:] = dealt_out(
        slow, quick, _earlier_seconds(), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    )


def dealt_out(
    slow: list[pytest.Item], quick: list[pytest.Item], earlier: dict[str, float], workers: int
) -> list[pytest.Item]:
    """All tests in the order that gives each worker its share. ``earlier``: how long the files took."""
    files: dict[str, list[pytest.Item]] = {}
    for item in slow:
        files.setdefault(_file(item.nodeid), []).append(item)

    def seconds(file: str) -> float:
        return earlier.get(file) or len(files[file]) + max(map(_timeout, files[file])) / 15

    queues: list[list[pytest.Item]] = [[] for _ in range(max(1, workers - 1))]
    loads = [0.0] * len(queues)
    for file in sorted(files, key=seconds, reverse=True):
        least = loads.index(min(loads))
        queues[least] += files[file]
        loads[least] += seconds(file)

    ordered: list[pytest.Item] = []
    rest, remaining = iter(quick), len(slow) + len(quick)
    for worker in range(workers):
        share = remaining // (workers - worker)
        remaining -= share
        own = queues[worker] if worker < len(queues) else []
        ordered += [*own, *islice(rest, max(0, share - len(own)))]
    return [*ordered, *rest]


class _Recorder:
    """Adds up the seconds of each file. Those of a part of its tests do not replace those of all."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[_file(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        # The maximum of both.
        seconds = Counter(_earlier_seconds()) | self._seconds
        EARLIER.parent.mkdir(exist_ok=True)
        draft = EARLIER.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps({file: round(time, 2) for file, time in seconds.items()}))
        draft.replace(EARLIER)


def _timeout(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return marker.args[0] if marker else SLOW_SECONDS


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _earlier_seconds() -> dict[str, float]:
    try:
        return json.loads(EARLIER.read_text())
    except FileNotFoundError:
        return {}
