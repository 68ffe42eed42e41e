"""What ``/readyz`` checks. To add a part, write a function that returns what is wrong, and list it in ``PARTS``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from math import inf
from typing import NamedTuple

from django.conf import settings
from django.db import Error

from analytics.journal.backlog import backlog
from analytics.journal.writer import writing_error
from common.clock import UNREADY_SECONDS, seconds_ahead
from common.database import check_connection
from common.host import primary, state
from common.host.metrics import count_database_error
from common.host.vitals import counting_problem
from shortener_project.running.schema import schema_problem

OK = "ok"
_DATABASE = "database"

log = logging.getLogger(__name__)


class Part(NamedTuple):
    """``problem`` returns what is wrong, in words for the operator, or None. An error that it raises is one, too.

    Parts that need the database are not examined while it does not respond.
    """

    name: str
    problem: Callable[[], str | None]
    needs_database: bool = False


def _failed_commits() -> str | None:
    return None if primary.is_committing() else "it does not commit"


def _silence() -> str | None:
    if (seconds := state.unheard_seconds()) <= state.HEARING_SECONDS:
        return None
    return "none heard" if seconds == inf else f"none heard for {seconds:.0f} s"


def _unwritable_journal() -> str | None:
    error = writing_error(settings.CLICKS_DIR)
    return f"it cannot be written: {error.strerror}" if error else None


def _uncounted_clicks() -> str | None:
    clicks = backlog(settings.CLICKS_DIR)
    if clicks.waiting > settings.CLICK_BACKLOG_MB * 1024 * 1024:
        return "the backlog is above its limit"
    return counting_problem(clicks.oldest)


def _wrong_clock() -> str | None:
    ahead = seconds_ahead()
    return f"{ahead:+.0f} s from the database's" if abs(ahead) >= UNREADY_SECONDS else None


PARTS = (
    Part(_DATABASE, check_connection),
    Part("migrations", schema_problem, needs_database=True),
    Part("commits", _failed_commits, needs_database=True),
    Part("changes", _silence),
    Part("journal", _unwritable_journal),
    Part("clicks", _uncounted_clicks, needs_database=True),
    Part("clock", _wrong_clock, needs_database=True),
)


def examine(excluded: Collection[str] = ()) -> dict[str, str]:
    """The state of each part: OK, or what is wrong. Never raises."""
    states: dict[str, str] = {}
    for part in PARTS:
        if part.name in excluded:
            continue
        if part.needs_database and states.get(_DATABASE, OK) != OK:
            states[part.name] = "unknown without the database"
        else:
            states[part.name] = _state(part)
    return states


def _state(part: Part) -> str:
    try:
        return part.problem() or OK
    except Error as error:
        count_database_error("page")
        return f"the database does not respond: {error}".partition("\n")[0]
    except OSError as error:
        return str(error)
    except Exception as error:
        log.exception("The state of the %s is unknown", part.name)
        return f"unknown: {error!r}"
