"""The processes that `manage.py serve` runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from gunicorn.app.wsgiapp import run as run_gunicorn

from common.host.vitals import CLICK_DRAINER
from shortener_project.configuration.database import statement_seconds
from shortener_project.running import preloading
from shortener_project.running.commands import become, command_of, run_in_fork
from shortener_project.running.listeners import Listeners
from shortener_project.running.supervisor import Child

BACKGROUND = 10
CONFIG = settings.PROJECT_DIR / "shortener_project" / "gunicorn_conf.py"


def service_processes(
    listeners: Listeners, release: Callable[[], object], *, is_prepared: bool
) -> list[Child]:
    """All processes. ``release``: closes in a fork what only the supervisor may keep open.

    If the database is not prepared, a process prepares it as soon as it is reachable. The processes that need a
    prepared database start after it.
    """

    def web() -> None:
        release()
        listeners.pass_to_gunicorn()
        become("gunicorn")
        sys.argv = ["gunicorn", "--config", str(CONFIG), "shortener_project.wsgi"]
        run_gunicorn()

    def manage(module: str) -> Callable[[], None]:
        def run() -> None:
            release()
            listeners.drop()
            run_in_fork(module)

        return run

    preparation = Child(
        "preparation of the database", manage(preloading.PREPARE_DATABASE), failures_allowed=0, once=True
    )

    def command(name: str, module: str, **options: Any) -> Child:
        return Child(name, manage(module), silence_allowed=_silence_allowed(module), **options)

    # Requests take priority over background work; the journal keeps uncounted clicks.
    background = partial(command, niceness=BACKGROUND, after=None if is_prepared else preparation)
    return [
        *([] if is_prepared else [preparation]),
        Child(
            "web server",
            web,
            failures_allowed=4,
            reloads=True,
            silence_allowed=settings.SILENCE_SECONDS,
        ),
        command("listener", preloading.FOLLOW_CHANGES),
        background(CLICK_DRAINER, preloading.DRAIN_CLICKS),
        background("housekeeping", preloading.HOUSEKEEPING),
        background("re-check of domains", preloading.RECHECK_DOMAINS),
        background("delivery of events", preloading.DELIVER_EVENTS),
        *([background("check of destinations", preloading.CHECK_DESTINATIONS)] if settings.OUTBOUND else []),
    ]


def _silence_allowed(module: str) -> float | None:
    """A process that waits for a statement shows no sign of life until the statement's time limit."""
    statement = statement_seconds(command_of(module))
    return settings.SILENCE_SECONDS + statement if statement else None
