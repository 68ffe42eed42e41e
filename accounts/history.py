"""The history of changes: records each one in its own transaction, and lists them, newest first, in pages.

A trigger records the changes of links, domains and accounts, so that no writer can forget them. The table
``accounts_historyname``, which migrations fill, says under which names. The trigger takes the author from the setting
``history.author``, which lasts until the end of the transaction. Without it, the author is the service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Change, Invitation, User, Workspace
from common.cursors import newest_page
from common.database import execute, fetch
from common.errors import FieldError, NotFound
from common.http.current_request import Actor, AuthMethod, actor, request_id, trace
from common.ids import find_by_public_id

# A part of statements that are a whole transaction. A trigger that runs after the statement sees the setting.
NAME_AUTHOR = "set_config('history.author', %(author)s, true)"
_NAME_AUTHOR = f"SELECT {NAME_AUTHOR}"
_RECORD = """
SELECT accounts_record_change(
    %(owner)s, %(object)s, %(action)s, %(before)s::jsonb, %(after)s::jsonb, %(author)s::jsonb
)
"""


def author(who: Actor | None = None) -> str:
    """The value of ``history.author`` for the current request or process. By default, its actor is the caller."""
    who = who or actor.get()
    values: dict[str, Any] = {
        "actor": who.account,
        "via": who.via,
        "key": who.key,
        "request": request_id.get(),
    }
    if who.token is not None:
        values["token"] = who.token
    if (current := trace.get()) is not None:
        values["trace"] = current.trace_id
    return orjson.dumps(values).decode()


def name_author(who: Actor | None = None) -> None:
    """Name the author of the changes in the rest of the caller's transaction. By default, it is the caller."""
    execute(_NAME_AUTHOR, {"author": author(who)})


@contextmanager
def authored_transaction() -> Iterator[None]:
    """A transaction whose changes have the current author."""
    with transaction.atomic():
        name_author()
        yield


