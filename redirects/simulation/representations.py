"""A simulated visit as the API shows it: each field's value, schema and example."""

from __future__ import annotations

from typing import Any

from analytics.serializers import KINDS
from common.openapi.responses import Representation, choice, flag, number, text
from redirects.checks import ORDER
from redirects.simulation.services import Simulation

_STEP = Representation(
    "SimulationStep",
    choice("check", "check", ORDER, "country"),
    flag("passed", "passed", True),
    text(
        "detail",
        "detail",
        "The visitor's country is DE, which the link allows: DE, FR.",
        "One sentence with the values that decided.",
    ),
)
_OUTCOME = Representation(
    "SimulationOutcome",
    number("status", "status", 302, "The HTTP status of the response."),
    text("reason", "reason", None, "The reason for a refusal, as in `X-Refusal-Reason`.", allow_null=True),
    text(
        "location",
        "location",
        "https://example.com/de",
        "The `Location` header; null if the response is not a redirect.",
        allow_null=True,
    ),
    text(
        "rule",
        "rule",
        "0b7c4a1e5d2f4c419b1e2f6d0c8a4b75",
        "The `_id` of the rule that matched.",
        allow_null=True,
    ),
    text(
        "variant",
        "variant",
        None,
        "The `_id` of the entry of the split; null with the target or a rule.",
        allow_null=True,
    ),
    flag("counted", "counted", True, "Whether the visit counts as a click."),
    choice("kind", "kind", [*KINDS], "click", "The kind of the visit in the log of clicks."),
)
STEPS = _STEP.listed("steps")
OUTCOME = _OUTCOME.nested("outcome")


def simulation(result: Simulation) -> dict[str, Any]:
    return {"steps": [_STEP(step) for step in result.steps], "outcome": _OUTCOME(result.outcome)}
