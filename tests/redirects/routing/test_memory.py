"""The memory of compiled rules, whose estimate bounds the caches of a worker."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from common.time_zones import zones
from links.fields import DAYS
from links.routing.columns import MAX_BYTES
from links.routing.conditions import CONDITION_TYPES
from links.routing.serializers import MAX_CONDITIONS, MAX_RULES, MAX_SCHEDULES, MAX_TIME_ZONES, MAX_VALUES
from redirects import router, rule_conditions
from redirects.router import compile_router

LOCATION = "https://e.co/"
ZONES = sorted(zones())[:: len(zones()) // MAX_TIME_ZONES][:MAX_TIME_ZONES]
Values = Callable[[int], Any]


def hour(number: int) -> dict[str, Any]:
    zone = ZONES[number % MAX_TIME_ZONES]
    return {"days": [*DAYS], "from": f"00:{number:02}", "until": "00:00", "timezone": zone}


# The shortest values of each type, of which the compiled form is the largest in comparison.
SHORTEST: dict[str, tuple[str, Values]] = {
    "country": ("country", lambda number: f"{chr(65 + number // 26)}{chr(65 + number % 26)}"),
    "os": ("os", lambda number: chr(0x21 + number % 90)),
    "Greek os": ("os", lambda number: chr(0x391 + number)),
    "emoji os": ("os", lambda number: chr(0x1F300 + number)),
    "language": ("language", lambda number: f"{chr(97 + number // 26)}{chr(97 + number % 26)}"),
    "referrerHost": ("referrerHost", lambda number: f"{number}.de"),
    "query name": ("query", lambda number: {"name": chr(0x1F300 + number)}),
    "query value": ("query", lambda number: {"name": chr(0x1F300 + number), "value": chr(0x1F300 + number)}),
    "IPv4": ("network", lambda number: f"{number % 223 + 1}.0.0.0/{8 + number % 25}"),
    "IPv6": ("network", lambda number: f"{number + 1:x}::/{16 + number % 112}"),
    "time": ("time", lambda number: {"from": f"2030-01-01T00:00:{number % 60:02}Z"}),
    "schedule": ("schedule", hour),
}


def largest_rules(kind: str, value: Values, in_condition: int) -> list[dict[str, Any]]:
    count = MAX_SCHEDULES if kind == "schedule" else MAX_VALUES
    values = [value(number) for number in range(min(count, in_condition * MAX_CONDITIONS * MAX_RULES))]
    parts = [
        {"type": kind, "values": values[start : start + in_condition], "not": False}
        for start in range(0, len(values), in_condition)
    ]
    return [
        {"_id": f"{number:032x}", "number": number + 1, "name": "", "url": LOCATION, "href": LOCATION,
         "conditions": parts[number * MAX_CONDITIONS : (number + 1) * MAX_CONDITIONS]}
        for number in range(-(-len(parts) // MAX_CONDITIONS))
    ]  # fmt: skip


def compiled_bytes(routing: str) -> int:
    """Return the bytes that stay allocated after compiling and preparing the rules."""
    rule_conditions.compiled_conditions.clear()
    router.compiled_routers.clear()
    tracemalloc.start()
    try:
        compiled = compile_router(routing, 1, LOCATION)
        compiled.next_change(1_800_000_000.0)
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("in_condition", [1, 7, 20, 50])
@pytest.mark.parametrize("name", SHORTEST)
def test_compiled_rules_take_no_more_memory_than_estimated(name: str, in_condition: int) -> None:
    kind, value = SHORTEST[name]
    rules = largest_rules(kind, value, min(in_condition, CONDITION_TYPES[kind].max_values))
    while len(orjson.dumps([rules, []])) > MAX_BYTES:
        rules.pop()
    routing = orjson.dumps({"forward": False, "rules": rules, "split": [], "utm": {}}).decode()
    # Loads the time zones, and fills caches of the interpreter.
    compiled_bytes(routing)

    assert compiled_bytes(routing) <= compile_router(routing, 1, LOCATION).size
