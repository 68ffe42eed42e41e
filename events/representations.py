"""Events and the feed, as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework.fields import ChoiceField, DictField, ListField

from accounts.models import Workspace
from common.openapi.responses import Field, Representation, identifier, moment, text
from events.feed import FeedPage
from events.models import Event
from events.outbox import shown_data
from events.types import EventType

_TYPES = EventType.values
event = Representation(
    "Event",
    identifier("id", "id", "019a9e3f-6a10-7d52-8c31-0a1b2c3d4e5f"),
    Field("type", "type", ChoiceField(_TYPES), "link.deleted"),
    moment("time", "time", "2030-03-01T09:30:00.123456Z"),
    identifier("workspaceId", None, "019a9e3b-11c0-7a52-8f4d-7b2c9d3e5f60"),
    Field("data", None, DictField(help_text="As in the message of a webhook of this type."), {"link": None}),
)
feed = Representation(
    "EventFeed", Field("types", None, ListField(child=ChoiceField(_TYPES)), ["link.created", "link.clicked"])
)
FEED_PAGE = (
    event.listed("events"),
    text("next", None, "kJq1…", "The `after` of the next call, also after an empty page."),
)


def shown_page(page: FeedPage, owner: Workspace) -> dict[str, Any]:
    return {"events": [_shown(one, owner) for one in page.events], "next": page.next_cursor}


def _shown(one: Event, owner: Workspace) -> dict[str, Any]:
    return event(one) | {"workspaceId": str(owner.public_id), "data": shown_data(one.data)}
