"""What workers remember: never what was before, on one host or on several, and always when the database is gone."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.service.hosts import Door, one_to_each_worker, two_hosts
from tests.service.memory import CHANGES, expected_status, seen, without
from tests.service.running import Answer, Service, eventually
from tests.service.visitors import Visitors

WORKERS = 2
ROUNDS = 60
DESTINATION = "https://example.com/page"


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def hosts(database: str) -> Iterator[list[Service]]:
    with two_hosts(database, WEB_CONCURRENCY=str(WORKERS), API_CONCURRENCY="1") as services:
        yield services


@pytest.fixture(scope="module")
def api(hosts: list[Service]) -> Callable[..., Answer]:
    key = hosts[0].owner.api_key

    def ask(method: str, path: str, body: Any = None) -> Answer:
        answer = hosts[0].ask(method, path, body, X_API_Key=key)
        assert answer.status in (200, 201), answer
        return answer

    return ask


@pytest.fixture
def doors(hosts: list[Service]) -> Iterator[list[list[Door]]]:
    """A connection to each worker that redirects, of each host."""
    with ExitStack() as opened:
        yield [one_to_each_worker(service, opened) for service in hosts]


def at_home(doors: list[Door]) -> None:
    """Ahead of a change, so that they can be asked at once."""
    for door in doors:
        door.go_home()


def test_no_worker_follows_what_was_before_once_a_change_is_answered(
    api: Callable[..., Answer], doors: list[list[Door]]
) -> None:
    here, there = doors
    link = api("POST", "/api/urls", {"originalUrl": DESTINATION, "customCode": "changing"}).json()["data"][
        "url"
    ]
    stale = []
    fields: dict[str, Any] = {"isActive": True, "expiresAt": None, "password": None, "redirectType": 302}
    draw = random.Random(20261121)
    for number in range(ROUNDS):
        change = draw.choice(CHANGES)
        fields |= change
        at_home(here)
        api("PUT", f"/api/urls/{link['_id']}", change)
        expected = expected_status(fields)
        for code in (link["shortCode"], "changing"):
            at_home(here)
            stale += [(number, change, seen(door, code)) for door in here if seen(door, code)[0] != expected]
            for door in there:
                eventually(lambda door=door, code=code, expected=expected: seen(door, code)[0] == expected)
    assert stale == []


def test_links_begin_and_end_on_every_worker_with_the_answer(
    api: Callable[..., Answer], doors: list[list[Door]]
) -> None:
    here, there = doors
    for number in range(ROUNDS // 3):
        code = f"brief{number}"
        assert [seen(door, code)[0] for door in here] == [404] * WORKERS
        at_home(here)
        link = api("POST", "/api/urls", {"originalUrl": DESTINATION, "customCode": code}).json()["data"][
            "url"
        ]
        assert [seen(door, code) for door in here] == [(302, DESTINATION)] * WORKERS
        for door in there:
            eventually(lambda door=door, code=code: seen(door, code)[0] == 302)
        at_home(here)
        api("DELETE", f"/api/urls/{link['_id']}")
        assert [seen(door, code)[0] for door in here] == [404] * WORKERS
        for door in there:
            eventually(lambda door=door, code=code: seen(door, code)[0] == 404)


def test_known_links_are_followed_without_the_database_and_changes_hold_when_it_is_back(
    database: str, hosts: list[Service], api: Callable[..., Answer], doors: list[list[Door]]
) -> None:
    links = [api("POST", "/api/urls", {"originalUrl": DESTINATION}).json()["data"]["url"] for _ in range(20)]
    unseen = api("POST", "/api/urls", {"originalUrl": DESTINATION}).json()["data"]["url"]
    here, _ = doors
    for link in links:
        assert [seen(door, link["shortCode"])[0] for door in here] == [302] * WORKERS
    codes = [link["shortCode"] for link in links]

    with Visitors(hosts[0].port, codes, DESTINATION).at_work() as visitors:
        with without(database):
            visitors.follow_more()
            assert {seen(door, unseen["shortCode"])[0] for door in here} == {503}
            assert {seen(door, "neverseen")[0] for door in here} == {503}
            visitors.follow_more()
        eventually(lambda: seen(here[0], unseen["shortCode"])[0] == 302)
        assert visitors.failures == []
    api("PUT", f"/api/urls/{links[0]['_id']}", {"isActive": False})
    assert [seen(door, codes[0])[0] for door in here] == [410] * WORKERS
    assert {seen(door, "neverseen")[0] for door in here} == {404}
    for door in doors[1]:
        eventually(lambda door=door: seen(door, codes[0])[0] == 410)
