"""The kinds of events."""

from __future__ import annotations

from django.db import models


class EventType(models.TextChoices):
    LINK_CREATED = "link.created"
    LINK_UPDATED = "link.updated"
    LINK_DELETED = "link.deleted"
    LINK_RESTORED = "link.restored"
    LINK_STARTED = "link.started"
    LINK_EXPIRED = "link.expired"
    LINK_LIMIT_REACHED = "link.limit_reached"
    LINK_BANNED = "link.banned"
    LINK_CLICKED = "link.clicked"
    DOMAIN_VERIFIED = "domain.verified"
    DOMAIN_FAILING = "domain.failing"
    DOMAIN_INACTIVE = "domain.inactive"
    DESTINATION_UNHEALTHY = "destination.unhealthy"
    DESTINATION_RECOVERED = "destination.recovered"
    IMPORT_FINISHED = "import.finished"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    KEY_EXPIRING = "key.expiring"
    MEMBER_JOINED = "member.joined"
    MEMBER_LEFT = "member.left"
    WEBHOOK_DISABLED = "webhook.disabled"


# The data of `link.clicked` are stored as a list of these: each counted click would repeat the names.
CLICK_DATA = (
    "id",
    "time",
    "linkId",
    "code",
    "device",
    "operatingSystem",
    "browser",
    "country",
    "region",
    "city",
    "referrer",
    "channel",
    "isScan",
    "branch",
)
