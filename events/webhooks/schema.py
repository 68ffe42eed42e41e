"""The OpenAPI description of the endpoints under /api/webhooks."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema_serializer

from accounts.mails import NoMail
from common.errors import InvalidFields, NotFound
from common.openapi.error_examples import invalid, invalid_destination
from common.openapi.operations import Operation, describe, name_choices
from common.rest.fields import DIRECTION_REFUSED, PublicIdField
from events.types import EventType
from events.webhooks.models import DeliveryStatus, Format
from events.webhooks.retries import DELAYS
from events.webhooks.selectors import BAD_CURSOR
from events.webhooks.serializers import (
    CreateWebhookSerializer,
    ReplaySerializer,
    TestWebhookSerializer,
    UpdateWebhookSerializer,
    WebhookFiltersSerializer,
)
from events.webhooks.services import (
    FORMER_SECRET_HOURS,
    RULES,
    NoRequests,
    NotSigned,
    ReplayRunning,
    TooManyWebhooks,
    WebhookDisabled,
)

name_choices("EventType", [kind.value for kind in EventType])
name_choices("WebhookFormat", Format.values)
name_choices("DeliveryStatus", DeliveryStatus.values)
for _name, _serializer in {
    "CreateWebhook": CreateWebhookSerializer,
    "UpdateWebhook": UpdateWebhookSerializer,
    "TestWebhook": TestWebhookSerializer,
    "ReplayEvents": ReplaySerializer,
    "WebhookFilterIds": WebhookFiltersSerializer,
}.items():
    extend_schema_serializer(component_name=_name)(_serializer)

_FIELDS = [
    invalid("name", "direction", DIRECTION_REFUSED),
    InvalidFields([*RULES.values()]),
    *(
        invalid(name, "id", str(PublicIdField.default_error_messages["id"]))
        for name in ("memberIds.0", "filters.urlIds.0", "filters.domainIds.0")
    ),
    invalid_destination("url"),
]
_CREATE = {
    "name": "Shop",
    "url": "https://shop.example.com/hooks",
    "types": ["link.created", "link.clicked"],
    "filters": {"tags": ["spring"]},
}

describe_webhooks = describe(
    "Webhooks",
    of="webhook",
    list=Operation(
        "listWebhooks",
        "List the webhooks of the workspace, the oldest first.",
        "All of them, without their secrets.",
        description="`disabledReason` and `failingSince` say which of them need attention.",
        component="Webhooks",
    ),
    create=Operation(
        "createWebhook",
        "Create a webhook.",
        "The webhook. Save `secret`: it is not shown again.",
        description="Events of the chosen types that happen from now on are sent to the URL, signed as Standard"
        " Webhooks 1.0.0 asks. `slack`, `discord` and `teams` take the address of an incoming webhook there, and send"
        " readable messages. `mail` sends mails to members of the workspace. Answer with a status from 200 to 299"
        f" within 15 seconds; otherwise the message is sent again, at most {len(DELAYS)} times in all within three"
        " days. The status 410, or five days of nothing but failures, disable the webhook.",
        examples=[_CREATE],
        errors=[*_FIELDS, TooManyWebhooks(20), NoMail(), NoRequests()],
    ),
    retrieve=Operation("getWebhook", "Read a webhook.", "The webhook.", description="Without its secret."),
    partial_update=Operation(
        "updateWebhook",
        "Change, disable or enable a webhook.",
        "The webhook.",
        description="Omitted fields keep their value; the format stays. You can send back the whole object. An enabled"
        " webhook gets what happens from then on; `replay` sends what it has missed.",
        examples=[{"name": "Online shop", "isEnabled": True}],
        errors=_FIELDS,
    ),
    destroy=Operation(
        "deleteWebhook",
        "Delete a webhook.",
        "The webhook and its deliveries are deleted.",
        description="A message that is on its way may still arrive.",
    ),
    rotate_secret=Operation(
        "rotateWebhookSecret",
        "Replace the secret of a webhook.",
        "The webhook. Save `secret`: it is not shown again.",
        description=f"For {FORMER_SECRET_HOURS} hours, messages have a signature of each of the two secrets.",
        errors=[NotSigned()],
    ),
    test=Operation(
        "testWebhook",
        "Send an example to a webhook.",
        "The delivery, which is pending. Read it again to see the answer.",
        description="An event of the type `type` that did not happen.",
        component="TestWebhookResult",
        examples=[{"type": "link.created"}],
        errors=[WebhookDisabled()],
    ),
    deliveries=Operation(
        "listDeliveries",
        "List the messages to a webhook, the newest first.",
        "One page; more pages follow as long as `nextCursor` is not null.",
        description="Filters combine. Deliveries and their events are kept for some weeks.",
        errors=[InvalidFields([BAD_CURSOR])],
    ),
    resend=Operation(
        "resendDelivery",
        "Send a message again.",
        "A new delivery of the same message, with the same `messageId`.",
        description="Receivers that remember ids see that they know it.",
        parameters=[
            OpenApiParameter(
                "deliveryId",
                str,
                OpenApiParameter.PATH,
                description="The `_id` of a delivery of the webhook.",
            )
        ],
        errors=[NotFound("Delivery not found."), WebhookDisabled()],
    ),
    replay=Operation(
        "replayEvents",
        "Send stored events again.",
        "They will be sent.",
        description="Those of the time from `from` to before `to` that match the webhook's filters, with the ids that"
        " they had. Events were stored if a webhook or the feed wanted their type then.",
        examples=[{"from": "2026-01-05T09:30:00Z"}],
        errors=[
            invalid("from", "order", str(ReplaySerializer.default_error_messages["order"])),
            WebhookDisabled(),
            ReplayRunning(),
        ],
    ),
)
