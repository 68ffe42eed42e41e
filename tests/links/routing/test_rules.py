"""The rules of `rules` and `split`, with the exact error for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from common.time_zones import zones
from links.routing.serializers import TOO_MANY
from testing.cases import for_each
from testing.links.calls import whole
from testing.links.many import URL, create_many
from testing.links.routing_fields import RULES, SPLIT
from testing.refusals import broken_rules

pytestmark = pytest.mark.django_db(transaction=True)

MakeLink = Callable[..., dict[str, Any]]

TARGET = "https://example.com/target"
COUNTRY = {"type": "country", "values": ["DE"]}


def rule(*conditions: Any, **fields: Any) -> dict[str, Any]:
    return {"url": TARGET, "conditions": [*conditions] or [COUNTRY], **fields}


def errors(api: APIClient, **fields: Any) -> list[tuple[str, str]]:
    return broken_rules(api.post("/api/urls", {"originalUrl": URL, **fields}))


def stored_condition(api: APIClient, make_link: MakeLink, **condition: Any) -> dict[str, Any]:
    [stored] = whole(api, make_link(rules=[rule(condition)]))["rules"][0]["conditions"]
    assert isinstance(stored, dict)
    return stored


PERIOD = {"from": "2030-01-01T00:00:00Z", "until": "2030-02-01T00:00:00Z"}
NIGHT = {"days": ["mon", "sun"], "from": "22:00", "until": "06:00", "timezone": "Europe/Berlin"}


@pytest.mark.parametrize(
    ("kind", "values", "stored"),
    [
        ("country", ["de", "FR"], ["DE", "FR"]),
        ("device", ["desktop", "tablet"], ["desktop", "tablet"]),
        ("os", ["Windows", "iOS"], ["Windows", "iOS"]),
        ("browser", ["Firefox"], ["Firefox"]),
        ("language", ["de", "pt-BR"], ["de", "pt-BR"]),
        ("referrerHost", ["WWW.A.example.", "direct", "bücher.de", "[2001:DB8::1]"],
         ["www.a.example", "direct", "xn--bcher-kva.de", "[2001:db8::1]"]),
        ("query", [{"name": "ref"}, {"name": "a", "value": ""}],
         [{"name": "ref"}, {"name": "a", "value": ""}]),
        ("network", ["192.0.2.7/24", "2001:db8::1", "::ffff:192.0.2.0/120"],
         ["192.0.2.0/24", "2001:db8::1/128", "192.0.2.0/24"]),
        ("time", [PERIOD, {"from": "2030-01-01T01:00:00+01:00"}], [PERIOD, {"from": "2030-01-01T00:00:00Z"}]),
        ("schedule", [NIGHT, {**NIGHT, "days": ["sun", "mon", "sun"]}], [NIGHT, NIGHT]),
        ("scanned", [], []),
    ],
)  # fmt: skip
def test_condition_is_stored_in_normal_form(
    kind: str, values: Any, stored: list[Any], api: APIClient, make_link: MakeLink
) -> None:
    for negated in (False, True):
        condition = stored_condition(api, make_link, type=kind, values=values, **{"not": negated})
        assert condition == {"type": kind, "values": stored, "not": negated}
    assert stored_condition(api, make_link, type=kind, values=values)["not"] is False


@for_each(
    ("kind", "values", "code"),
    [
        ("country", ["DE", "XX"], "country"),
        ("country", ["Germany"], "country"),
        ("country", [5], "invalid"),
        ("country", [None], "null"),
        ("country", [], "min_length"),
        ("country", None, "null"),
        ("country", "DE", "not_a_list"),
        ("country", ["DE"] * 51, "max_length"),
        ("device", ["watch"], "device"),
        ("os", ["x" * 65], "max_length"),
        ("os", [""], "blank"),
        ("browser", [{}], "invalid"),
        ("language", ["de_DE"], "language"),
        ("language", ["*"], "language"),
        ("language", ["x" * 36], "max_length"),
        ("referrerHost", ["https://example.com"], "host"),
        ("referrerHost", ["example.com/path"], "host"),
        ("referrerHost", ["example.com:8080"], "host"),
        ("referrerHost", ["example.com:443"], "host"),
        ("referrerHost", ["example.com:"], "host"),
        ("referrerHost", ["[2001:db8::1]:443"], "host"),
        ("referrerHost", ["*.example.com"], "host"),
        ("referrerHost", ["%2A.example.com"], "host"),
        ("referrerHost", ["a@example.com"], "host"),
        ("query", ["ref"], "invalid"),
        ("query", [{}], "required"),
        ("query", [{"name": "ref", "value": None}], "null"),
        ("query", [{"name": "ref", "regex": "x"}], "unknown_field"),
        ("network", ["192.0.2.0/33"], "network"),
        ("network", ["fe80::1%eth0"], "network"),
        ("network", ["example.com"], "network"),
        ("network", ["192.0.2.0/24"] * 21, "max_length"),
        ("time", [{}], "required"),
        ("time", [{"from": None}], "null"),
        ("time", [{**PERIOD, "until": None}], "null"),
        ("time", [{"from": "noon"}], "invalid"),
        ("time", [{"from": PERIOD["until"], "until": PERIOD["from"]}], "period"),
        ("schedule", [{**NIGHT, "timezone": "Mars/Olympus"}], "zone"),
        ("schedule", [{**NIGHT, "timezone": "../../etc/passwd"}], "zone"),
        ("schedule", [{**NIGHT, "from": "24:00"}], "time_of_day"),
        ("schedule", [{**NIGHT, "days": ["Monday"]}], "day"),
        ("schedule", [{**NIGHT, "days": []}], "min_length"),
        ("schedule", [{"days": ["mon"], "from": "08:00", "until": "18:00"}], "required"),
        ("scanned", ["yes"], "no_values"),
        ("scanned", None, "null"),
    ],
)
def test_invalid_values_are_rejected(kind: str, values: Any, code: str, api: APIClient) -> None:
    rules = [*RULES, rule({"type": kind, "values": values})]
    assert errors(api, rules=rules) == [("rules.2.conditions.0.values", code)]


@for_each(
    ("rules", "broken"),
    [
        ([rule()] * 11, ("rules", "too_many_rules")),
        ([rule({"type": "weather", "values": ["rain"]})], ("rules.0.conditions.0.type", "unknown_condition")),
        ([rule({"values": ["DE"]})], ("rules.0.conditions.0.type", "required")),
        ([rule({"type": ["country"], "values": ["DE"]})], ("rules.0.conditions.0.type", "invalid")),
        ([rule({**COUNTRY, "not": "yes"})], ("rules.0.conditions.0.not", "invalid")),
        ([rule({**COUNTRY, "note": True})], ("rules.0.conditions.0.note", "unknown_field")),
        ([rule("country")], ("rules.0.conditions.0", "invalid")),
        ([rule(*[COUNTRY] * 9)], ("rules.0.conditions", "max_length")),
        ([{"url": TARGET, "conditions": []}], ("rules.0.conditions", "min_length")),
        ([{"url": TARGET}], ("rules.0.conditions", "required")),
        ([{"conditions": [COUNTRY]}], ("rules.0.url", "required")),
        ([rule(), rule(url="nonsense")], ("rules.1.url", "invalid_url")),
        ([rule(url=None)], ("rules.0.url", "null")),
        ([rule(name="x" * 51)], ("rules.0.name", "max_length")),
        ([rule(name=5)], ("rules.0.name", "invalid")),
        ([rule(_id=5)], ("rules.0._id", "invalid")),
        ([rule(weight=5)], ("rules.0.weight", "unknown_field")),
        ([None], ("rules.0", "null")),
        (["rule"], ("rules.0", "invalid")),
    ],
)
def test_invalid_rule_is_rejected(rules: Any, broken: tuple[str, str], api: APIClient) -> None:
    assert errors(api, rules=rules) == [broken]


def test_rules_have_a_maximum_length_in_total(api: APIClient) -> None:
    values = [{"name": "n" * 100, "value": "v" * 200}] * 50
    long, rest = (
        rule({"type": "query", "values": values[:45]}),
        rule({"type": "query", "values": values[:10]}),
    )
    # The body of a single call cannot be as long.
    verdicts = create_many(
        api, [{"originalUrl": URL, "rules": [long, rest]}, {"originalUrl": URL, "rules": [long]}]
    )
    assert [(error["field"], error["code"]) for error in verdicts[0]["errors"]] == [("rules", "too_long")]
    assert verdicts[1]["status"] == 201


ZONES = sorted(zones())


def values_of(kind: str, count: int, value: Any) -> list[dict[str, Any]]:
    return [{"type": kind, "values": [value] * 50}] * (count // 50) + (
        [{"type": kind, "values": [value] * (count % 50)}] if count % 50 else []
    )


@pytest.mark.parametrize(
    ("conditions", "too_many"),
    [
        (values_of("os", 500, "iOS"), None),
        (values_of("os", 501, "iOS"), "values"),
        (values_of("schedule", 50, NIGHT), None),
        (values_of("schedule", 51, NIGHT), "schedules"),
        ([{"type": "schedule", "values": [{**NIGHT, "timezone": zone} for zone in ZONES[:20]]}], None),
        (
            [{"type": "schedule", "values": [{**NIGHT, "timezone": zone} for zone in ZONES[:21]]}],
            "time zones",
        ),
    ],
)
def test_the_conditions_of_a_link_are_limited_in_total(
    conditions: list[dict[str, Any]], too_many: str | None, api: APIClient
) -> None:
    response = api.post(
        "/api/urls",
        {
            "originalUrl": URL,
            "rules": [rule(*conditions[index::6]) for index in range(min(6, len(conditions)))],
        },
    )

    if too_many is None:
        assert response.status_code == 201
    else:
        assert broken_rules(response) == [("rules", "too_many")]
        assert response.json()["errors"][0]["message"] == TOO_MANY[too_many]


@pytest.mark.parametrize(
    ("split", "broken"),
    [
        ([SPLIT[0]], ("split", "min_length")),
        ([{**SPLIT[0], "weight": 1}] * 6, ("split", "max_length")),
        ([{**SPLIT[0], "weight": 50}, {**SPLIT[1], "weight": 51}], ("split", "weights")),
        ([{**SPLIT[0], "weight": 0}, SPLIT[1]], ("split.0.weight", "min_value")),
        ([SPLIT[1], {**SPLIT[0], "weight": 100}], ("split.1.weight", "max_value")),
        ([SPLIT[1], {**SPLIT[0], "weight": 5.0}], ("split.1.weight", "invalid")),
        ([SPLIT[0], {"url": TARGET}], ("split.1.weight", "required")),
        ([SPLIT[0], {"weight": 5}], ("split.1.url", "required")),
        ([SPLIT[0], {**SPLIT[1], "conditions": []}], ("split.1.conditions", "unknown_field")),
    ],
)
def test_invalid_split_is_rejected(split: Any, broken: tuple[str, str], api: APIClient) -> None:
    assert errors(api, split=split) == [broken]


def test_weights_may_add_up_to_one_hundred(api: APIClient, make_link: MakeLink) -> None:
    split = [{**SPLIT[0], "weight": 50}, {**SPLIT[1], "weight": 50}]
    assert [variant["weight"] for variant in whole(api, make_link(split=split))["split"]] == [50, 50]


def test_ten_rules_with_eight_conditions_are_accepted(api: APIClient, make_link: MakeLink) -> None:
    rules = [rule(*[COUNTRY] * 8, name="x" * 50)] * 10
    assert [len(stored["conditions"]) for stored in whole(api, make_link(rules=rules))["rules"]] == [8] * 10
