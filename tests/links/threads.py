"""Calls at the same moment, each on a thread and a database connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connections

Result = TypeVar("Result")


def at_once(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """The results in the order of the calls. They start together, each with its connection open already."""
    start = Barrier(len(calls), timeout=120)

    def run(call: Callable[[], Result]) -> Result:
        try:
            connections["default"].ensure_connection()
            start.wait()
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(calls)) as pool:
        return list(pool.map(run, calls))
