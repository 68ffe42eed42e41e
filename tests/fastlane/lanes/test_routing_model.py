"""The fast lane against a model: made-up links and visitors, and the rules once more in plain Python."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
import time_machine
from django.conf import settings
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from analytics.journal.records import decode
from common.host.cache_versions import versions_of
from fastlane.fast.lane import FastLane
from fastlane.fast.prepared import prepare
from links.destinations.lookup import Target
from testing.redirects.visits import request
from tests.redirects.routing.routing_model import (
    AGENTS,
    CODE,
    COUNTRIES,
    DAYS,
    LANGUAGES,
    LINK,
    LOCATION,
    NETWORKS,
    QUERIES,
    REFERRERS,
    Visitor,
    answer_of_model,
)

# Around the changes of daylight-saving time in Berlin, and days apart.
MOMENTS = [
    datetime(2027, month, day, 0, tzinfo=UTC) + timedelta(minutes=minutes)
    for month, day in ((3, 28), (6, 12), (10, 31))
    for minutes in (-90, -30, 0, 29, 30, 45, 60, 75, 90, 120, 150, 1500)
]


values = {
    "country": st.sampled_from(["US", "GB", "DE"]),
    "device": st.sampled_from(["desktop", "mobile", "tablet"]),
    "os": st.sampled_from(["iOS", "linux", "Windows", "unknown"]),
    "browser": st.sampled_from(["Firefox", "safari", "unknown"]),
    "language": st.sampled_from(["de", "de-AT", "pt", "en-GB", "d"]),
    "referrerHost": st.sampled_from(["direct", "example.org", "news.example.org", "le.net"]),
    "query": st.sampled_from([{"name": "a"}, {"name": "b", "value": "ä"}, {"name": "a", "value": "1"}]),
    "network": st.sampled_from(list(NETWORKS)),
    "time": st.builds(
        lambda times, sides: dict(zip(sides, (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in times), strict=False)),
        st.lists(st.sampled_from(MOMENTS), min_size=2, max_size=2).map(sorted),
        st.sampled_from([["from"], ["until"], ["from", "until"]]),
    ),
    "schedule": st.fixed_dictionaries({
        "days": st.lists(st.sampled_from(DAYS), min_size=1, unique=True),
        "from": st.sampled_from(["00:00", "01:15", "02:30", "03:00", "22:00"]),
        "until": st.sampled_from(["00:00", "01:15", "02:45", "03:30", "23:59"]),
        "timezone": st.sampled_from(["Europe/Berlin", "UTC", "America/New_York"]),
    }),
}  # fmt: skip
conditions = st.sampled_from([*values, "scanned", "schedule", "schedule", "time"]).flatmap(
    lambda kind: st.fixed_dictionaries({
        "type": st.just(kind),
        "values": st.lists(values[kind], min_size=1, max_size=2) if kind in values else st.just([]),
        "not": st.booleans(),
    })
)  # fmt: skip
rules = st.lists(st.lists(conditions, min_size=1, max_size=3), max_size=4)
splits = st.sampled_from([[], [30, 70], [1, 1], [10, 20, 30]])
boundaries = st.none() | st.sampled_from(MOMENTS)


@st.composite
def links(draw: st.DrawFn) -> dict[str, Any]:
    conditions_of_rules, weights = draw(rules), draw(splits)
    numbers = iter(draw(st.permutations(range(1, 16))))
    branches = [{"_id": f"{number:032x}", "number": number, "name": "", "href": f"https://{number}.example/"}
                for number in list(numbers)[: len(conditions_of_rules) + len(weights)]]  # fmt: skip
    return {
        "rules": [branch | {"conditions": own} for branch, own in zip(branches, conditions_of_rules, strict=False)],
        "split": [branch | {"weight": weight}
                  for branch, weight in zip(branches[len(conditions_of_rules):], weights, strict=True)],
        "forward": draw(st.booleans()),
        "starts_at": draw(boundaries),
        "expires_at": draw(boundaries),
        "allowed_countries": draw(st.sampled_from([(), ("US", "GB"), ("DE",)])),
        "blocked_countries": draw(st.sampled_from([(), ("GB",)])),
        "allowed_devices": draw(st.sampled_from([(), ("desktop",), ("mobile", "tablet")])),
        "preview": draw(st.sampled_from([None, '{"title":"Spring"}'])),
        "redirect_type": draw(st.sampled_from([301, 302])),
    }  # fmt: skip


visitors = st.builds(
    Visitor, *map(st.sampled_from, map(list, (COUNTRIES, AGENTS, LANGUAGES, REFERRERS, QUERIES))),
    st.sampled_from(["GET", "HEAD"]),
)  # fmt: skip


def target_of(link: dict[str, Any]) -> Target:
    routing = {name: link[name] for name in ("forward", "rules", "split")} | {"utm": {"source": "news"}}
    is_routed = link["forward"] or link["rules"] or link["split"]
    others = {name: value for name, value in link.items() if name not in routing}
    return Target(
        link_id=LINK,
        public_id="",
        location=LOCATION,
        routing=orjson.dumps(routing).decode() if is_routed else None,
        **others,
    )


def answer_of_lane(lane: FastLane, visitor: Visitor) -> tuple[str, int] | None:
    headers = {"User-Agent": visitor.agent, "Accept-Language": visitor.language or None,
               "Referer": visitor.referrer or None}  # fmt: skip
    path = f"/{CODE}?{visitor.query}" if visitor.query else f"/{CODE}"
    answer = lane.answer(request(path, headers, visitor.method), visitor.address, time.time())
    if answer is None:
        return None
    _, sent, _, payload = answer
    is_refused = sent.startswith(b"HTTP/1.1 403 ")
    assert is_refused or sent.startswith(b"HTTP/1.1 %d " % answer[0])
    field = b"X-Refusal-Reason" if is_refused else b"Location"
    value = sent.partition(b"\r\n%s: " % field)[2].partition(b"\r\n")[0].decode()
    record = decode(payload)
    assert record.reason == (value if is_refused else "")
    return value, record.flags >> 4


@pytest.mark.slow
@hypothesis_settings(max_examples=500, deadline=None)
@given(
    links(),
    st.lists(visitors, min_size=1, max_size=4),
    st.lists(st.sampled_from(MOMENTS), min_size=1, max_size=4),
)
def test_the_fast_lane_leads_where_the_model_says(
    link: dict[str, Any], some_visitors: list[Visitor], moments: list[datetime]
) -> None:
    """An entry that was prepared earlier and is still current gives the same answers as a new one."""
    lane, target = FastLane(settings.BASE_HOSTS, []), target_of(link)
    for moment in sorted(moments):
        with time_machine.travel(moment, tick=False):
            for visitor in some_visitors:
                if key := lane.lookup_key(request(f"/{CODE}"), time.time()):
                    lane.store(*key, prepare(versions_of("", CODE), target))
                assert answer_of_lane(lane, visitor) == answer_of_model(link, visitor, moment)
