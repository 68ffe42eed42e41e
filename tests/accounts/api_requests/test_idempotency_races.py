"""A repeated request creates one object however requests overlap, and wherever the first was killed."""

from __future__ import annotations

import os
import signal
from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.db import connection, connections
from django.db.models import Model
from rest_framework.response import Response
from rest_framework.test import APIClient

from accounts.api_requests import idempotency
from accounts.models import StoredResponse
from accounts.services import NewAccount
from domains.models import Domain
from domains.services import delete_domain
from links.models import Link
from links.storage.insert import insert_link
from testing.accounts.accounts import key_client
from testing.polling import eventually
from testing.threads import at_once
from tests.accounts.api_requests.idempotent import LINK, count_stored, create, is_replayed


@pytest.mark.django_db(transaction=True)
def test_of_fifty_concurrent_requests_one_creates(alice: NewAccount) -> None:
    def send() -> tuple[int, bool, bytes]:
        response = create(key_client(alice.api_key), "k")
        return response.status_code, is_replayed(response), response.content

    responses = at_once([send] * 50)

    kinds = Counter((status, replayed) for status, replayed, _ in responses)
    assert kinds[201, False] == 1
    assert set(kinds) <= {(201, False), (201, True), (409, False)}
    assert len({content for status, _, content in responses if status == 201}) == 1
    assert (Link.objects.count(), count_stored()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_a_concurrent_repetition_is_409_while_the_first_runs(
    alice: NewAccount, strange_api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = key_client(alice.api_key)
    responses: list[Any] = []

    def concurrent_requests(password: str) -> str:
        """Sent while the first request hashes its password."""
        monkeypatch.undo()
        responses.extend(
            at_once([lambda: create(key_client(alice.api_key), "k"), lambda: create(strange_api, "k")])
        )
        return make_password(password)

    monkeypatch.setattr("links.rules.make_password", concurrent_requests)
    first = create(api, "k", {**LINK, "customCode": "first", "password": "x"})

    assert first.status_code == 201
    assert [response.status_code for response in responses] == [409, 201]
    assert responses[0].json() == {
        "success": False,
        "message": "A request with this Idempotency-Key is still in progress. Retry in a moment.",
        "code": "idempotency_in_progress",
    }


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def save_and_die(self: Model, **options: Any) -> None:
    Model.save(self, **options)
    die()


def is_a_key_locked() -> bool:
    """Whether another session of this database holds the lock of an Idempotency-Key."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
            " WHERE datname = current_database() AND locktype = 'advisory' AND pid <> pg_backend_pid()"
        )
        return cursor.fetchone() is not None


# Where the process is killed, and how many links exist then.
POINTS = {
    "with the link written": ((idempotency.secrets, "seal", die), 0),
    "with the response stored": ((StoredResponse, "save", save_and_die), 0),
    "with both committed": ((Response, "rendered_content", property(die)), 1),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("point", POINTS)
def test_repeating_a_request_is_safe_wherever_the_first_was_killed(alice: NewAccount, point: str) -> None:
    patch, links = POINTS[point]
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        try:
            setattr(*patch)
            create(key_client(alice.api_key), "k")
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    assert (Link.objects.count(), count_stored()) == (links, links)
    # Only when the server notices the closed connection does it end the transaction of the killed process.
    eventually(lambda: not is_a_key_locked())

    again = create(key_client(alice.api_key), "k")

    assert (again.status_code, is_replayed(again)) == (201, links == 1)
    assert (Link.objects.count(), count_stored()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_a_domain_that_is_deleted_meanwhile_is_404_as_without_a_key(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="go.brand.example", host="go.brand.example", status="active"
    )

    def insert_too_late(*values: Any) -> bool:
        at_once([lambda: delete_domain(owner=alice.workspace, public_id=str(domain.public_id))])
        return insert_link(*values)

    monkeypatch.setattr("links.services.insert_link", insert_too_late)
    refused = create(api, "k", {**LINK, "domainId": str(domain.public_id)})

    assert (refused.status_code, refused.json()["message"]) == (404, "Domain not found.")
    assert (Link.objects.count(), count_stored()) == (0, 0)
