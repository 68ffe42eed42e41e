"""Child processes that run `manage.py drain_clicks` and kill themselves at a chosen point."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from io import StringIO
from typing import Any

from django.core.management import CommandError, call_command
from django.db import connection

from analytics.journal import reader
from testing.proof.site import Site

BATCH = 40

# The start of each statement, and whether the process dies after it (True) or before it.
_STATEMENTS = {
    "before the visitors": ("SELECT pg_advisory_xact_lock(5823144, ", False),
    "among the visitors": ("SELECT link_id, blocks, hashes FROM analytics_visitorblock", True),
    "after COPY": ("UPDATE analytics_daytotal", False),
    "after the days": ("UPDATE analytics_daytotal", True),
    "before the counters": ("UPDATE links_clickcounter", False),
    "after the counters": ("UPDATE links_clickcounter", True),
    "before COMMIT": ("UPDATE analytics_segment s", True),
}
_CALLS = {
    "after COMMIT": ("OpenSegment", "wipe", False),
    "after the wipe": ("OpenSegment", "wipe", True),
    "before deletion": ("Segment", "delete", False),
    "after deletion": ("Segment", "delete", True),
}
POINTS = [*_STATEMENTS, *_CALLS]


def drain(
    site: Site,
    *,
    point: str | None = None,
    once: bool = True,
    damaged: bool = False,
    batch: int = BATCH,
    files: int | None = None,
) -> None:
    from analytics.counting import pipeline
    from analytics.management.commands import drain_clicks

    site.enter()
    pipeline.BATCH = batch
    drain_clicks.OUTAGE_SECONDS = 0.02
    if files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    if point is not None:
        _die_at(point)
    try:
        call_command("drain_clicks", once=once, damaged=damaged, stdout=StringIO())
    except CommandError:
        # A damaged segment.
        sys.exit(1)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_at(point: str) -> None:
    if point in _STATEMENTS:
        beginning, after = _STATEMENTS[point]

        def execute(run: Callable[..., Any], sql: str, *rest: Any) -> Any:
            return (
                _around(lambda: run(sql, *rest), after)
                if sql.lstrip().startswith(beginning)
                else run(sql, *rest)
            )

        connection.execute_wrappers.append(execute)
        return
    owner, name, after = _CALLS[point]
    original = getattr(getattr(reader, owner), name)
    setattr(
        getattr(reader, owner),
        name,
        lambda *arguments: _around(lambda: original(*arguments), after),
    )


def _around(call: Callable[[], Any], after: bool) -> Any:
    if not after:
        _die()
    result = call()
    _die()
    return result
