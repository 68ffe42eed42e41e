"""The fast lane remembers the addresses of visitors, and still reports a proxy that is not trusted every hour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import time_machine

from testing.fastlane.lanes import fast, lane_for
from testing.redirects.visits import request
from tests.redirects.lanes.untrusted import FORWARDED
from tests.redirects.lanes.untrusted import separate_file as separate_file
from tests.redirects.lanes.untrusted import warned as warned

MakeLink = Callable[..., dict[str, Any]]


def test_a_worker_reports_a_known_visitor_again_after_an_hour(
    make_link: MakeLink, warned: Callable[[], list[str]]
) -> None:
    data = request(f"/{make_link()['shortCode']}", {"X-Forwarded-For": FORWARDED})
    with time_machine.travel("2030-01-01T12:00:00Z", tick=False) as clock:
        lane = lane_for(data)
        for expected in (1, 2):
            for _ in range(3):
                assert fast(data, "10.0.0.7", lane) is not None
            assert len(warned()) == expected
            clock.shift(3600)
