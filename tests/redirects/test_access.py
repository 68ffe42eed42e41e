from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import pytest

from analytics.visitors.visitor import visitor_from
from links.destinations.lookup import Target
from redirects import refusals
from redirects.checks import CHECKS, ORDER, decide
from redirects.refusals import Refusal
from redirects.routing.visit import Visit
from testing.visitors.addresses import AMERICAN, BRITISH, JAPANESE, NOWHERE
from testing.visitors.agents import GOOGLEBOT, MOBILE, TABLET

NOW = datetime(2030, 6, 1, 12, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


DESKTOP = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
GOOGLEBOT_SMARTPHONE = (
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/141.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)


def target(**fields: Any) -> Target:
    plain: dict[str, Any] = {
        "link_id": 1,
        "public_id": "0197e9a8-0000-7000-8000-000000000000",
        "location": "https://example.com/",
        "redirect_type": 302,
        "is_active": True,
        "expires_at": None,
        "clicks": 0,
        "max_clicks": None,
        "allowed_countries": (),
        "blocked_countries": (),
        "allowed_devices": (),
        "password": None,
    }
    return Target(**plain | fields)


def visitor(address: str = AMERICAN, agent: str = DESKTOP, method: str = "GET", **meta: str) -> Visit:
    meta = {"REMOTE_ADDR": address, "HTTP_USER_AGENT": agent} | meta
    return Visit.from_visitor(visitor_from(meta, method, []), meta)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"redirect_type": 301},
        {"clicks": 10**12},
        {"password": "argon2$..."},
        {
            "expires_at": NOW + MOMENT,
            "clicks": 24,
            "max_clicks": 25,
            "allowed_countries": ("US",),
            "blocked_countries": ("GB",),
            "allowed_devices": ("desktop",),
        },
    ],
)
def test_access_is_granted_when_no_rule_refuses(fields: dict[str, Any]) -> None:
    assert decide(target(**fields), visitor(), NOW) is None


def test_a_disabled_link_is_refused() -> None:
    assert decide(target(is_active=False), visitor(), NOW) is refusals.DISABLED


def test_a_ban_with_the_reason_legal_has_its_own_refusal() -> None:
    assert decide(target(is_active=False, ban_reason="legal"), visitor(), NOW) is refusals.LEGAL
    assert decide(target(is_active=False, ban_reason="other"), visitor(), NOW) is refusals.DISABLED


@pytest.mark.parametrize(
    ("starts_at", "refusal"),
    [
        (NOW + timedelta(days=3650), refusals.NOT_STARTED),
        (NOW + MOMENT, refusals.NOT_STARTED),
        (NOW, None),
        (NOW - MOMENT, None),
        (None, None),
    ],
)
def test_a_link_starts_exactly_at_starts_at(starts_at: datetime | None, refusal: Refusal | None) -> None:
    assert decide(target(starts_at=starts_at), visitor(), NOW) is refusal


@pytest.mark.parametrize(
    ("expires_at", "refusal"),
    [
        (NOW - timedelta(days=3650), refusals.EXPIRED),
        (NOW - MOMENT, refusals.EXPIRED),
        (NOW, refusals.EXPIRED),
        (NOW + MOMENT, None),
        (NOW + timedelta(days=3650), None),
        (None, None),
    ],
)
def test_a_link_expires_exactly_at_expires_at(expires_at: datetime | None, refusal: Refusal | None) -> None:
    assert decide(target(expires_at=expires_at), visitor(), NOW) is refusal


@pytest.mark.parametrize(
    ("clicks", "max_clicks", "refusal"),
    [
        (0, 1, None),
        (1, 1, refusals.LIMIT_REACHED),
        (24, 25, None),
        (25, 25, refusals.LIMIT_REACHED),
        (26, 25, refusals.LIMIT_REACHED),
        (2**31 - 2, 2**31 - 1, None),
        (2**31 - 1, 2**31 - 1, refusals.LIMIT_REACHED),
        (2**31, None, None),
    ],
)
def test_a_capped_link_is_refused_after_max_clicks(
    clicks: int, max_clicks: int | None, refusal: Refusal | None
) -> None:
    assert decide(target(clicks=clicks, max_clicks=max_clicks), visitor(), NOW) is refusal


