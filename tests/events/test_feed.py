"""The feed: every event once and in order, also while transactions commit late."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.database import execute, fetch
from events import outbox
from events.clock import align_positions
from events.types import EventType
from testing.cases import for_each
from testing.connections import connect_elsewhere
from testing.events.receivers import wait_for_events
from testing.events.stored import listen
from testing.polling import eventually

pytestmark = pytest.mark.django_db(transaction=True)
_EMIT = "SELECT events_emit(%s, 'key.created', NULL, jsonb_build_object('number', %s::integer))"


def emit(account: NewAccount, *numbers: int, kind: EventType = EventType.KEY_CREATED) -> None:
    for number in numbers:
        outbox.emit(account.workspace.pk, kind, {"number": number})


def read(client: APIClient, **query: Any) -> tuple[list[int], str]:
    response = client.get("/api/events", query)
    assert response.status_code == 200, response.json()
    data = response.json()["data"]
    return [event["data"]["number"] for event in data["events"]], data["next"]


def wait_for_horizon(client: APIClient, after: str, expected: list[int]) -> str:
    """Transactions of other tests in the same server keep new events from being read for a moment."""
    found: list[int] = []
    while found != expected:
        numbers, after = eventually(lambda after=after: next_page(client, after))
        found += numbers
    return after


def next_page(client: APIClient, after: str) -> tuple[list[int], str] | None:
    numbers, following = read(client, after=after)
    return (numbers, following) if numbers else None


def test_pages_continue_where_the_last_one_ended(
    api: APIClient, strange_api: APIClient, alice: NewAccount, stranger: NewAccount
) -> None:
    types = ["key.created", "key.revoked"]
    assert api.get("/api/events/feed").json()["data"] == {"feed": {"types": []}}
    assert read(api)[0] == []
    response = api.put("/api/events/feed", {"types": [*types, types[0]]})
    assert response.json()["data"] == {"feed": {"types": types}}
    assert api.get("/api/events/feed").json()["data"] == {"feed": {"types": types}}
    listen(stranger.workspace)
    start = read(api)[1]
    emit(alice, 1, 2, 3)
    emit(alice, 4, kind=EventType.KEY_REVOKED)
    emit(alice, 5, kind=EventType.MEMBER_LEFT)
    end = wait_for_horizon(api, start, [1, 2, 3, 4])
    assert read(api, after=end)[0] == []
    numbers, middle = read(api, limit=3)
    assert (numbers, read(api, after=middle)[0]) == ([1, 2, 3], [4])
    assert read(api, types="key.revoked")[0] == [4]
    assert read(strange_api)[0] == []
    [event] = api.get("/api/events", {"limit": 1}).json()["data"]["events"]
    assert event.pop("id")[14] == "7"
    assert event.pop("time")
    assert event == {
        "type": "key.created",
        "workspaceId": str(alice.workspace.public_id),
        "data": {"number": 1},
    }
    api.put("/api/events/feed", {"types": []})
    assert read(api, after=start)[0] == []


def test_an_event_that_commits_late_is_not_missed(api: APIClient, alice: NewAccount) -> None:
    listen(alice.workspace)
    start = read(api)[1]
    with connect_elsewhere() as late:
        late.execute("BEGIN")
        late.execute(_EMIT, [alice.workspace.pk, 1])
        emit(alice, 2)
        numbers, after = read(api, after=start)
        # Nor is the other event read, because it comes later.
        assert numbers == []
        late.execute("COMMIT")
    wait_for_horizon(api, after, [1, 2])


def test_a_page_passes_events_of_other_types(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "_READ", outbox._READ.replace("10000", "3").replace("9999", "2"))
    listen(alice.workspace)
    emit(alice, *range(7), kind=EventType.MEMBER_LEFT)
    emit(alice, 7)
    pages: list[list[int]] = []
    after: dict[str, str] = {}
    eventually(lambda: len(api.get("/api/events", {"limit": 3}).json()["data"]["events"]) == 3)
    while [7] not in pages:
        numbers, following = read(api, types="key.created", **after)
        pages.append(numbers)
        after = {"after": following}
    assert pages[:2] == [[], []]


def test_events_that_are_deleted_while_a_page_is_read_hide_no_others(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "_READ", outbox._READ.replace("10000", "3").replace("9999", "2"))
    listen(alice.workspace)
    emit(alice, *range(3), kind=EventType.MEMBER_LEFT)
    emit(alice, 3, 4, 5)
    wait_for_events()

    def drop_old(execute: Any, statement: str, *arguments: Any) -> Any:
        result = execute(statement, *arguments)
        if "SELECT" in statement and "events_event" in statement:
            with connection.connection.cursor() as cursor:
                cursor.execute("DELETE FROM events_event WHERE type = 'member.left'")
        return result

    with connection.execute_wrapper(drop_old):
        numbers, after = read(api, types="key.created")
    assert numbers == []
    assert read(api, types="key.created", after=after)[0] == [3, 4, 5]


@for_each(
    "case",
    [
        ({"after": "x"}, "after", "invalid"),
        ({"after": "x" * 70}, "after", "invalid"),
        ({"types": "link.seen"}, "types", "type"),
        ({"types": "key.revoked"}, "types", "not_collected"),
        ({"limit": "0"}, "limit", "min_value"),
        ({"limit": "1001"}, "limit", "max_value"),
    ],
)
def test_bad_queries(case: tuple[dict[str, str], str, str], api: APIClient, alice: NewAccount) -> None:
    query, field, code = case
    listen(alice.workspace, types=["key.created"])
    response = api.get("/api/events", query)
    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [(field, code)]


def test_a_cursor_is_of_one_workspace(api: APIClient, strange_api: APIClient) -> None:
    after = read(api)[1]
    assert strange_api.get("/api/events", {"after": after}).status_code == 400
    assert api.put("/api/events/feed", {"types": ["link.seen"]}).status_code == 400


def test_a_page_takes_the_same_number_of_queries(api: APIClient, alice: NewAccount) -> None:
    listen(alice.workspace)
    numbers: set[int] = set()
    for events in (1, 20):
        emit(alice, *range(events))
        eventually(lambda: read(api)[0])
        with CaptureQueriesContext(connection) as queries:
            read(api)
        numbers.add(len(queries))
    assert len(numbers) == 1


def test_a_restored_database_continues_above_every_earlier_position(
    api: APIClient, alice: NewAccount
) -> None:
    listen(alice.workspace)
    align_positions()
    emit(alice, 1)
    numbers, after = read(api)
    if numbers == []:
        after = wait_for_horizon(api, after, [1])
    [(before,)] = fetch("SELECT max(position) FROM events_event")
    # As in a cluster that has had fewer transactions.
    execute("UPDATE events_offset SET server = 'another', value = value - 2^40")
    align_positions()
    emit(alice, 2)
    [(latest,)] = fetch("SELECT max(position) FROM events_event")
    assert latest > before
    wait_for_horizon(api, after, [2])
    [(aligned,)] = fetch("SELECT value FROM events_offset")
    align_positions()
    assert fetch("SELECT value FROM events_offset") == [(aligned,)]
