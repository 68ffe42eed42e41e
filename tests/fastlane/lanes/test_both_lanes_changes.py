"""Changes of links and domains take effect in both lanes."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest
import time_machine
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import DomainStatus
from fastlane.handoff.link_lookups import lookup
from links.destinations.cache import UNKNOWN_SECONDS
from testing.fastlane.lanes import fast, lane_for
from testing.redirects.following import CUSTOM_HOST, FUTURE, PAST, custom_domain
from testing.redirects.visits import CLIENT, django, request
from testing.visitors.addresses import AMERICAN
from tests.fastlane.lanes.links_of_lanes import OTHER_LINKS, UTM, check_same, path_of

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]


def test_a_custom_domain_serves_only_its_own_codes(alice: NewAccount, make_link: MakeLink) -> None:
    domain = custom_domain(alice)
    there = make_link(domainId=str(domain.public_id))
    here = make_link()

    check_same(request(path_of(there), {"Host": CUSTOM_HOST}))
    check_same(request(path_of(there), {"Host": f"{CUSTOM_HOST.upper()}:443"}))
    for data in (request(path_of(here), {"Host": CUSTOM_HOST}), request(path_of(there))):
        check_same(data)
        assert b" 404 " in django(data).response.split(b"\r\n")[0]


def test_the_fast_lane_declines_links_of_inactive_domains(alice: NewAccount, make_link: MakeLink) -> None:
    domain = custom_domain(alice)
    link = make_link(domainId=str(domain.public_id))
    domain.status = DomainStatus.INACTIVE
    domain.save()

    assert fast(request(path_of(link), {"Host": CUSTOM_HOST})) is None


def test_an_expired_link_leaves_the_fast_lane_at_once(make_link: MakeLink) -> None:

    with time_machine.travel("2098-12-31T23:59:59.5Z", tick=False) as moment:
        data = request(path_of(make_link(expiresAt=FUTURE)))
        lane = lane_for(data)
        assert fast(data, lane=lane) is not None
        moment.shift(0.5)
        assert fast(data, lane=lane) is None
        key = lane.lookup_key(data, time.time())
        assert key is not None
        lane.store(*key, lookup(*key) or b"")
        assert fast(data, lane=lane) is None
        assert lane.lookup_key(data, time.time()) is None
        assert b" 410 " in django(data).response.split(b"\r\n")[0]


def test_the_date_field_shows_the_second_of_the_answer(make_link: MakeLink) -> None:
    data = request(path_of(make_link()))
    lane, second = lane_for(data), int(time.time())

    # The clock may also be set back.
    for moment in (second + 0.2, second + 0.9, second + 1.5, second + 2.0, second - 60.0):
        answer = lane.answer(data, CLIENT, moment)
        assert answer is not None
        assert f"\r\nDate: {formatdate(int(moment), usegmt=True)}\r\n".encode() in answer[1]


CHANGES: dict[str, dict[str, Any]] = {
    "disabled": {"isActive": False},
    "expired": {"expiresAt": PAST},
    "password": {"password": "secret"},
    "limit": {"restrictions": {"maxClicks": 1}},
    "301": {"redirectType": 301},
    "utm": {"utm": UTM},
    "blocked": {"restrictions": {"blockedCountries": ["US"]}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("code", ["short", "custom", "former"])
def test_a_change_applies_to_every_code_once_the_api_has_replied(
    api: APIClient, make_link: MakeLink, change: dict[str, Any], code: str
) -> None:
    link = make_link(customCode="former")
    assert api.put(f"/api/urls/{link['_id']}", {"customCode": "custom"}).status_code == 200
    data = request(f"/{link['shortCode'] if code == 'short' else code}")
    django(data)
    lane = lane_for(data)
    before = fast(data, AMERICAN, lane)
    assert before is not None

    assert api.put(f"/api/urls/{link['_id']}", change).status_code == 200

    assert fast(data, AMERICAN, lane) is None
    now = django(data, AMERICAN)
    assert now.response != before.response
    assert fast(data, AMERICAN) in (None, now)


def test_deletions_and_new_codes_take_effect_once_the_api_has_replied(
    api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    there, missing = request(path_of(link)), request("/spring")
    lanes = [lane_for(there), lane_for(missing)]
    assert fast(there, lane=lanes[0]) is not None
    assert b" 404 " in django(missing).response.split(b"\r\n")[0]

    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    make_link(customCode="spring")

    assert fast(there, lane=lanes[0]) is None
    assert fast(missing, lane=lanes[1]) is None
    assert lanes[1].lookup_key(missing, time.time()) is not None
    assert b" 404 " in django(there).response.split(b"\r\n")[0]
    assert b" 302 " in django(missing).response.split(b"\r\n")[0]


@pytest.mark.parametrize("fields", OTHER_LINKS.values(), ids=OTHER_LINKS)
def test_the_fast_lane_caches_that_it_declines_a_link(make_link: MakeLink, fields: dict[str, Any]) -> None:
    data = request(path_of(make_link(**fields)))

    assert lane_for(data).lookup_key(data, time.time() + 3600) is None


def test_an_unknown_code_is_cached_briefly(db: None) -> None:
    data = request("/unknown")
    # An entry that is newer than the time of a request by more than 50 ms is not valid.
    with time_machine.travel(time.time(), tick=False):
        now = time.time()
        lane = lane_for(data)

    assert lane.lookup_key(data, now + UNKNOWN_SECONDS / 2) is None
    assert lane.lookup_key(data, now + UNKNOWN_SECONDS) == ("sho.rt", "unknown")
