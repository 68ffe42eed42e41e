"""Calls that create many links, sent again with the same Idempotency-Key."""

from __future__ import annotations

import time
from collections import Counter
from threading import Thread
from typing import Any

import psycopg
import pytest
from django.db import connection, connections
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import IdempotentAnswer
from accounts.services import NewAccount
from links.models import Code, Link
from tests.conftest import key_client
from tests.links.many import URL
from tests.links.threads import at_once

BULK = {"urls": [{"originalUrl": URL, "customCode": "alpha"}, {"originalUrl": "x"}, {"originalUrl": URL}]}
IMPORT = {"content": f"originalUrl,customCode\n{URL},alpha\n{URL},admin\n{URL},\n", "dryRun": False}
CALLS = pytest.mark.parametrize(
    ("path", "body"), [("/api/urls/bulk", BULK), ("/api/urls/import", IMPORT)], ids=["bulk", "import"]
)


def send(client: APIClient, path: str, body: dict[str, Any], key: str = "k") -> Any:
    return client.post(path, body, headers={"idempotency-key": key})


@CALLS
def test_sent_again_they_are_created_once_and_answered_the_same(
    api: APIClient, path: str, body: dict[str, Any]
) -> None:
    first, again = (send(api, path, body) for _ in range(2))

    assert (first.status_code, again.status_code) == (200, 200)
    assert [each.get("Idempotent-Replayed") for each in (first, again)] == [None, "true"]
    assert again.content == first.content
    assert first.json()["data"]["succeeded"] == 2
    assert Link.objects.count() == 2
    assert send(api, path, {**body, "x": 1}).json()["code"] == "idempotency_mismatch"


@pytest.mark.django_db(transaction=True)
@CALLS
def test_sent_at_once_one_creates(
    alice: NewAccount, visitor: Client, path: str, body: dict[str, Any]
) -> None:
    answers = at_once([lambda: send(key_client(alice.api_key), path, body)] * 8)

    kinds = Counter((each.status_code, each.get("Idempotent-Replayed")) for each in answers)
    assert kinds[200, None] == 1
    assert set(kinds) <= {(200, None), (200, "true"), (409, None)}
    assert len({each.content for each in answers if each.status_code == 200}) == 1
    assert (Link.objects.count(), IdempotentAnswer.objects.count()) == (2, 1)
    assert visitor.get("/alpha")["Location"] == URL


@pytest.mark.django_db(transaction=True)
def test_who_asked_before_the_commit_finds_the_link_after_it(
    api: APIClient, visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(self: IdempotentAnswer, **_: Any) -> None:
        assert at_once([lambda: visitor.get("/alpha").status_code]) == [404]

    monkeypatch.setattr(IdempotentAnswer, "save", save)
    assert send(api, "/api/urls/bulk", BULK).json()["data"]["succeeded"] == 2
    assert visitor.get("/alpha").status_code == 302


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("headers", [{}, {"idempotency-key": "k"}], ids=["without a key", "with one"])
def test_a_deadlock_begins_it_again(alice: NewAccount, headers: dict[str, str]) -> None:
    """The other one holds ``omega`` and then wants ``alpha``, which this call has by then."""
    urls = [{"originalUrl": URL, "customCode": code} for code in ("alpha", "omega")]
    answers: list[Any] = []

    def create() -> None:
        try:
            answers.append(key_client(alice.api_key).post("/api/urls/bulk", {"urls": urls}, headers=headers))
        finally:
            connections.close_all()

    take = "INSERT INTO links_code (code, kind, held_until) VALUES (%s, 'retired', now() + interval '1 day')"
    call = Thread(target=create)
    with psycopg.connect(**connection.get_connection_params()) as other:  # type: ignore[arg-type] # its own
        other.execute("SET deadlock_timeout = '1min'")
        other.execute("SET statement_timeout = '1min'")
        other.execute(take, ["omega"])
        call.start()
        wait_for_a_waiter()
        other.execute(take, ["alpha"])
        other.rollback()
    call.join()

    assert [each["status"] for each in answers[0].json()["data"]["results"]] == [201, 201]
    assert (Link.objects.count(), Code.objects.count()) == (2, 4)


def wait_for_a_waiter() -> None:
    query = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    deadline = time.monotonic() + 60
    with connection.cursor() as cursor:
        cursor.execute(query)
        while cursor.fetchone() is None:
            assert time.monotonic() < deadline
            cursor.execute(query)
