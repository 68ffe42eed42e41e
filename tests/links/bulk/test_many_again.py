"""Bulk creations repeated with the same Idempotency-Key."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from typing import Any

import psycopg
import pytest
from django.db import connection, connections
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import StoredResponse
from accounts.services import NewAccount
from links.models import Code, Link
from testing.accounts.accounts import key_client
from testing.links.many import URL, post_when_admitted
from testing.polling import DEADLINE, eventually
from testing.threads import at_once

BULK = {"urls": [{"originalUrl": URL, "customCode": "alpha"}, {"originalUrl": "x"}, {"originalUrl": URL}]}
IMPORT = {"content": f"originalUrl,customCode\n{URL},alpha\n{URL},admin\n{URL},\n", "dryRun": False}
CALLS = pytest.mark.parametrize(
    ("path", "body"), [("/api/urls/bulk", BULK), ("/api/urls/import", IMPORT)], ids=["bulk", "import"]
)


def send(client: APIClient, path: str, body: dict[str, Any], key: str = "k") -> Any:
    return post_when_admitted(client, path, body, headers={"idempotency-key": key})


@CALLS
def test_a_repeated_call_creates_once_and_returns_the_same_response(
    api: APIClient, path: str, body: dict[str, Any]
) -> None:
    first, again = (send(api, path, body) for _ in range(2))

    assert (first.status_code, again.status_code) == (200, 200)
    assert [response.get("Idempotent-Replayed") for response in (first, again)] == [None, "true"]
    assert again.content == first.content
    assert first.json()["data"]["succeeded"] == 2
    assert Link.objects.count() == 2
    assert send(api, path, {**body, "x": 1}).json()["code"] == "idempotency_mismatch"


@pytest.mark.django_db(transaction=True)
@CALLS
def test_one_of_two_concurrent_calls_creates(
    alice: NewAccount, visitor: Client, path: str, body: dict[str, Any]
) -> None:
    responses = at_once([lambda: send(key_client(alice.api_key), path, body)] * 8)

    kinds = Counter((response.status_code, response.get("Idempotent-Replayed")) for response in responses)
    assert kinds[200, None] == 1
    assert set(kinds) <= {(200, None), (200, "true"), (409, None)}
    assert len({response.content for response in responses if response.status_code == 200}) == 1
    assert (Link.objects.count(), StoredResponse.objects.count()) == (2, 1)
    assert visitor.get("/alpha")["Location"] == URL


@pytest.mark.django_db(transaction=True)
def test_a_lookup_during_the_transaction_finds_the_link_after_the_commit(
    api: APIClient, visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(self: StoredResponse, **_: Any) -> None:
        assert at_once([lambda: visitor.get("/alpha").status_code]) == [404]

    monkeypatch.setattr(StoredResponse, "save", save)
    assert send(api, "/api/urls/bulk", BULK).json()["data"]["succeeded"] == 2
    assert visitor.get("/alpha").status_code == 302


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("headers", [{}, {"idempotency-key": "k"}], ids=["without a key", "with one"])
@pytest.mark.slow
def test_a_deadlock_restarts_the_call(alice: NewAccount, headers: dict[str, str]) -> None:
    """The other call holds ``omega`` and requests ``alpha``, which this call already holds.

    A session looks for a deadlock once, a second after it began to wait. So ``middle`` delays this call until the
    other one waits, too.
    """
    urls = [{"originalUrl": URL, "customCode": code} for code in ("alpha", "middle", "omega")]
    responses: list[Any] = []

    def create() -> None:
        try:
            responses.append(
                key_client(alice.api_key).post("/api/urls/bulk", {"urls": urls}, headers=headers)
            )
        finally:
            connections.close_all()

    take = "INSERT INTO links_code (code, kind, held_until) VALUES (%s, 'retired', now() + interval '1 day')"
    call = Thread(target=create)
    parameters: dict[str, Any] = connection.get_connection_params()
    with (
        psycopg.connect(**parameters) as other,
        psycopg.connect(**parameters) as gate,
        ThreadPoolExecutor(1) as background,
    ):
        # This call must detect the deadlock. If it does not, the statement of the other one fails in the end.
        other.execute(f"SET deadlock_timeout = '{2 * DEADLINE}s'")
        other.execute(f"SET statement_timeout = '{DEADLINE}s'")
        other.execute(take, ["omega"])
        gate.execute(take, ["middle"])
        call.start()
        eventually(lambda: waiting_sessions() == 1)
        alpha = background.submit(other.execute, take, ["alpha"])
        eventually(lambda: waiting_sessions() == 2)
        gate.rollback()
        alpha.result()
        other.rollback()
    call.join()

    assert [result["status"] for result in responses[0].json()["data"]["results"]] == [201, 201, 201]
    assert (Link.objects.count(), Code.objects.count()) == (3, 6)


def waiting_sessions() -> int:
    """The number of sessions of this database that wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        [(waiting,)] = cursor.fetchall()
    return int(waiting)
