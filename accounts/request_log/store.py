"""The rows of the log of API requests: a batch is written at once, and the oldest go."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from accounts.models import LoggedRequest, Workspace
from common.cursors import newest_page
from common.database import execute, fetch
from common.errors import FieldError

# Of each workspace, at least; housekeeping deletes older ones every ten minutes.
MAX_KEPT = 10_000


class Entry(NamedTuple):
    """``owner`` is the primary key of the workspace, ``key`` the API id of a key with scopes.

    ``responded_at`` is a time of this process's monotonic clock.
    """

    owner: int
    key: UUID | None
    method: str
    route: str
    status: int
    code: str | None
    request_id: str
    milliseconds: float
    responded_at: float


# Its commit does not wait for the disk or a synchronous standby. Meanwhile deleted workspaces are left out.
_WRITE = """
WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO accounts_loggedrequest
    (owner_id, key_id, method, route, status, code, request_id, milliseconds, responded_at)
SELECT w.id, e.key, e.method, e.route, e.status, e.code, e.request_id, e.milliseconds,
    statement_timestamp() - e.age * interval '1 s'
FROM relaxed CROSS JOIN unnest(
    %s::bigint[], %s::uuid[], %s::text[], %s::text[], %s::smallint[], %s::text[], %s::text[], %s::float8[],
    %s::float8[]
) WITH ORDINALITY AS e (owner, key, method, route, status, code, request_id, milliseconds, age, position)
JOIN accounts_workspace w ON w.id = e.owner
ORDER BY e.position
"""


def write(batch: Sequence[Entry]) -> None:
    now = time.monotonic()
    aged = (entry._replace(responded_at=now - entry.responded_at) for entry in batch)
    execute(_WRITE, [list(column) for column in zip(*aged, strict=True)])


_BATCH = 10_000
# The oldest rows have the lowest ids, so no index on the time is needed.
_DELETE = f"""
DELETE FROM accounts_loggedrequest WHERE id IN (
    SELECT id FROM accounts_loggedrequest ORDER BY id LIMIT {_BATCH} FOR UPDATE SKIP LOCKED
) AND responded_at < now() - %s * interval '1 day'
"""  # noqa: S608 # composed of constants
_LARGE = (
    "SELECT owner_id FROM accounts_loggedrequest GROUP BY owner_id HAVING count(*) > %s ORDER BY owner_id"
)
_TRIM = """
DELETE FROM accounts_loggedrequest WHERE owner_id = %(owner)s AND id <= (
    SELECT id FROM accounts_loggedrequest WHERE owner_id = %(owner)s ORDER BY id DESC OFFSET %(most)s LIMIT 1
)
"""


def delete_old_requests() -> None:
    """Keep requests for REQUEST_LOG_DAYS by the database's clock, and the newest `MAX_KEPT` of each workspace."""
    while execute(_DELETE, [settings.REQUEST_LOG_DAYS]) == _BATCH:
        pass
    for (owner,) in fetch(_LARGE, [MAX_KEPT]):
        execute(_TRIM, {"owner": owner, "most": MAX_KEPT})


BAD_CURSOR = FieldError("cursor", "invalid", "Must be the nextCursor of a page of this log.")


class RequestPage(NamedTuple):
    requests: list[LoggedRequest]
    next_cursor: str | None


def list_requests(
    owner: Workspace,
    *,
    limit: int,
    cursor: str | None = None,
    key: UUID | None = None,
    status: tuple[int, int] | None = None,
    route: str | None = None,
) -> RequestPage:
    """A page, the newest first. Each filter narrows it. ``status``: the first and the last one.

    Raises InvalidFields for a bad cursor.
    """
    logged = LoggedRequest.objects.filter(owner=owner)
    if key is not None:
        logged = logged.filter(key_id=key)
    if status is not None:
        logged = logged.filter(status__range=status)
    if route is not None:
        logged = logged.filter(route=route)
    return RequestPage(
        *newest_page(
            logged,
            limit=limit,
            cursor=cursor,
            purpose="request-log-cursor",
            owner=owner.pk,
            refusal=BAD_CURSOR,
        )
    )
