"""Batches of another drainer that stay open."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection

from analytics.counting.pipeline import Drainer
from testing.analytics.branches import branch, set_branches
from testing.analytics.journaled import MakeLink, pk

DEADLINE_SECONDS = 120
COUNTERS = "UPDATE links_clickcounter "
# The first statement of a batch that another one with the same links waits for.
VISITORS = "SELECT pg_advisory_xact_lock(5823144, "


@contextmanager
def batch_held_before(statement: str, folder: Path, size: int) -> Iterator[None]:
    """Another drainer's transaction, which counts ``size`` records and stays open before ``statement``."""
    reached, proceed = threading.Event(), threading.Event()
    outcomes: list[object] = []

    def hold(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.lstrip().startswith(statement):
            reached.set()
            proceed.wait(DEADLINE_SECONDS)
        return execute(sql, *rest)

    def drain_one_batch() -> None:
        drainer = Drainer(folder)
        drainer._limit = size
        try:
            with connection.execute_wrapper(hold):
                outcomes.append(drainer.drain_batch())
        except Exception as error:
            outcomes.append(error)
        finally:
            reached.set()
            connection.close()

    thread = threading.Thread(target=drain_one_batch)
    thread.start()
    try:
        assert reached.wait(DEADLINE_SECONDS)
        assert outcomes == []
        yield
    finally:
        proceed.set()
        thread.join()
    assert outcomes == [size]


def routed_link(make_link: MakeLink) -> int:
    link = make_link()
    set_branches(link["_id"], [branch(1)])
    return pk(link)
