"""Times that pass emit their event exactly once, whoever commits late, and however many clocks run or are killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from accounts.services import NewAccount
from events.clock import tick
from links.models import Link
from testing.connections import connect_elsewhere, is_a_connection_blocked
from testing.events.stored import forget_events, listen, pass_time, reset_clock, stored, stored_types
from testing.polling import eventually

MakeLink = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db(transaction=True)
_TICK = "SELECT events_tick(100, clock_timestamp() + interval '1 hour')"


@pytest.fixture(autouse=True)
def listening(alice: NewAccount) -> Iterator[None]:
    listen(alice.workspace, types=["link.expired", "link.started"])
    reset_clock()
    yield
    reset_clock()


def in_minutes(minutes: int) -> str:
    return (timezone.now() + timedelta(minutes=minutes)).isoformat()


@pytest.mark.parametrize("is_killed", [True, False])
def test_two_clocks_emit_once(is_killed: bool, alice: NewAccount, make_link: MakeLink) -> None:
    make_link(expiresAt=in_minutes(10))
    with connect_elsewhere() as other, ThreadPoolExecutor() as pool:
        other.execute("BEGIN")
        other.execute(_TICK)
        second = pool.submit(clock_elsewhere)
        eventually(is_a_connection_blocked)
        other.execute("ROLLBACK" if is_killed else "COMMIT")
        assert second.result() is False
    assert stored_types(alice.workspace) == ["link.expired"]


def clock_elsewhere() -> bool:
    try:
        return pass_time("1 hour")
    finally:
        connections.close_all()


def test_a_clock_continues_where_its_limit_stopped_it(alice: NewAccount, make_link: MakeLink) -> None:
    moment = in_minutes(10)
    ids = [make_link(expiresAt=moment)["_id"] for _ in range(5)]
    assert [pass_time("1 hour", most=2) for _ in range(3)] == [True, True, False]
    assert [data["link"]["id"] for _, data in stored(alice.workspace)] == ids
    tick()
    assert len(stored(alice.workspace)) == 5


_TIMES = "'starts_at', now() + interval '5 minutes', 'expires_at', now() + interval '10 minutes'"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE links_link SET starts_at = now() + interval '5 minutes', expires_at = now() + interval '10 minutes'",
        "INSERT INTO links_link SELECT (jsonb_populate_record(l, jsonb_build_object("
        f"'id', l.id + 1000, 'public_id', gen_random_uuid(), 'short_code', 'late', {_TIMES}))).* FROM links_link l",
    ],
    ids=["changed", "created"],
)
def test_a_link_that_commits_after_its_time_passed_expires_once(
    change: str, alice: NewAccount, make_link: MakeLink
) -> None:
    link = make_link()
    with connect_elsewhere() as late:
        late.execute("BEGIN")
        late.execute(f"{change} WHERE public_id = %s", [link["_id"]])
        assert pass_time("1 hour") is False
        assert stored(alice.workspace) == []
        late.execute("COMMIT")
    assert sorted(stored_types(alice.workspace)) == ["link.expired", "link.started"]
    pass_time("2 hours")
    assert len(stored(alice.workspace)) == 2


def test_a_change_that_ends_a_link_emits_and_one_of_an_ended_link_does_not(
    alice: NewAccount, make_link: MakeLink
) -> None:
    link = make_link(expiresAt=in_minutes(10))
    links = Link.objects.filter(public_id=link["_id"])
    pass_time("-1 seconds")
    links.update(expires_at=timezone.now() - timedelta(hours=2))
    assert stored_types(alice.workspace) == ["link.expired"]
    links.update(expires_at=timezone.now() - timedelta(hours=3))
    pass_time("0 seconds")
    assert stored_types(alice.workspace) == ["link.expired"]
    forget_events()
    links.update(expires_at=timezone.now() + timedelta(minutes=5))
    pass_time("1 hour")
    assert stored_types(alice.workspace) == ["link.expired"]
