from __future__ import annotations

from typing import Any

from rest_framework.fields import CharField, ChoiceField, FloatField, ListField

from common.openapi.responses import (
    Field,
    Representation,
    choice,
    flag,
    moment,
    number,
    public_id,
    text,
)
from events.types import EventType
from events.webhooks.models import DeliveryStatus, Format, Webhook
from events.webhooks.secrets import unseal

_TYPES = [kind.value for kind in EventType]
_ID = "019a9e41-5e63-7d74-9f85-3c4d5e6f7081"
SECRET_EXAMPLE = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 # an example
_HELP_OF_URL = "The addresses of chats are secrets, and not shown: null."


def _ids(name: str, source: Any, example: list[str], help_text: str | None = None) -> Field:
    return Field(name, source, ListField(child=CharField(), help_text=help_text), example)


def _shown_url(of: Webhook) -> str | None:
    if of.format != Format.STANDARD or of.sealed_url is None:
        return None
    return unseal(of.sealed_url, of.public_id)


_filters = Representation(
    "WebhookFilters",
    _ids("tags", "tags", ["spring"]),
    _ids("urlIds", "url_ids", []),
    _ids("domainIds", "domain_ids", []),
)
webhook = Representation(
    "Webhook",
    public_id(_ID),
    text("name", "name", "Shop"),
    choice("format", "format", Format.values, "standard"),
    text("url", _shown_url, "https://shop.example.com/hooks", _HELP_OF_URL, allow_null=True),
    text("host", "host", "shop.example.com", "Null: mails.", allow_null=True),
    _ids("memberIds", "member_ids", []),
    Field(
        "types",
        "types",
        ListField(child=ChoiceField(_TYPES)),
        ["link.created", "link.clicked"],
    ),
    _filters.nested("filters", _filters),
    flag("isEnabled", "is_enabled", True),
    text(
        "disabledReason",
        "disabled_reason",
        None,
        "`manual`; `gone`: it answered 410; `failing`: nothing but failures for five days. Null: enabled.",
        allow_null=True,
    ),
    moment("disabledAt", "disabled_at", None, allow_null=True),
    moment(
        "failingSince",
        "failing_since",
        None,
        allow_null=True,
        help_text="The first failure since the last success.",
    ),
    moment(
        "formerSecretUntil",
        "former_secret_until",
        None,
        allow_null=True,
        help_text="Until when messages also have the signature of the former secret.",
    ),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
    moment("updatedAt", "updated_at", "2030-03-02T17:05:41.654321Z"),
)
SECRET = text(
    "secret",
    None,
    SECRET_EXAMPLE,
    "Signs messages of the format `standard`; null with others. It is shown once.",
    allow_null=True,
)
_request = Representation(
    "DeliveryRequest",
    text("host", "host", "shop.example.com", allow_null=True),
    text(
        "body",
        "body",
        '{"id":"019a9e42","type":"link.created"}',
        "Written again from its events; sentences are in your language. Null: they are deleted.",
        allow_null=True,
    ),
)
delivery = Representation(
    "Delivery",
    public_id("019a9e42-6f74-7e85-8a96-4d5e6f708192")._replace(source="delivery.public_id"),
    text("messageId", "delivery.message_id", "019a9e42-6f74-7e85-8a96-4d5e6f708193", "The `webhook-id`."),
    choice("type", "delivery.type", _TYPES, "link.created"),
    number("events", "events", 1, "How many events it has.", min_value=1),
    flag("isTest", "delivery.is_test", False),
    choice("status", "delivery.status", DeliveryStatus.values, "delivered"),
    number("attempts", "delivery.attempts", 1, min_value=0),
    moment("nextAttemptAt", "next_attempt", None, allow_null=True),
    moment("sentAt", "delivery.sent_at", "2030-03-01T09:30:01.123456Z", allow_null=True),
    number("responseStatus", "delivery.http_status", 204, allow_null=True),
    Field(
        "seconds",
        "delivery.seconds",
        FloatField(allow_null=True, help_text="Duration of the last attempt."),
        0.12,
    ),
    text("response", "delivery.answer", "", "The first 1024 bytes of the last answer.", allow_null=True),
    text("error", "delivery.error", None, "Why there was no answer.", allow_null=True),
    _request.nested("request", _request),
    moment("createdAt", "delivery.created_at", "2030-03-01T09:30:00.123456Z"),
)
_page = Representation(
    "DeliveryPagination",
    number("limit", None, 20, min_value=1),
    text("nextCursor", None, None, "Null on the last page.", allow_null=True),
)
DELIVERY_PAGE = (delivery.listed("deliveries"), _page.nested("pagination"))
