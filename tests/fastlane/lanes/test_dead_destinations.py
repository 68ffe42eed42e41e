"""Links whose destination is dead: both lanes lead to the fallback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from common.host import cache_versions
from links.models import Link
from testing.fastlane.lanes import fast
from testing.redirects.visits import django, request

FALLBACK = "https://example.com/fallback"


@pytest.mark.parametrize("extra", [{}, {"forwardQuery": True}, {"redirectType": 301}])
def test_both_lanes_follow_the_health_of_the_destination(
    extra: dict[str, Any], api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    code = make_link(fallbackUrl=FALLBACK, healthCheck="daily", **extra)["shortCode"]
    data = request(f"/{code}")
    locations = []
    for is_dead in (False, True, False):
        Link.objects.update(is_dead=is_dead)
        cache_versions.bump(codes=[code])
        outcome = fast(data)
        assert outcome is not None
        assert outcome == django(data)
        locations.append(f"Location: {FALLBACK}\r\n".encode() in outcome.response)
    assert locations == [False, True, False]
