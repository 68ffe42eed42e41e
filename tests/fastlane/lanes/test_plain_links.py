"""Both lanes agree on every field of a link, and the Django view handles links with an unknown field."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from django.conf import settings

from common.host.cache_versions import versions_of
from fastlane.fast.lane import FastLane
from fastlane.fast.prepared import fits_fast_lane, prepare
from fastlane.handoff.click_claims import CappedLane
from links.destinations import lookup as destinations
from links.destinations.lookup import Target, read_target
from testing.cases import for_each
from testing.fastlane.lanes import fast
from testing.redirects.visits import django, request
from testing.visitors.addresses import AMERICAN

MakeLink = Callable[..., dict[str, Any]]

# For each field, a value that differs from an unrestricted link's.
CHANGED: dict[str, Any] = {
    "link_id": None,  # another link's, see below
    "public_id": "0197e9a8-0000-7000-8000-000000000000",
    "location": "https://example.net/changed",
    "redirect_type": 301,
    "is_active": False,
    "expires_at": datetime(2020, 1, 1, tzinfo=UTC),
    "clicks": 7,
    "max_clicks": 0,
    "max_clicks_per_visitor": 1,
    "allowed_countries": ("JP",),
    "blocked_countries": ("US",),
    "allowed_devices": ("tablet",),
    "password": "argon2$nothing",
    "expired_url": "https://example.net/expired",
    "ban_reason": "legal",
    "starts_at": datetime(2099, 1, 1, tzinfo=UTC),
    "not_started_url": "https://example.net/not-started",
    "referrer_policy": "no-referrer",
    "routing": orjson.dumps({
        "forward": True,
        "rules": [{
            "_id": "5" * 32, "number": 5, "name": "", "href": "https://example.net/rule",
            "conditions": [{"type": "country", "values": ["US"], "not": False}],
        }],
        "split": [],
        "utm": {},
    }).decode(),
    "preview": '{"title": "Spring", "description": null, "imageUrl": null}',
    "pages": '{"country": {"title": "Elsewhere", "text": null}}',
}  # fmt: skip
FAST = {
    *("link_id", "public_id", "location", "redirect_type", "clicks", "expired_url", "not_started_url"),
    *("referrer_policy", "routing", "preview", "pages"),
}


# With maxClicks, the Django view decides about the first two, and all visits of the others are refused.
NOT_CLAIMABLE = {"password", "max_clicks_per_visitor", "is_active", "ban_reason", "expires_at", "starts_at"}
# The fast lane refuses the visit.
REFUSED = {"allowed_countries", "blocked_countries", "allowed_devices"}


@dataclass(frozen=True, slots=True)
class LaterTarget(Target):
    """A link with a restriction unknown to both lanes."""

    until_tomorrow: bool = False


def test_every_field_of_a_target_is_covered() -> None:
    assert list(CHANGED) == [field.name for field in fields(Target)]


@pytest.mark.django_db
@pytest.mark.parametrize("name", CHANGED)
def test_both_lanes_agree_on_every_field(
    make_link: MakeLink, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    link, other = make_link(), make_link()
    target = read_target("sho.rt", link["shortCode"])
    changed_by = read_target("sho.rt", other["shortCode"])
    assert isinstance(target, Target)
    assert isinstance(changed_by, Target)
    value = changed_by.link_id if name == "link_id" else CHANGED[name]
    changed = replace(target, **{name: value})
    assert changed != target
    monkeypatch.setattr(destinations, "read_target", lambda _host, _code: changed)
    data = request(f"/{link['shortCode']}?a=1")

    by_fast_lane, by_view = fast(data, AMERICAN), django(data, AMERICAN)

    assert (by_fast_lane is not None) == (name in FAST | REFUSED)
    assert by_fast_lane in (None, by_view)
    is_followed = b"\r\nLocation: https://example." in by_view.response
    assert is_followed == (name in {*FAST, "max_clicks_per_visitor"})


def test_the_fast_lane_does_not_serve_a_link_with_an_unknown_restriction() -> None:
    plain = {"link_id": 1, "public_id": "", "location": "https://example.com/", "redirect_type": 302}

    assert fits_fast_lane(LaterTarget(**plain))
    assert not fits_fast_lane(LaterTarget(**plain, until_tomorrow=True))
    assert LaterTarget(**plain, until_tomorrow=True).is_guarded


@pytest.mark.django_db
@for_each("name", set(CHANGED) - {"link_id", "max_clicks"})
def test_the_fast_lane_claims_no_click_of_a_link_with_another_restriction(
    make_link: MakeLink, name: str
) -> None:
    link = make_link(restrictions={"maxClicks": 9})
    target = read_target("sho.rt", link["shortCode"])
    assert isinstance(target, Target)
    data = request(f"/{link['shortCode']}?a=1")
    lane = FastLane(settings.BASE_HOSTS, settings.TRUSTED_PROXIES)
    key = lane.lookup_key(data, time.time())
    assert key is not None
    lane.store(*key, prepare(versions_of(*key), replace(target, **{name: CHANGED[name]})))
    claimable = CappedLane(lane).find(data, AMERICAN, time.time())
    assert (claimable is None) == (name in NOT_CLAIMABLE | REFUSED)
