"""The log of API requests: what it has, who reads it, how it is bounded, and that no request waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import LoggedRequest, Workspace
from accounts.request_log import recorder, store
from accounts.request_log.recorder import Recorder
from accounts.request_log.store import Entry, delete_old_requests, list_requests, write
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from common.error_catalogue import docs_address
from common.host import metrics
from testing.accounts.accounts import bearer_client, key_client
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import add_member, token_client_in
from testing.cases import for_each

LOG = "/api/requests"


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Without its thread: tests write by ``flush``."""
    ours = Recorder(write)
    monkeypatch.setattr(ours, "_start", lambda: None)
    monkeypatch.setattr(recorder, "_recorder", ours)
    return ours


def logged(client: APIClient, **query: Any) -> list[dict[str, Any]]:
    response = client.get(LOG, query)
    assert response.status_code == 200, response.content
    requests: list[dict[str, Any]] = response.json()["data"]["requests"]
    return requests


def entry(owner: Workspace, status: int = 200, **fields: Any) -> Entry:
    values = (owner.pk, None, "GET", "/api/urls", status, None, "a", 1.5, 0.0)
    return Entry(*values)._replace(**fields)


def dropped() -> float:
    value = metrics.REGISTRY.get_sample_value("shortener_api_requests_unlogged_total")
    assert value is not None
    return value


def test_the_requests_of_keys_are_logged_without_what_they_sent(
    alice: NewAccount, bearer: APIClient, recording: Recorder
) -> None:
    key, text = scoped_key(alice.workspace, alice.user, Scope.URLS_WRITE)
    client = key_client(text)
    created = client.post("/api/urls?token=s3cret", {"originalUrl": "https://example.com/s3cret"})
    link = created.json()["data"]["url"]["_id"]
    refused = client.get(f"/api/urls/{link}", headers={"x-request-id": "s3cret"})
    key_client(alice.api_key).get("/api/urls")
    # Neither tokens nor invalid keys.
    bearer.get("/api/urls")
    key_client("sl_key_" + "0" * 38).get("/api/urls")
    recording.flush()
    newest, failed, first = logged(bearer)
    assert failed == {
        "respondedAt": failed["respondedAt"],
        "requestId": refused["X-Request-ID"],
        "keyId": str(key.public_id),
        "method": "GET",
        "route": "/api/urls/{id}",
        "status": 403,
        "code": "scope_required",
        "docs": docs_address("scope_required"),
        "milliseconds": failed["milliseconds"],
    }
    assert failed["milliseconds"] > 0
    assert (first["method"], first["route"], first["status"]) == ("POST", "/api/urls", 201)
    assert (first["code"], first["docs"]) == (None, None)
    assert (newest["keyId"], newest["status"]) == (None, 200)
    with connection.cursor() as cursor:
        cursor.execute("SELECT r::text FROM accounts_loggedrequest r")
        assert not [row for (row,) in cursor.fetchall() if "s3cret" in row or link in row]


def test_a_request_takes_no_statement_more(alice: NewAccount, recording: Recorder) -> None:
    client, counts = key_client(alice.api_key), []
    for ours in (None, recording):
        recorder._recorder = ours
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/api/urls").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_admins_of_the_workspace_read_it_by_key_status_and_route(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace, recording: Recorder
) -> None:
    key, text = scoped_key(marketing, alice.user, Scope.URLS_READ)
    for path in ("/api/urls", "/api/domains", "/api/urls/unknown"):
        key_client(text).get(path)
    recording.flush()
    there = token_client_in(marketing, alice.user)

    def statuses(**query: Any) -> list[int]:
        return [request["status"] for request in logged(there, **query)]

    assert statuses() == [404, 403, 200]
    assert statuses(key=str(key.public_id)) == [404, 403, 200]
    assert statuses(key=str(alice.user.public_id)) == []
    assert (statuses(status="4xx"), statuses(status="403"), statuses(status="5xx")) == ([404, 403], [403], [])
    assert statuses(route="/api/urls/{id}") == [404]
    assert statuses(route="/api/urls/{id}", status="2xx") == []
    # Not of another workspace, and not for members with a lower role.
    assert logged(bearer_client(alice.user)) == []
    his = token_client_in(marketing, stranger.user)
    assert his.get(LOG).status_code == 404
    add_member(marketing, stranger, Role.EDITOR)
    assert his.get(LOG).json()["code"] == "role_required"
    assert key_client(text).get(LOG).json()["code"] == "key_limited"


