"""New workers get recently followed links before anyone requests them, and never one that has changed since."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from analytics.counting.pipeline import Drainer
from analytics.reports import activity
from analytics.reports.activity import recently_followed
from common.host import cache_versions, state
from fastlane import warm_start
from fastlane.fast.lane import FastLane
from fastlane.fast.prepared import is_current
from fastlane.warm_start import Entry, SharedEntries, load
from links.destinations.batch_lookup import Key
from links.destinations.known_links import known_links
from links.destinations.lookup import LookupResult, load_target
from links.models import Link
from testing.connections import closed_connection as closed_connection
from tests.fastlane.warm_start.warm_links import shared as shared

MakeLink = Callable[..., dict[str, Any]]
EVERYTHING = 1 << 20
HEAD = b"GET /%b HTTP/1.1\r\nHost: sho.rt\r\n\r\n"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def follow(visitor: Client, settings: Settings) -> Callable[..., None]:
    """Follow links by their codes, and count the clicks."""

    def follow(*codes: str) -> None:
        for code in codes:
            assert visitor.get(f"/{code}").status_code in (302, 410)
        Drainer(settings.CLICKS_DIR).drain_batch()

    return follow


def entries_of(shared: SharedEntries) -> list[Entry]:
    return shared.read(0, EVERYTHING).entries


def codes(shared: SharedEntries) -> list[str]:
    return [key.decode() for key, _ in entries_of(shared)]


def current(shared: SharedEntries) -> list[str]:
    return [key.decode() for key, prepared in entries_of(shared) if is_current(prepared, time.time())]


def test_links_with_the_most_recent_clicks_come_first(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    rare, busy, _unused = (make_link()["shortCode"] for _ in range(3))
    follow(rare, busy, busy)
    known_links().flush()

    assert load(shared) == 2
    assert codes(shared) == [busy, rare]
    assert current(shared) == [busy, rare]


def test_a_link_is_loaded_at_each_of_its_addresses(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    link = make_link(customCode="spring")
    follow("spring")

    load(shared)

    assert sorted(codes(shared)) == sorted([link["shortCode"], "spring"])


def test_a_worker_serves_loaded_links_without_a_lookup(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    code = make_link("https://example.com/warm")["shortCode"]
    follow(code)
    load(shared)
    lane = FastLane(frozenset({"sho.rt"}), ())
    assert lane.answer(HEAD % code.encode(), "192.0.2.1", time.time()) is None

    assert lane.preload(entries_of(shared))

    answer = lane.answer(HEAD % code.encode(), "192.0.2.1", time.time())
    assert answer is not None
    assert b"\r\nLocation: https://example.com/warm\r\n" in answer[1]


@pytest.mark.parametrize("change", [{"isActive": False}, {"targetUrl": "https://example.com/other"}, None])
def test_a_link_that_changes_after_the_load_is_not_used(
    change: dict[str, Any] | None,
    make_link: MakeLink,
    api: APIClient,
    follow: Callable[..., None],
    shared: SharedEntries,
) -> None:
    link, other = make_link(), make_link()["shortCode"]
    follow(link["shortCode"], other)
    assert load(shared) == 2
    assert sorted(current(shared)) == sorted([link["shortCode"], other])

    address = f"/api/urls/{link['_id']}"
    assert (api.delete(address) if change is None else api.put(address, change)).status_code == 200

    assert current(shared) == [other]


@pytest.mark.parametrize("change", [{"isActive": False}, {"targetUrl": "https://example.com/other"}, None])
def test_a_link_that_changes_during_the_load_is_not_used(
    change: dict[str, Any] | None,
    make_link: MakeLink,
    api: APIClient,
    follow: Callable[..., None],
    shared: SharedEntries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The database is read before the change, and the answers are written after it."""
    link = make_link()
    follow(link["shortCode"])
    read = warm_start.read_targets

    def change_after_reading(keys: list[Key]) -> Iterator[tuple[int, LookupResult]]:
        results = list(read(keys))
        address = f"/api/urls/{link['_id']}"
        assert (api.delete(address) if change is None else api.put(address, change)).status_code == 200
        return iter(results)

    monkeypatch.setattr(warm_start, "read_targets", change_after_reading)

    assert load(shared) == 1
    assert current(shared) == []


def test_nothing_is_loaded_while_no_notifications_arrive(
    make_link: MakeLink,
    follow: Callable[..., None],
    shared: SharedEntries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    follow(make_link()["shortCode"])
    # One microsecond after the machine booted, however long ago that is.
    state.mapped().header[state.HEARD] = 1
    monkeypatch.setattr(state, "HEARING_SECONDS", 0.0)

    assert load(shared) == 0


def test_links_that_the_host_has_read_follow_those_with_clicks(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    followed, earlier, later = (make_link()["shortCode"] for _ in range(3))
    follow(followed)
    for code in (earlier, later):
        load_target("sho.rt", code)
    known_links().flush()

    load(shared)

    assert codes(shared) == [followed, later, earlier]


def test_at_most_half_of_what_a_worker_keeps_is_loaded(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries, settings: Settings
) -> None:
    settings.DESTINATIONS_KEPT = 4
    follow(*(make_link()["shortCode"] for _ in range(3)))

    assert load(shared) == 2


def test_codes_of_deleted_links_are_skipped(
    make_link: MakeLink, follow: Callable[..., None], shared: SharedEntries
) -> None:
    code, deleted = make_link()["shortCode"], make_link()["shortCode"]
    follow(code, deleted)
    Link.objects.filter(short_code=deleted).delete()
    cache_versions.bump(codes=[deleted])

    assert load(shared) == 1
    assert codes(shared) == [code]


def test_only_the_last_pages_of_the_clicks_are_read(
    make_link: MakeLink, follow: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (Link.objects.get(short_code=make_link()["shortCode"]) for _ in range(2))
    monkeypatch.setattr(activity, "PAGES", 1)
    with connection.cursor() as cursor:
        # The deleted clicks of other tests may leave free space before the last page.
        cursor.execute("TRUNCATE analytics_rawclick")
    follow(old.short_code)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO analytics_rawclick (link_id, minute, microsecond, client, place, referrer, reason, branch,"
            " kind, scanned, is_unique) SELECT %s, extract(epoch FROM now()) / 60, 0, 0, 0, 0, 0, 0, 0, false, false"
            " FROM generate_series(1, 1000)",
            [new.pk],
        )

    assert recently_followed(10) == [new.pk]
