"""Which reports and lists a standby may answer: one that has all that the workspace has changed, and lags little.

The primary is asked before each of them, as it knows what any host has changed: for its position in the log, the
number of changes of the workspace's links (`OwnerTotals`), and whether the history of the workspace or of the caller's
account (lists name creators) has a change of the last minutes. A standby answers if it has replayed the log up to that
position. Otherwise it may lag by REPORTS_MAX_LAG_SECONDS, but only without such a change, and with the same number.
So nobody misses an own change; others' clicks and operators' bans appear as late as the standby lags.

The primary answers lists of what the history lacks, such as views, and short ones, which cost less than asking.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import wraps
from typing import Any, NamedTuple

from django.conf import settings
from django.db import Error, ProgrammingError, connections
from django.http.response import StreamingHttpResponse
from rest_framework.request import Request

from accounts.callers import caller_of, workspace_of
from common.database import prepared_cursor
from common.host import primary
from common.host.metrics import count_standby_read
from common.reports_database import ALIAS, Reading, reading, repeats_on_primary

# The header of a response from a standby: by how many seconds that lagged behind when it was asked.
LAG = "Data-Lag"
# No process asks a standby that has failed, or that lags too far behind, for so long.
FAILURE_SECONDS, LAG_SECONDS = 10.0, 1.0
# Longer than any transaction: a row of the history has the time of its statement.
_RECENT = "5 minutes"

_WANTED = f"""
SELECT pg_current_wal_flush_lsn()::text, clock_timestamp(), {{changes}}, coalesce(greatest((
    SELECT changed_at FROM accounts_change WHERE owner_id = %(owner)s ORDER BY id DESC LIMIT 1
), (
    SELECT changed_at FROM accounts_change WHERE owner_id = %(caller)s ORDER BY id DESC LIMIT 1
)) > statement_timestamp() - interval '{_RECENT}', false)
"""  # noqa: S608 # composed of constants
_CHANGES = "(SELECT coalesce(sum(changes), 0)::bigint FROM links_ownertotals WHERE owner_id = %(owner)s)"
_STATE = """
SELECT pg_is_in_recovery(), {server}, coalesce(pg_last_wal_replay_lsn() >= %(position)s::text::pg_lsn, false),
    extract(epoch FROM %(now)s::timestamptz - pg_last_xact_replay_timestamp())::float8, {changes}
"""
# The timeline of the last checkpoint. A standby that still follows a former primary has an earlier one.
_SERVER = """
    (SELECT system_identifier::text FROM pg_control_system()), (SELECT timeline_id FROM pg_control_checkpoint())
"""

log = logging.getLogger(__name__)


class Wanted(NamedTuple):
    """What the primary had at ``now``: its position, and the changes of the workspace."""

    owner: int
    position: str
    now: datetime
    changes: int
    is_changing: bool


class _Standby:
    """What this process knows. ``not_before``: when to ask a standby again."""

    not_before = 0.0
    has_failed = False


_standby = _Standby()


def reads_standby(action: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of an action of a view that only reads: a standby may answer it.

    If the standby fails, the action is repeated on the primary.
    """

    @wraps(action)
    def respond(view: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
        if not settings.REPORTS_DATABASE_URL or request.method not in ("GET", "HEAD"):
            return action(view, request, *args, **kwargs)
        chosen = _choose(workspace_of(request).pk, caller_of(request).id)
        if chosen is None:
            count_standby_read("primary")
            return action(view, request, *args, **kwargs)
        wanted, lag = chosen
        current = Reading()
        with reading(current):
            try:
                response = action(view, request, *args, **kwargs)
            except Error as error:
                if not repeats_on_primary(error):
                    raise
                _note_failure(error)
                response = action(view, request, *args, **kwargs)
        if current.is_over:
            count_standby_read("primary")
            return response
        count_standby_read("standby")
        response[LAG] = f"{lag:.3f}"
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = _continued(iter(response), wanted, current)
        return response

    respond.reads_standby = True  # type: ignore[attr-defined] # read by `common.openapi.operations`
    return respond


def _continued(chunks: Iterator[bytes], wanted: Wanted, current: Reading) -> Iterator[bytes]:
    """Produce each chunk as the first one was. Another thread may do so, with a connection of its own."""
    while True:
        if not current.is_over and _lag(wanted) is None:
            current.is_over = True
        with reading(current):
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


def _choose(owner: int, caller: int) -> tuple[Wanted, float] | None:
    """The state of the primary, and by how many seconds a standby lags that may answer. None: none may."""
    if time.monotonic() < _standby.not_before:
        return None
    try:
        with prepared_cursor() as cursor:
            cursor.execute(_WANTED.format(changes=_CHANGES), {"owner": owner, "caller": caller})
            wanted = Wanted(owner, *cursor.fetchone())
    except ProgrammingError as error:
        # The role may not ask for the position, as every role may by default.
        _note_failure(error)
        return None
    lag = _lag(wanted)
    return None if lag is None else (wanted, lag)


def _lag(wanted: Wanted) -> float | None:
    """The lag of the standby in seconds; None if it may not answer. Never raises."""
    server = primary.current()
    query = _STATE.format(changes=_CHANGES, server=_SERVER if server else "NULL, NULL")
    try:
        with reading(Reading()), prepared_cursor() as cursor:
            cursor.execute(query, wanted._asdict())
            is_standby, system, timeline, is_complete, behind, changes = cursor.fetchone()
    except Error as error:
        _note_failure(error)
        return None
    if not is_standby or (server and primary.number_of(int(system), timeline) != server):
        _note_failure("The server does not follow the primary.")
        return None
    _standby.has_failed = False
    lag = 0.0 if is_complete else max(0.0, behind or 0.0)
    primary.note_lag(lag)
    if is_complete:
        return lag
    if behind is None or lag > settings.REPORTS_MAX_LAG_SECONDS:
        _standby.not_before = time.monotonic() + LAG_SECONDS
        return None
    return None if wanted.is_changing or changes != wanted.changes else lag


def _note_failure(reason: object) -> None:
    connections[ALIAS].close()
    _standby.not_before = time.monotonic() + FAILURE_SECONDS
    if not _standby.has_failed:
        _standby.has_failed = True
        log.warning("The primary answers reports and lists: %s", str(reason).strip().partition("\n")[0])
