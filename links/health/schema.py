"""The OpenAPI description of checks that owners ask for."""

from __future__ import annotations

from common.openapi.operations import Operation, describe, name_choices
from links.bulk.schema import ID, OWN_IDS
from links.health.services import LIMIT, MAX_LINKS, OutboundOff
from links.health.states import HealthStatus

name_choices("HealthStatus", HealthStatus.values)
describe_checks = describe(
    "Links",
    of="URL",
    check=Operation(
        "checkUrls",
        "Check the destinations of URLs now.",
        "The checks take place soon, mostly within minutes.",
        description=f"At most {MAX_LINKS} URLs in a call, and {LIMIT.attempts} calls in {LIMIT.seconds // 60} minutes."
        " `health` of each URL then has the result. Without checks of its own, a URL never becomes `dead`.",
        examples=[{"ids": [ID]}],
        placeholders={"ids": OWN_IDS},
        errors=[OutboundOff()],
    ),
)
