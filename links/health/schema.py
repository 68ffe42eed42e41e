"""The OpenAPI description of checks that owners ask for."""

from __future__ import annotations

from common.openapi.operations import Operation, describe
from links.health.services import LIMIT, MAX_LINKS, OutboundOff

describe_checks = describe(
    "Links",
    of="URL",
    check=Operation(
        "checkUrls",
        "Check the destinations of URLs now.",
        "The checks take place within minutes.",
        description=f"At most {MAX_LINKS} URLs in a call, and {LIMIT.attempts} calls in {LIMIT.seconds // 60} minutes."
        " `health` of each URL then has the result. Without checks of its own, a URL never becomes `dead`.",
        examples=[{"ids": ["019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"]}],
        errors=[OutboundOff()],
    ),
)
