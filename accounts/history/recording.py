"""Records changes in their own transaction.

Triggers record the changes of links, domains and accounts, so that no writer can forget them. A trigger takes the
author from the setting ``history.author``, which lasts until the end of the transaction. Without it, the author is the
service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import orjson
from django.db import connection, transaction

from common.http.current_request import Actor, actor, request_id

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
    values = {"actor": who.account, "via": who.via, "key": who.key, "request": request_id.get()}
    return orjson.dumps(values).decode()


def name_author(who: Actor | None = None) -> None:
    """Name the author of the changes in the rest of the caller's transaction. By default, it is the caller."""
    with connection.cursor() as cursor:
        cursor.execute(_NAME_AUTHOR, {"author": author(who)})


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
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, values)
