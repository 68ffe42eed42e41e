"""Every type of event with what its data have: for the OpenAPI document, and for test messages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from rest_framework.fields import CharField, DictField, ListField

from common.openapi.responses import Field, Representation, flag, moment, number, text
from events.types import EventType
from events.webhooks.messages import Occurred

_LINK_ID = "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"
_DOMAIN_ID = "019a9e3d-2b7e-7d10-a3c4-5e6f70819203"
_OBJECT_ID = "019a9e40-4d52-7c63-8e74-2b3c4d5e6f70"

link = Representation(
    "EventLink",
    text("id", None, _LINK_ID),
    text("shortUrl", None, "https://sho.rt/k3TzP9q"),
    text("shortCode", None, "k3TzP9q"),
    text("customCode", None, None, allow_null=True),
    text("domainId", None, "base", "`base`: the default domain."),
    text("originalUrl", None, "https://example.com/spring"),
    text("targetUrl", None, None, allow_null=True),
    text("title", None, "Spring campaign", allow_null=True),
    Field("tags", None, ListField(child=CharField()), ["spring"]),
    text("externalId", None, None, allow_null=True),
    flag("isActive", None, True),
    moment("startsAt", None, None, allow_null=True),
    moment("expiresAt", None, None, allow_null=True),
    number("maxClicks", None, None, allow_null=True),
)
_domain = Representation(
    "EventDomain",
    text("id", None, _DOMAIN_ID),
    text("fullDomain", None, "go.example.com"),
    text("status", None, "active"),
)
_key = Representation("EventKey", text("id", None, _OBJECT_ID), text("name", None, "Nightly import"))
_member = Representation("EventMember", text("id", None, _OBJECT_ID), text("role", None, "editor"))
_webhook = Representation(
    "EventWebhook",
    text("id", None, _OBJECT_ID),
    text("name", None, "Shop"),
    text("disabledReason", None, "failing"),
)
_change = DictField(help_text="The changed fields, as in the history.")
_LINK = (link.nested("link"),)
_click = Representation(
    "EventClick",
    text("id", None, _OBJECT_ID, "The click: the same in every message, so that you can count it once."),
    moment("time", None, "2030-03-01T09:30:00.123456Z"),
    text("linkId", None, _LINK_ID),
)


class Kind(NamedTuple):
    summary: str
    data: tuple[Field, ...]


KINDS: Mapping[EventType, Kind] = {
    EventType.LINK_CREATED: Kind("A link was created.", _LINK),
    EventType.LINK_UPDATED: Kind(
        "A link was changed.",
        (
            *_LINK,
            Field("before", None, _change, {"title": None}),
            Field("after", None, _change, {"title": "x"}),
        ),
    ),
    EventType.LINK_DELETED: Kind("A link was deleted.", _LINK),
    EventType.LINK_RESTORED: Kind("A deleted link was brought back.", _LINK),
    EventType.LINK_STARTED: Kind("The time from which a link works has come.", _LINK),
    EventType.LINK_EXPIRED: Kind("A link has expired.", _LINK),
    EventType.LINK_LIMIT_REACHED: Kind("A link has no clicks left.", _LINK),
    EventType.LINK_BANNED: Kind("The operator has blocked a link.", _LINK),
    EventType.LINK_CLICKED: Kind(
        "Up to 100 clicks, at most one message a second.",
        (_click.listed("clicks"),),
    ),
    EventType.DOMAIN_VERIFIED: Kind("A domain was verified.", (_domain.nested("domain"),)),
    EventType.DOMAIN_FAILING: Kind("The DNS records of a domain are wrong.", (_domain.nested("domain"),)),
    EventType.DOMAIN_INACTIVE: Kind("A domain was deactivated.", (_domain.nested("domain"),)),
    EventType.DESTINATION_UNHEALTHY: Kind("The destination of a link leads nowhere.", _LINK),
    EventType.DESTINATION_RECOVERED: Kind("The destination of a link works again.", _LINK),
    EventType.IMPORT_FINISHED: Kind("An import is finished.", (number("created", None, 12),)),
    EventType.KEY_CREATED: Kind("A key with scopes was created.", (_key.nested("key"),)),
    EventType.KEY_REVOKED: Kind("A key with scopes was deleted.", (_key.nested("key"),)),
    EventType.KEY_EXPIRING: Kind("A key with scopes is about to expire.", (_key.nested("key"),)),
    EventType.MEMBER_JOINED: Kind("An account has joined the workspace.", (_member.nested("member"),)),
    EventType.MEMBER_LEFT: Kind("An account has left the workspace.", (_member.nested("member"),)),
    EventType.WEBHOOK_DISABLED: Kind("The service has disabled a webhook.", (_webhook.nested("webhook"),)),
}


def data_example(of_type: str) -> dict[str, Any]:
    return {field.name: field.example for field in KINDS[EventType(of_type)].data if field.example is not ...}


def sample(of_type: str, event: UUID, time: datetime, workspace: UUID) -> Occurred:
    """An event that did not happen, for a test of an endpoint."""
    data = data_example(of_type)
    if of_type == EventType.LINK_CLICKED:
        data = {name: value for name, value in data["clicks"][0].items() if name not in ("id", "time")}
    return Occurred(event, of_type, time, workspace, data)
