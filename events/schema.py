"""The OpenAPI description of the feed."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_serializer

from common.errors import InvalidFields
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe
from events.feed import BAD_CURSOR, NOT_COLLECTED
from events.serializers import FeedSerializer, TypesField

extend_schema_serializer(component_name="UpdateEventFeed")(FeedSerializer)
describe_feed = describe(
    "Events",
    list=Operation(
        "listEvents",
        "Read the next events of the workspace, in their order.",
        "Events, the oldest first.",
        description="For programs without a public address: the same events as webhooks get. Call it again with"
        " `next` as `after`; every event appears once, also one whose change takes long. Events are deleted after"
        " about a month.",
        errors=[
            InvalidFields([BAD_CURSOR]),
            InvalidFields([NOT_COLLECTED]),
            invalid("types", "type", str(TypesField.default_error_messages["type"])),
        ],
    ),
    retrieve=Operation(
        "getEventFeed",
        "Read which events are collected for the feed.",
        "The feed.",
        description="Without a feed, `types` is empty.",
    ),
    update=Operation(
        "updateEventFeed",
        "Choose which events are collected for the feed.",
        "The feed.",
        description="From now on. An empty list ends it.",
        examples=[{"types": ["link.created", "link.clicked"]}],
    ),
)
