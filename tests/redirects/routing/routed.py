"""Links with rules, and where they lead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from links.destinations import lookup as destinations
from links.destinations.lookup import Target, read_target
from testing.redirects.visits import Outcome

MakeLink = Callable[..., dict[str, Any]]
MakeRouted = Callable[..., str]
SPRING = {
    "title": "Spring",
    "description": "All <b>about</b> it",
    "imageUrl": "https://example.com/spring.png",
}


@pytest.fixture
def make_routed(make_link: MakeLink, monkeypatch: pytest.MonkeyPatch) -> MakeRouted:
    """Creates a link whose target has these fields, and returns its path."""
    changed: dict[str, Target] = {}

    def make(**fields: Any) -> str:
        code = make_link()["shortCode"]
        target = read_target("sho.rt", code)
        assert isinstance(target, Target)
        changed[code] = replace(target, **fields)
        return f"/{code}"

    monkeypatch.setattr(destinations, "read_target", lambda _host, code: changed[code])
    return make


def routing(*rules: dict[str, Any], split: Any = (), forward: bool = False) -> str:
    return orjson.dumps({"forward": forward, "rules": rules, "split": split, "utm": {}}).decode()


def rule(number: int, *conditions: dict[str, Any]) -> dict[str, Any]:
    href = f"https://{number}.example/"
    return {"_id": f"{number:032x}", "number": number, "name": "", "href": href, "conditions": conditions}


def condition(kind: str, *values: Any, negated: bool = False) -> dict[str, Any]:
    return {"type": kind, "values": values, "not": negated}


def location_of(outcome: Outcome) -> str:
    return outcome.response.partition(b"\r\nLocation: ")[2].partition(b"\r\n")[0].decode()


US, MOBILE_ONLY = condition("country", "US"), condition("device", "mobile")
