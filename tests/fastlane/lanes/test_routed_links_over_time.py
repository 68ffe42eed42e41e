"""Routed links at their boundaries in time."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
import time_machine

from fastlane.handoff.link_lookups import lookup
from testing.fastlane.lanes import fast, lane_for
from testing.redirects.visits import django, request
from tests.redirects.routing.routed import MakeRouted, condition, routing, rule
from tests.redirects.routing.routed import make_routed as make_routed

pytestmark = pytest.mark.django_db


def test_a_start_and_an_end_take_effect_at_their_moments(make_routed: MakeRouted) -> None:
    with time_machine.travel("2027-03-28T00:59:58.5Z", tick=False) as moment:
        path = make_routed(
            starts_at=datetime(2027, 3, 28, 0, 59, 59, tzinfo=UTC),
            expires_at=datetime(2027, 3, 28, 1, tzinfo=UTC),
        )
        data = request(path)
        lane = lane_for(data)
        statuses = []
        for _ in range(4):
            if key := lane.lookup_key(data, time.time()):
                lane.store(*key, lookup(*key) or b"")
            outcome = fast(data, lane=lane)
            assert outcome in (None, django(data))
            statuses.append(int((outcome or django(data)).response.split(b" ")[1]))
            moment.shift(0.5)

    assert statuses == [404, 302, 302, 410]


def test_a_schedule_takes_effect_when_the_clocks_change(make_routed: MakeRouted) -> None:
    """It starts at 02:30 in Berlin, which is 03:00 on the day on which 02:30 does not exist."""
    schedule = {"days": ["sun"], "from": "02:30", "until": "04:00", "timezone": "Europe/Berlin"}
    with time_machine.travel("2027-03-28T00:59:59.5Z", tick=False) as moment:
        path = make_routed(routing=routing(rule(6, condition("schedule", schedule))))
        data = request(path)
        lane = lane_for(data)
        before = fast(data, lane=lane)
        assert before is not None
        assert lane.lookup_key(data, time.time()) is None

        moment.shift(0.5)

        assert fast(data, lane=lane) is None
        key = lane.lookup_key(data, time.time())
        assert key is not None
        lane.store(*key, lookup(*key) or b"")
        after = fast(data, lane=lane)
        assert after == django(data)
    assert [record.flags >> 4 for record in before.records + after.records] == [0, 6]
