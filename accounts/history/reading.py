"""Reads the history, newest first, in pages."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from accounts.models import Change, User, Workspace
from common.errors import FieldError, InvalidFields, NotFound
from common.http.current_request import Via
from common.ids import parse_public_id
from common.secrets import seal, unseal

_SEALING = "history-cursor"
# A nonce, the position and its tag, in base64.
_CURSOR = re.compile(r"[\w-]{48}", re.ASCII)
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
    if cursor is not None:
        changes = changes.filter(pk__lt=_position(cursor, owner))
    if object_id is not None:
        changes = changes.filter(object_id=object_id)
    if actor_id is not None:
        # Compares with one account, so that PostgreSQL uses the index on actors. Operators are never shown as actors.
        account = User.objects.filter(public_id=actor_id).values("pk")[:1]
        changes = changes.filter(actor_id=account).exclude(via=Via.OPERATOR)
    if action is not None:
        changes = changes.filter(action=action)
    if kind is not None:
        changes = changes.filter(action__startswith=f"{kind}.")
    rows = list(changes.order_by("-pk")[: limit + 1])
    page = rows[:limit]
    return ChangePage(page, _cursor(page[-1], owner) if len(rows) > limit else None)


def get_change(owner: Workspace, object_id: UUID, change_id: str) -> Change:
    """Raises NotFound for an unknown change, and for one of another object or owner."""
    identifier = parse_public_id(change_id)
    change = None
    if identifier is not None:
        change = _changes(owner.pk).filter(object_id=object_id, public_id=identifier).first()
    if change is None:
        raise NotFound("Change not found.")
    return change


def last_change(owner_id: int, object_id: UUID) -> Change | None:
    return _changes(owner_id).filter(object_id=object_id).order_by("-pk").first()


def visible_actor(change: Change) -> User | None:
    """None for the service, for a deleted account, and for an operator: the owner does not learn who that is."""
    return None if change.via == Via.OPERATOR else change.actor


def _changes(owner_id: int) -> QuerySet[Change]:
    return Change.objects.filter(owner=owner_id).select_related("actor")


def _cursor(change: Change, owner: Workspace) -> str:
    position = change.pk.to_bytes(8)
    sealed = seal(position, purpose=_SEALING, context=_context(owner), secret=settings.SECRET_KEY)
    return urlsafe_b64encode(sealed).decode().rstrip("=")


def _position(cursor: str, owner: Workspace) -> int:
    position = None
    if _CURSOR.fullmatch(cursor):
        position = unseal(
            urlsafe_b64decode(cursor),
            purpose=_SEALING,
            context=_context(owner),
            secrets=[settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS],
        )
    if position is None:
        raise InvalidFields([BAD_CURSOR])
    return int.from_bytes(position)


def _context(owner: Workspace) -> bytes:
    return str(owner.pk).encode()
