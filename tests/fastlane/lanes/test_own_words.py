"""Both lanes send the same pages in the words of a domain's owner, also after they change."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from testing.fastlane.lanes import fast, lane_for
from testing.redirects.following import CUSTOM_HOST, custom_domain
from testing.redirects.visits import django, request
from testing.visitors.addresses import AMERICAN
from tests.fastlane.lanes.links_of_lanes import ACCEPTS, REFUSED_LINKS, assert_same

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]

HOSTILE = "<b>Zu spät</b> \"'& \U0001f44b"
PAGES = {
    page: {"title": f"{page} {HOSTILE}", "text": f"{HOSTILE}\n{page}"}
    for page in ("notFound", "country", "device")
}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("suffix", ["", "+"])
@pytest.mark.parametrize("refused", [None, *REFUSED_LINKS])
def test_both_lanes_send_the_own_words_of_a_domain(
    alice: NewAccount, api: APIClient, make_link: MakeLink, refused: str | None, suffix: str, method: str
) -> None:
    domain = custom_domain(alice)
    path = f"/api/domains/{domain.public_id}"
    code = "unknown"
    if refused is not None:
        code = make_link(domainId=str(domain.public_id), **REFUSED_LINKS[refused])["shortCode"]
    for pages in (PAGES, dict.fromkeys(PAGES)):
        assert api.patch(path, {"pages": pages}).status_code == 200
        for changed in (*({"Accept": accept} for accept in ACCEPTS), {"Accept-Language": "de"}):
            assert_same(request(f"/{code}{suffix}", {"Host": CUSTOM_HOST, **changed}, method), AMERICAN)
        if method == "GET":
            body = django(request(f"/{code}{suffix}", {"Host": CUSTOM_HOST}), AMERICAN).response
            assert (b"&lt;b&gt;Zu sp" in body) == (pages is PAGES)


def test_a_prepared_page_ends_with_a_change_of_the_words(
    alice: NewAccount, api: APIClient, make_link: MakeLink
) -> None:
    domain = custom_domain(alice)
    make_link(domainId=str(domain.public_id), customCode="refused", **REFUSED_LINKS["not allowed here"])
    data = request("/refused", {"Host": CUSTOM_HOST})
    lane = lane_for(data)
    answer = lane.answer(data, AMERICAN, time.time())
    assert answer is not None
    assert b"Zu sp" not in answer[1]
    api.patch(f"/api/domains/{domain.public_id}", {"pages": PAGES})
    assert lane.answer(data, AMERICAN, time.time()) is None
    assert b"Zu sp" in (fast(data, AMERICAN) or answer).response
