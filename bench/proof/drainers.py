"""Children that count clicks as `manage.py drain_clicks` does, and die at a chosen point."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from typing import Any

from bench.proof.site import Site

BATCH = 40

# Beginnings of statements, and whether to die before or after them.
_STATEMENTS = {
    "before the counters": ("SELECT link_id FROM links_clickcounter", False),
    "before COPY": ("UPDATE links_clickcounter", True),
    "after COPY": ("INSERT INTO analytics_click", False),
    "after the clicks": ("INSERT INTO analytics_click", True),
    "after the roll-ups": ("WITH counted AS MATERIALIZED", True),
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
    site: Site, *, point: str | None = None, once: bool = True, batch: int = BATCH, files: int | None = None
) -> None:
    from django.core.management import call_command  # noqa: PLC0415 # see Site.enter

    from analytics import pipeline  # noqa: PLC0415
    from analytics.management.commands import drain_clicks  # noqa: PLC0415

    site.enter()
    pipeline.BATCH = batch
    drain_clicks.OUTAGE_SECONDS = 0.02
    if files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    if point is not None:
        _die_at(point)
    call_command("drain_clicks", once=once)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_at(point: str) -> None:
    from django.db import connection  # noqa: PLC0415

    from analytics import segments  # noqa: PLC0415

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
    original = getattr(getattr(segments, owner), name)
    setattr(
        getattr(segments, owner),
        name,
        lambda *arguments: _around(lambda: original(*arguments), after),
    )


def _around(call: Callable[[], Any], after: bool) -> Any:
    if not after:
        _die()
    result = call()
    _die()
    return result
