"""The checks have an order: the first one that refuses decides."""

from itertools import combinations
from typing import Any

import pytest

from pages.refusals import Refusal
from redirects import refusals
from redirects.checks import CHECKS, ORDER, decide
from redirects.visit import Visit
from testing.cases import for_each
from testing.visitors.agents import GOOGLEBOT
from tests.redirects.following.decisions import MOMENT, NOW, target, visitor

# The rules in order, each with fields that make it refuse an American visitor on a desktop.
RULES: list[tuple[dict[str, Any], Refusal]] = [
    ({"is_active": False, "ban_reason": "legal"}, refusals.LEGAL),
    ({"starts_at": NOW + MOMENT}, refusals.NOT_STARTED),
    ({"expires_at": NOW}, refusals.EXPIRED),
    ({"clicks": 25, "max_clicks": 25}, refusals.LIMIT_REACHED),
    ({"allowed_countries": ("GB",)}, refusals.COUNTRY),
    ({"allowed_devices": ("mobile",)}, refusals.DEVICE),
]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(*pair, id=f"{pair[0][1].reason} before {pair[1][1].reason}")
        for pair in combinations(RULES, 2)
    ],
)
def test_the_first_refusing_rule_decides(
    first: tuple[dict[str, Any], Refusal], second: tuple[dict[str, Any], Refusal]
) -> None:
    assert decide(target(**second[0]), visitor(), NOW) is second[1]
    assert decide(target(**first[0] | second[0]), visitor(), NOW) is first[1]


def test_the_checks_have_the_documented_order() -> None:
    assert tuple(check.name for check in CHECKS) == ORDER[1 : 1 + len(CHECKS)]


@pytest.mark.parametrize("met", range(len(RULES)))
def test_once_a_rule_is_satisfied_the_next_one_decides(met: int) -> None:
    fields: dict[str, Any] = {}
    for violation, _ in RULES[met:]:
        fields |= violation

    assert decide(target(**fields), visitor(), NOW) is RULES[met][1]


@for_each(("violation", "refusal"), RULES)
@for_each(
    "visit",
    [
        visitor(),
        visitor(method="HEAD"),
        visitor(HTTP_SEC_PURPOSE="prefetch"),
        visitor(agent=GOOGLEBOT),
        visitor(method="POST"),
    ],
)
def test_the_rules_are_the_same_for_every_kind_of_visit(
    visit: Visit, violation: dict[str, Any], refusal: Refusal
) -> None:
    assert decide(target(**violation), visit, NOW) is refusal
    assert decide(target(), visit, NOW) is None


@pytest.mark.parametrize(("violation", "refusal"), RULES)
def test_a_password_does_not_affect_the_other_rules(violation: dict[str, Any], refusal: Refusal) -> None:
    assert decide(target(password="argon2$...", **violation), visitor(), NOW) is refusal
