from datetime import datetime, timedelta
from typing import Any

import pytest

from pages.refusals import Refusal
from redirects import refusals
from redirects.checks import decide
from testing.cases import for_each
from testing.visitors.addresses import AMERICAN, BRITISH, JAPANESE, NOWHERE
from testing.visitors.agents import GOOGLEBOT, MOBILE, TABLET
from tests.redirects.following.decisions import DESKTOP, MOMENT, NOW, target, visitor

GOOGLEBOT_SMARTPHONE = (
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/141.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)


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
    assert decide(target(is_active=False, ban_reason="other"), visitor(), NOW) is refusals.BANNED


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


@for_each(
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


@for_each(
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
