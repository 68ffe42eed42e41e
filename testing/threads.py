"""Concurrent calls, each with a separate thread and database connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connections

Result = TypeVar("Result")


def at_once(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """The results, in the order of the calls. All calls start at the same moment, with open connections."""
    start = Barrier(len(calls), timeout=240)

    def run(call: Callable[[], Result]) -> Result:
        try:
            connections["default"].ensure_connection()
            start.wait()
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(calls)) as pool:
        return list(pool.map(run, calls))