def record_change(
    *,
    owner_id: int,
    object_id: UUID,
    action: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Record a change that no trigger records, in the caller's transaction."""
    values: dict[str, Any] = {
        "owner": owner_id,
        "object": object_id,
        "action": action,
        "before": orjson.dumps(before or {}).decode(),
        "after": orjson.dumps(after or {}).decode(),
        "author": author(),
    }
    execute(_RECORD, values)


_BATCH = 10_000
# The oldest rows have the lowest ids, so no index on the time is needed. The two orders differ by at most the duration
# of a transaction; a later run deletes such a row. Skips rows that another host is deleting.
_DELETE = f"""
WITH oldest AS MATERIALIZED (
    SELECT id, changed_at FROM accounts_change ORDER BY id LIMIT {_BATCH} FOR UPDATE SKIP LOCKED
)
DELETE FROM accounts_change c USING oldest
WHERE c.id = oldest.id AND oldest.changed_at < now() - %(days)s * interval '1 day'
"""  # noqa: S608 # composed of constants


_SIZE = "(pg_column_size(c.before) + pg_column_size(c.after) + 200)"
# Only what was committed since the last run is read. A change that a longer transaction commits later is not counted,
# and one deleted for its age still is: before anything is deleted for its size, the history is measured.
_ADD_UP = f"""
INSERT INTO accounts_historysize AS s (owner_id, bytes, counted_to)
SELECT w.id, sum({_SIZE}), max(c.id) FROM accounts_change c JOIN accounts_workspace w ON w.id = c.owner_id
WHERE c.id > (SELECT coalesce(max(counted_to), 0) FROM accounts_historysize)
GROUP BY w.id ORDER BY w.id
ON CONFLICT (owner_id) DO UPDATE SET bytes = s.bytes + EXCLUDED.bytes, counted_to = EXCLUDED.counted_to
"""  # noqa: S608 # composed of constants
_LARGE = "SELECT owner_id FROM accounts_historysize WHERE bytes > %(most)s ORDER BY owner_id"
_TRIM = f"""
WITH measured AS (
    SELECT id, {_SIZE} AS size, sum({_SIZE}) OVER (ORDER BY id DESC) AS total
    FROM accounts_change c WHERE owner_id = %(owner)s
), deleted AS (
    DELETE FROM accounts_change WHERE id IN (SELECT id FROM measured WHERE total > %(most)s)
)
UPDATE accounts_historysize SET bytes = (SELECT coalesce(sum(size), 0) FROM measured WHERE total <= %(most)s)
WHERE owner_id = %(owner)s
"""  # noqa: S608 # composed of constants
# An arbitrary advisory lock id: two hosts that add up at the same time would count changes twice.
_LOCK = "SELECT pg_try_advisory_xact_lock(5702184336)"


def trim_large_histories(megabytes: int) -> None:
    """Keep about the newest ``megabytes`` of each workspace's history; 0 keeps all."""
    if not megabytes:
        return
    most = megabytes * 1_000_000
    with transaction.atomic():
        if fetch(_LOCK) != [(True,)]:
            return
        execute(_ADD_UP)
        large = [owner for (owner,) in fetch(_LARGE, {"most": most})]
    for owner in large:
        execute(_TRIM, {"owner": owner, "most": most})


def delete_old_changes(days: int) -> int:
    """Keep changes for at least ``days`` by the database's clock; 0 keeps them all. Returns how many it deleted."""
    deleted, batch = 0, _BATCH
    while days and batch == _BATCH:
        batch = execute(_DELETE, {"days": days})
        deleted += batch
    return deleted


BAD_CURSOR = FieldError("cursor", "invalid", "Must be the nextCursor of a page of this history.")


class ChangePage(NamedTuple):
    changes: list[Change]
    next_cursor: str | None


def list_changes(
    owner: Workspace,
    *,
    limit: int,
    cursor: str | None = None,
    object_id: UUID | None = None,
    actor_id: UUID | None = None,
    action: str | None = None,
    kind: str | None = None,
) -> ChangePage:
    """A page of the changes of the owner's objects. Each filter narrows it. Raises InvalidFields for a bad cursor.

    ``kind``: the part of the action that names the kind of object.
    """
    changes = _changes(owner.pk)
    if object_id is not None:
        changes = changes.filter(object_id=object_id)
    if actor_id is not None:
        # Compares with one account, so that PostgreSQL uses the index on actors. Operators are never shown as actors.
        account = User.objects.filter(public_id=actor_id).values("pk")[:1]
        changes = changes.filter(actor_id=account).exclude(via=AuthMethod.OPERATOR)
    if action is not None:
        changes = changes.filter(action=action)
    if kind is not None:
        changes = changes.filter(action__startswith=f"{kind}.")
    page, following = newest_page(
        changes, limit=limit, cursor=cursor, purpose="history-cursor", owner=owner.pk, refusal=BAD_CURSOR
    )
    _name_subjects(page)
    return ChangePage(page, following)


def _name_subjects(changes: Sequence[Change]) -> None:
    """Say whom changes of members and invitations concern.

    The history stores no addresses, so that none outlives its account: it reads them where they are.
    """
    names: dict[UUID, str] = {}
    if members := _objects(changes, "member."):
        names |= {user.public_id: person(user) for user in User.objects.filter(public_id__in=members)}
    if invitations := _objects(changes, "invitation."):
        pending = Invitation.objects.filter(public_id__in=invitations).exclude(email="")
        names |= dict(pending.values_list("public_id", "email"))
        accepted = Change.objects.filter(object_id__in=invitations, action="invitation.accepted")
        names |= {
            change.object_id: person(change.actor)
            for change in accepted.select_related("actor")
            if change.actor is not None
        }
    for change in changes:
        change.subject = names.get(change.object_id)


def _objects(changes: Sequence[Change], kind: str) -> set[UUID]:
    return {change.object_id for change in changes if change.action.startswith(kind)}


def person(user: User) -> str:
    """The name of an account, or its address without one."""
    return user.full_name or user.email


def get_change(owner: Workspace, object_id: UUID, change_id: str) -> Change:
    """Raises NotFound for an unknown change, and for one of another object or owner."""
    change = find_by_public_id(_changes(owner.pk).filter(object_id=object_id), change_id)
    if change is None:
        raise NotFound("Change not found.")
    return change


def last_change(owner_id: int, object_id: UUID) -> Change | None:
    return _changes(owner_id).filter(object_id=object_id).order_by("-pk").first()


def visible_actor(change: Change) -> User | None:
    """The account to show. None for the service, a deleted account, or an operator, whom owners do not learn."""
    return None if change.via == AuthMethod.OPERATOR else change.actor


def _changes(owner_id: int) -> QuerySet[Change]:
    return Change.objects.filter(owner=owner_id).select_related("actor")
