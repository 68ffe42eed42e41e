"""Changes as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework.fields import ChoiceField, DictField

from accounts.history.reading import ChangePage, visible_actor
from accounts.models import Change
from common.http.current_request import Via
from common.openapi.response_fields import identifier, moment, number, public_id, text
from common.openapi.responses import Field, Representation

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
