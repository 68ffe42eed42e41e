from __future__ import annotations

from math import inf
from typing import Any

import orjson
import pytest

from redirects.router import Route, Split, compile_router
from redirects.visit import Visit
from testing.visitors.agents import FIREFOX

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z
TARGET = "https://example.com/?utm_source=news"


def rule(number: int, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {
        "_id": f"{number:032x}",
        "number": number,
        "name": f"Rule {number}",
        "url": f"https://{number}.example/",
        "href": f"https://{number}.example/",
        "conditions": list(conditions),
    }


def variant(number: int, weight: int) -> dict[str, Any]:
    href = f"https://{number}.example/"
    return {
        "_id": f"{number:032x}",
        "number": number,
        "name": "",
        "url": href,
        "href": href,
        "weight": weight,
    }


def condition(kind: str, *values: Any, negated: bool = False) -> dict[str, Any]:
    return {"type": kind, "values": list(values), "not": negated}


def routing(*rules: dict[str, Any], split: Any = (), forward: bool = False, utm: Any = None) -> str:
    fields = {"forward": forward, "rules": list(rules), "split": list(split), "utm": utm or {}}
    return orjson.dumps(fields).decode()


def visit(**fields: Any) -> Visit:
    return Visit(**{"address": "8.8.8.8", "user_agent": FIREFOX, **fields})


def branch(text: str, now: float = NOW, **fields: Any) -> int:
    return compile_router(text, 7, TARGET).route(visit(**fields), now).branch


AMERICAN, GERMAN = condition("country", "US"), condition("country", "DE")
DESKTOP, SCANNED = condition("device", "desktop"), condition("scanned")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (routing(rule(1, AMERICAN), rule(2, DESKTOP)), 1),
        (routing(rule(2, DESKTOP), rule(1, AMERICAN)), 2),
        (routing(rule(1, GERMAN), rule(2, DESKTOP)), 2),
        (routing(rule(1, GERMAN), rule(2, SCANNED)), 0),
        (routing(rule(1, AMERICAN, SCANNED), rule(2, AMERICAN, DESKTOP)), 2),
        (routing(), 0),
    ],
)
def test_the_first_rule_of_which_all_conditions_hold_decides(text: str, expected: int) -> None:
    assert branch(text) == expected


def test_the_split_decides_after_the_rules() -> None:
    text = routing(rule(1, GERMAN), split=[variant(2, 1), variant(3, 99)])

    assert branch(text, country="DE") == 1
    assert branch(text) == Split(7, {2: 1, 3: 99}).branch_of("8.8.8.8", FIREFOX)


def test_a_route_names_its_rule_or_its_variant() -> None:
    text = routing(rule(1, GERMAN), split=[variant(2, 50), variant(3, 50)], utm={"source": "mail"})
    router = compile_router(text, 7, TARGET)
    side = Split(7, {2: 50, 3: 50}).branch_of("8.8.8.8", FIREFOX)

    assert router.route(visit(country="DE"), NOW) == Route(
        "https://1.example/?utm_source=mail", 1, rule=f"{1:032x}"
    )
    assert router.route(visit(), NOW) == Route(
        f"https://{side}.example/?utm_source=mail", side, variant=f"{side:032x}"
    )
    assert compile_router(routing(), 7, TARGET).route(visit(), NOW) == Route(TARGET)


def test_the_query_is_forwarded_to_the_chosen_branch() -> None:
    router = compile_router(routing(rule(1, GERMAN), forward=True), 7, TARGET)

    assert router.route(visit(query="a=1&utm_source=x&qr=1", country="DE"), NOW).location == (
        "https://1.example/?a=1&utm_source=x"
    )
    assert router.route(visit(query="a=1&utm_source=x&qr=1"), NOW).location == f"{TARGET}&a=1"
    assert router.route(visit(), NOW).location == TARGET


WINTER = condition("time", {"until": "2027-03-01T00:00:00Z"})
SPRING = 1_803_859_200.0


def test_a_condition_on_the_time_takes_effect_at_its_boundary() -> None:
    text = routing(
        rule(1, WINTER), rule(2, condition("time", {"from": "2027-06-01T00:00:00Z"}, negated=True))
    )

    assert [branch(text, SPRING - 0.001), branch(text, SPRING), branch(text, SPRING - 0.001)] == [1, 2, 1]
    assert compile_router(text, 7, TARGET).next_change(NOW) == SPRING
    assert compile_router(text, 7, TARGET).next_change(SPRING) == 1_811_808_000.0
    assert compile_router(text, 7, TARGET).next_change(1_811_808_000.0) == inf


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (routing(rule(1, WINTER)), Route("https://1.example/", 1, rule=f"{1:032x}"), Route(TARGET)),
        (routing(rule(1, AMERICAN, WINTER)), None, Route(TARGET)),
        (routing(rule(1, WINTER), rule(2, AMERICAN)), Route("https://1.example/", 1, rule=f"{1:032x}"), None),
        (routing(rule(1, WINTER), split=[variant(2, 1), variant(3, 1)]),
         Route("https://1.example/", 1, rule=f"{1:032x}"), None),
        (routing(rule(1, WINTER), forward=True), None, None),
    ],
)  # fmt: skip
def test_a_route_is_constant_if_no_visit_can_change_it(
    text: str, before: Route | None, after: Route | None
) -> None:
    router = compile_router(text, 7, TARGET)

    assert router.constant_route(NOW) == before
    assert router.constant_route(SPRING) == after


def test_a_rule_names_its_first_condition_that_fails() -> None:
    router = compile_router(routing(rule(1, AMERICAN, SCANNED, WINTER)), 7, TARGET)

    assert router.rules[0].first_failing(visit(), NOW) == 1
    assert router.rules[0].first_failing(visit(scanned=True), NOW) is None
    assert router.rules[0].first_failing(visit(scanned=True), SPRING) == 2


def test_the_compiled_router_is_cached() -> None:
    assert compile_router(routing(rule(1, AMERICAN)), 7, TARGET) is compile_router(
        routing(rule(1, AMERICAN)), 7, TARGET
    )
    assert compile_router(routing(), 7, TARGET) is not compile_router(routing(), 8, TARGET)
