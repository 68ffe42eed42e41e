"""Reads the history, newest first, in pages, as the API shows it."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from rest_framework.fields import ChoiceField, DictField

from accounts.models import Change, User, Workspace
from common.errors import FieldError, InvalidFields, NotFound
from common.http.current_request import Via
from common.ids import parse_public_id
from common.openapi.responses import Field, Representation, identifier, moment, number, public_id, text
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
    """The account to show. None for the service, a deleted account, or an operator, whom owners do not learn."""
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


ACTOR = Representation(
    "Actor",
    public_id("019a9e3b-11c0-7a52-8f4d-7b2c9d3e5f60"),
    text("firstName", "first_name", "Ada"),
    text("lastName", "last_name", "Lovelace"),
    text("email", "email", "ada@example.com"),
)


def _actor_of(change: Change) -> dict[str, Any] | None:
    actor = visible_actor(change)
    return None if actor is None else ACTOR(actor)


CHANGE = Representation(
    "Change",
    public_id("5f1c9a52-e0d8-4b7f-9a6d-2c8b51e07f64"),
    moment("changedAt", "changed_at", "2030-03-02T17:05:41.654321Z"),
    text("action", "action", "link.updated", "The kind of object and of change."),
    identifier("objectId", "object_id", "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"),
    Field("before", "before", DictField(help_text="The changed fields' former values."), {"title": "Sale"}),
    Field("after", "after", DictField(help_text="The changed fields' new values."), {"title": "Spring sale"}),
    ACTOR.nested(
        "actor",
        _actor_of,
        allow_null=True,
        help_text="Null for the service, an operator, a deleted account, and on a page before a login.",
    ),
    Field(
        "via",
        "via",
        ChoiceField([via.value for via in Via], help_text="How the actor authenticated."),
        "token",
    ),
    text(
        "keyId",
        "key_id",
        None,
        "The `_id` of the key with scopes that the actor used. Null for the account's own key, too.",
        allow_null=True,
    ),
    text(
        "requestId", "request_id", "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b76", "The `X-Request-ID`. May be empty."
    ),
)
_PAGE = Representation(
    "HistoryPagination",
    number("limit", None, 20, min_value=1),
    text("nextCursor", None, None, "Null on the last page.", allow_null=True),
)
CHANGE_PAGE = (CHANGE.listed("changes"), _PAGE.nested("pagination"))


def change_page(page: ChangePage, limit: int) -> dict[str, Any]:
    return {
        "changes": [CHANGE(change) for change in page.changes],
        "pagination": {"limit": limit, "nextCursor": page.next_cursor},
    }
