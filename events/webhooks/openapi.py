"""What webhooks send, in the OpenAPI document: one of its `webhooks` for each type of event."""

from __future__ import annotations

from typing import Any

from drf_spectacular.plumbing import process_webhooks
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiRequest,
    OpenApiResponse,
    OpenApiWebhook,
    extend_schema,
    extend_schema_field,
)
from rest_framework.fields import CharField

from common.openapi.responses import Field, Representation, moment, text
from events.types import EventType
from events.webhooks.samples import KINDS

_HEADERS = {
    "webhook-id": "Id of the message, the same in each repetition.",
    "webhook-timestamp": "When it was signed, in seconds since 1970.",
    "webhook-signature": "`v1,` and the signature. During a rotation two of them, with a space between.",
}
_RESPONSES = {
    "2XX": OpenApiResponse(None, "The message has arrived."),
    "410": OpenApiResponse(None, "The receiver is gone: the webhook is disabled."),
}


def describe_messages(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """The first hook of drf-spectacular, because the others also change the components that this adds."""
    result["webhooks"] = process_webhooks([*map(_described, KINDS)], generator.registry)
    for methods in result["webhooks"].values():
        methods["post"]["security"] = []
        methods["post"]["parameters"] = [
            {
                "name": name,
                "in": "header",
                "required": True,
                "description": words,
                "schema": {"type": "string"},
            }
            for name, words in _HEADERS.items()
        ]
    result["components"] = generator.registry.build(spectacular_settings.APPEND_COMPONENTS)
    return result


def _described(kind: EventType) -> OpenApiWebhook:
    body = _message(kind)
    decorator = extend_schema(
        operation_id=f"on{_pascal(kind)}",
        summary=KINDS[kind].summary,
        description="Of the format `standard`. Repetitions have the same body while its events are stored.",
        tags=["Webhooks"],
        request=OpenApiRequest(body.serializer, examples=[OpenApiExample("Example", body.example)]),
        responses=_RESPONSES,
    )
    return OpenApiWebhook(kind.value, decorator)


def _message(kind: EventType) -> Representation:
    @extend_schema_field({"type": "string", "const": kind.value})
    class Type(CharField):
        pass

    return Representation(
        f"{_pascal(kind)}Message",
        text("id", None, "019a9e42-6f74-7e85-8a96-4d5e6f708193", "The event, or this group of clicks."),
        Field("type", None, Type(), kind.value),
        moment("timestamp", None, "2030-03-01T09:30:00.123456Z"),
        text("workspaceId", None, "019a9e3f-3c41-7b52-9d63-1a2b3c4d5e6f"),
        Representation(f"{_pascal(kind)}Data", *KINDS[kind].data).nested("data"),
    )


def _pascal(kind: EventType) -> str:
    return "".join(part.capitalize() for part in kind.value.replace(".", "_").split("_"))