@pytest.mark.parametrize(
    ("allowed", "blocked", "address", "refusal"),
    [
        (("US",), (), AMERICAN, None),
        (("US",), (), BRITISH, refusals.COUNTRY),
        (("US", "GB"), (), BRITISH, None),
        (("US", "GB"), (), JAPANESE, refusals.COUNTRY),
        ((), ("US",), AMERICAN, refusals.COUNTRY),
        ((), ("US",), BRITISH, None),
        ((), ("US", "GB"), BRITISH, refusals.COUNTRY),
        ((), ("US", "GB"), JAPANESE, None),
        # Both lists: allowed and not blocked.
        (("US",), ("GB",), AMERICAN, None),
        (("US",), ("GB",), BRITISH, refusals.COUNTRY),
        (("US",), ("GB",), JAPANESE, refusals.COUNTRY),
        (("US",), ("US",), AMERICAN, refusals.COUNTRY),
        (("US", "GB"), ("US",), AMERICAN, refusals.COUNTRY),
        (("US", "GB"), ("US",), BRITISH, None),
        # An unknown country matches no list.
        (("US",), (), NOWHERE, refusals.COUNTRY),
        ((), ("US",), NOWHERE, None),
        (("US",), ("GB",), NOWHERE, refusals.COUNTRY),
        (("US",), (), "", refusals.COUNTRY),
        ((), ("US",), "", None),
        ((), (), NOWHERE, None),
    ],
)
def test_country_lists(
    allowed: tuple[str, ...], blocked: tuple[str, ...], address: str, refusal: Refusal | None
) -> None:
    link = target(allowed_countries=allowed, blocked_countries=blocked)

    assert decide(link, visitor(address), NOW) is refusal


@pytest.mark.parametrize(
    ("allowed", "agent", "refusal"),
    [
        (("desktop",), DESKTOP, None),
        (("desktop",), MOBILE, refusals.DEVICE),
        (("desktop",), TABLET, refusals.DEVICE),
        (("mobile",), DESKTOP, refusals.DEVICE),
        (("mobile",), MOBILE, None),
        (("mobile",), TABLET, refusals.DEVICE),
        (("tablet",), DESKTOP, refusals.DEVICE),
        (("tablet",), MOBILE, refusals.DEVICE),
        (("tablet",), TABLET, None),
        (("mobile", "tablet"), DESKTOP, refusals.DEVICE),
        (("mobile", "tablet"), MOBILE, None),
        (("mobile", "tablet"), TABLET, None),
        (("desktop", "mobile", "tablet"), DESKTOP, None),
        # Programs and unspecific user agents count as desktops.
        (("desktop",), "curl/8.5.0", None),
        (("mobile",), "curl/8.5.0", refusals.DEVICE),
        (("desktop",), "", None),
        (("mobile",), "", refusals.DEVICE),
        # A crawler counts as the device that its user agent claims.
        (("desktop",), GOOGLEBOT, None),
        (("mobile",), GOOGLEBOT, refusals.DEVICE),
        (("desktop",), GOOGLEBOT_SMARTPHONE, refusals.DEVICE),
        (("mobile",), GOOGLEBOT_SMARTPHONE, None),
    ],
)
def test_device_list(allowed: tuple[str, ...], agent: str, refusal: Refusal | None) -> None:
    assert decide(target(allowed_devices=allowed), visitor(agent=agent), NOW) is refusal


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


@pytest.mark.parametrize(("violation", "refusal"), RULES)
@pytest.mark.parametrize(
    "visit",
    [
        visitor(),
        visitor(method="HEAD"),
        visitor(HTTP_SEC_PURPOSE="prefetch"),
        visitor(agent=GOOGLEBOT),
        visitor(method="POST"),
    ],
    ids=["click", "head", "prefetch", "crawler", "form"],
)
def test_the_rules_are_the_same_for_every_kind_of_visit(
    visit: Visit, violation: dict[str, Any], refusal: Refusal
) -> None:
    assert decide(target(**violation), visit, NOW) is refusal
    assert decide(target(), visit, NOW) is None


@pytest.mark.parametrize(("violation", "refusal"), RULES)
def test_a_password_does_not_affect_the_other_rules(violation: dict[str, Any], refusal: Refusal) -> None:
    assert decide(target(password="argon2$...", **violation), visitor(), NOW) is refusal
