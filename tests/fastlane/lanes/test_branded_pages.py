"""Both lanes send the same pages with the operator's name, logo and colour."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from fastlane.fast import answers
from testing.fastlane.lanes import fast
from testing.redirects.visits import django, request

pytestmark = pytest.mark.django_db
MakeLink = Callable[..., dict[str, Any]]


@pytest.fixture
def brand(settings: Settings) -> Iterator[None]:
    settings.BRAND_NAME, settings.BRAND_LOGO, settings.BRAND_COLOR = "Example <b>", b"\x89PNG", "#0B5FFF"
    # The settings of a running service do not change.
    caches = (answers.cached_refusal_page, answers.preview_headers)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("brand")
@pytest.mark.parametrize("path", ["/nothing-here", "/Summer", "/Winter+"])
def test_both_lanes_send_the_same_branded_page(make_link: MakeLink, path: str) -> None:
    make_link(customCode="Summer", restrictions={"allowedCountries": ["JP"]})
    make_link(customCode="Winter")
    data = request(path, {"Accept": "text/html"})
    by_fast_lane, by_view = fast(data), django(data)
    assert by_fast_lane is not None
    assert by_fast_lane.response == by_view.response
    assert b'alt=""><span>Example &lt;b&gt;</span></p>' in by_view.response