@for_each(
    "query",
    [{"status": "6xx"}, {"status": "4x"}, {"status": "٤xx"}, {"key": "x"}, {"cursor": "x"}, {"limit": "0"}],
)
def test_a_wrong_filter_is_refused(query: dict[str, str], bearer: APIClient) -> None:
    response = bearer.get(LOG, query)
    assert (response.status_code, response.json()["code"]) == (400, "validation_error")


def test_a_walk_meets_each_request_once(alice: NewAccount, stranger: NewAccount, bearer: APIClient) -> None:
    write([entry(alice.workspace, request_id=str(number)) for number in range(5)])
    met, cursor = [], {}
    while True:
        data = bearer.get(LOG, {"limit": 2, **cursor}).json()["data"]
        met += [request["requestId"] for request in data["requests"]]
        write([entry(alice.workspace)])
        if data["pagination"]["nextCursor"] is None:
            break
        cursor = {"cursor": data["pagination"]["nextCursor"]}
    assert met == ["4", "3", "2", "1", "0"]
    assert bearer_client(stranger.user).get(LOG, cursor).status_code == 400


def test_a_page_takes_two_queries(alice: NewAccount, bearer: APIClient) -> None:
    write([entry(alice.workspace) for _ in range(3)])
    with CaptureQueriesContext(connection) as queries:
        assert len(logged(bearer)) == 3
    # The credential and the page.
    assert len(queries) == 2


def test_a_batch_is_one_statement_without_what_was_deleted_meanwhile(
    alice: NewAccount, marketing: Workspace, bearer: APIClient
) -> None:
    assert bearer.delete(f"/api/workspaces/{marketing.public_id}").status_code == 200
    batch = [entry(marketing), *(entry(alice.workspace, 500 + number) for number in range(3))]
    with CaptureQueriesContext(connection) as queries:
        write(batch)
    assert len(queries) == 1
    assert [request.status for request in list_requests(alice.workspace, limit=9).requests] == [502, 501, 500]


def test_it_ends_with_its_workspace(marketing: Workspace, bearer: APIClient) -> None:
    write([entry(marketing)])
    assert bearer.delete(f"/api/workspaces/{marketing.public_id}").status_code == 200
    assert LoggedRequest.objects.count() == 0


def test_the_oldest_requests_go(
    alice: NewAccount, marketing: Workspace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(store, "MAX_KEPT", 3)
    settings.REQUEST_LOG_DAYS = 2
    days = 24 * 60 * 60
    old = store.time.monotonic() - 3 * days
    write([entry(marketing, 100, responded_at=old)])
    recent = store.time.monotonic() - days
    write([entry(marketing, 101, responded_at=recent)])
    write([entry(alice.workspace, status, responded_at=recent) for status in range(200, 205)])
    delete_old_requests()
    assert [request.status for request in list_requests(alice.workspace, limit=9).requests] == [204, 203, 202]
    assert [request.status for request in list_requests(marketing, limit=9).requests] == [101]


def test_what_waits_is_bounded_and_what_is_dropped_is_counted(
    alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MAX_WAITING", 3)
    batches: list[Sequence[Entry]] = []
    ours, before = Recorder(batches.append), dropped()
    monkeypatch.setattr(ours, "_start", lambda: None)
    for number in range(5):
        ours.add(entry(alice.workspace, number))
    ours.flush()
    ours.flush()
    assert [[written.status for written in batch] for batch in batches] == [[0, 1, 2]]
    assert dropped() - before == 2
    ours.add(entry(alice.workspace))
    ours.flush()
    assert len(batches) == 2


def test_a_batch_that_the_database_does_not_take_is_counted(
    alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(batch: Sequence[Entry]) -> None:
        raise OperationalError("down")

    ours, before = Recorder(fail), dropped()
    monkeypatch.setattr(ours, "_start", lambda: None)
    ours.add(entry(alice.workspace))
    ours.flush()
    assert dropped() - before == 1


def test_the_thread_writes_what_it_gets(alice: NewAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "FLUSH_SECONDS", 0)
    written = recorder.Event()
    ours = Recorder(lambda batch: written.set())
    ours.add(entry(alice.workspace))
    assert written.wait(30)


def test_zero_days_log_nothing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_recorder", None)
    settings.REQUEST_LOG_DAYS = 0
    recorder.enable()
    assert recorder._recorder is None
