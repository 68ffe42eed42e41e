"""Links with three rules and a split, for redirects that depend on the visitor."""

from __future__ import annotations

from typing import Any

from bench.load.various_links import Variety, branch, various_codes

Conditions = tuple[list[dict[str, Any]], ...]

# Most visitors of the benchmarks match no rule, so all three are evaluated.
_CONDITIONS: Conditions = (
    [{"type": "country", "values": ["DE", "AT", "CH"], "not": False}],
    [{"type": "language", "values": ["ja", "ko"], "not": False}],
    [{"type": "device", "values": ["tablet"], "not": False}],
)
_MORE_CONDITIONS: Conditions = (
    [
        {"type": "network", "values": ["198.51.100.0/24", "203.0.113.0/24"], "not": True},
        {"type": "country", "values": ["DE", "AT", "CH"], "not": False},
    ],
    [{"type": "language", "values": ["ja", "ko"], "not": False}],
    [
        {"type": "query", "values": [{"name": "campaign", "value": "summer"}], "not": False},
        {"type": "device", "values": ["mobile"], "not": False},
        {"type": "referrerHost", "values": ["site7.example"], "not": False},
    ],
)
_WEIGHTS = (30, 20)


def _variety(prefix: str, conditions: Conditions, *, forwards_query: bool) -> Variety:
    return Variety(
        prefix,
        rules=tuple(branch(number) | {"conditions": own} for number, own in enumerate(conditions, 1)),
        split=tuple(
            branch(len(conditions) + number) | {"weight": weight} for number, weight in enumerate(_WEIGHTS, 1)
        ),
        forwards_query=forwards_query,
    )


ROUTED = _variety("routed", _CONDITIONS, forwards_query=False)
# With twice as many conditions, and the visitor's query.
FORWARDING = _variety("forwarding", _MORE_CONDITIONS, forwards_query=True)


def routed_codes(count: int, variety: Variety = ROUTED) -> list[str]:
    """The codes of ``count`` links of the owner of `plain_links`; creates the missing ones."""
    return various_codes(count, variety)
