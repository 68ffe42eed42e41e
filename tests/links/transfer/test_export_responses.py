"""The responses of exports: batches, failures and limits, and exports by ids."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts import downloads
from accounts.downloads import PER_ACCOUNT, PER_WORKSPACE
from accounts.services import NewAccount
from limits.models import AttemptLog
from links.models import Link
from links.transfer import exports
from testing.accounts.workspaces import key_client_in, team
from testing.links.many import UNKNOWN_ID
from testing.refusals import broken_rules
from tests.links.exports import export, rows

MakeLink = Callable[..., dict[str, Any]]


def leave(response: Any) -> None:
    """Close the response early, as a server does when the client disconnects."""
    next(response._iterator, None)
    response._iterator.close()


def test_the_response_is_a_file_download(api: APIClient) -> None:
    for file_format, content_type in [("csv", "text/csv; charset=utf-8"), ("jsonl", "application/jsonl")]:
        response = api.get("/api/urls/export", {"format": file_format})
        assert response["Content-Type"] == content_type
        day = timezone.now().date().isoformat()
        assert response["Content-Disposition"] == f'attachment; filename="urls-{day}.{file_format}"'
        assert response["Cache-Control"] == "no-store"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert not response.has_header("Content-Length")
        leave(response)


def test_each_batch_takes_two_statements(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "BATCH", 2)

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            export(api)
        return len(queries)

    none = statements()
    counted = []
    for _ in range(4):
        make_link()
        counted.append(statements() - none)
    assert counted == [2, 2, 4, 4]


def test_links_created_during_an_export_do_not_disturb_it(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "BATCH", 1)
    created = [make_link()["_id"] for _ in range(4)]
    response = api.get("/api/urls/export?format=jsonl")
    pieces = iter(response.streaming_content)
    chunks = [next(pieces), next(pieces)]
    make_link()
    api.delete(f"/api/urls/{created[0]}")
    chunks += pieces
    assert [json.loads(line)["_id"] for line in b"".join(chunks).splitlines()] == created[:0:-1]


def test_number_of_concurrent_exports_of_an_account_is_limited(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    make_link()
    open_ones = [api.get("/api/urls/export") for _ in range(PER_WORKSPACE)]
    busy = api.get("/api/urls/export")
    assert (busy.status_code, busy.json()["code"], busy["Retry-After"]) == (503, "busy", "5")
    # One complete response, and one with a disconnected client.
    b"".join(open_ones[0].streaming_content)
    # The limit of one account is not the limit of another one.
    assert export(strange_api)
    for response in open_ones[1:]:
        leave(response)
    for _ in range(2 * PER_WORKSPACE):
        export(api)


def test_number_of_concurrent_exports_is_limited_over_all_workspaces(
    api: APIClient, alice: NewAccount, strange_api: APIClient
) -> None:
    clients = [key_client_in(team(alice, name), alice.api_key) for name in ("One", "Two", "Three")]
    open_ones = [client.get("/api/urls/export") for client in clients[:2] for _ in range(PER_WORKSPACE)]
    assert [response.status_code for response in open_ones] == [200] * PER_ACCOUNT
    for client in (clients[2], api):
        assert client.get("/api/urls/export").status_code == 503
    assert export(strange_api)
    # Those that were refused have left no trace.
    leave(open_ones.pop())
    assert export(clients[2])
    for response in open_ones:
        leave(response)


def test_a_slow_reader_keeps_the_place(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "BATCH", 1)
    monkeypatch.setattr(downloads, "RENEWED_SECONDS", 0)
    for _ in range(4):
        make_link()
    slow, others = api.get("/api/urls/export"), [api.get("/api/urls/export")]
    pieces = iter(slow.streaming_content)
    next(pieces)

    def started() -> list[datetime]:
        """When the places of this response were taken or renewed, its workspace's and its account's."""
        logs = AttemptLog.objects.filter(attempts__len=2).values_list("attempts", flat=True)
        return sorted(max(attempts) for attempts in logs)

    taken = started()
    next(pieces)
    renewed = started()
    assert (len(renewed), taken[-1] < renewed[0]) == (2, True)
    assert api.get("/api/urls/export").status_code == 503
    leave(others.pop())
    others.append(api.get("/api/urls/export"))
    assert others[0].status_code == 200
    # Somebody else has the place after a pause that was too long.
    AttemptLog.objects.update(attempts=[])
    with pytest.raises(TimeoutError):
        next(pieces)
    slow._iterator.close()
    leave(others[0])


def test_an_early_failure_is_an_ordinary_error(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise OperationalError

    with monkeypatch.context() as patch:
        patch.setattr(exports, "fetch", fail)
        for _ in range(2 * PER_WORKSPACE):
            assert api.get("/api/urls/export").status_code == 503
    assert export(api)


def test_head_sends_no_content_and_occupies_no_place(api: APIClient, make_link: MakeLink) -> None:
    make_link()
    for _ in range(2 * PER_WORKSPACE):
        response = api.head("/api/urls/export")
        assert response.status_code == 200
        assert response["Content-Type"] == "text/csv; charset=utf-8"
        assert b"".join(response.streaming_content) == b""
    assert Link.objects.count() == 1


def selected(client: APIClient, *ids: str, **fields: Any) -> list[str]:
    response = client.post("/api/urls/bulk-export", {"ids": ids, "format": "jsonl", **fields})
    assert response.status_code == 200, response.content
    return [json.loads(line)["_id"] for line in response.content.splitlines()]


def test_an_export_by_ids_has_only_these_links_newest_first(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    first, _, last = (make_link()["_id"] for _ in range(3))
    assert selected(api, first, last, first, UNKNOWN_ID, "x") == [last, first]
    # A stranger learns nothing about them.
    assert selected(strange_api, first, last, UNKNOWN_ID) == []
    file = api.post("/api/urls/bulk-export", {"ids": [first]})
    assert file["Content-Type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="urls-[\d-]+\.csv"', file["Content-Disposition"])
    [row] = csv.DictReader(io.StringIO(file.content.decode(), newline=""))
    assert row == rows(api)[-1]


def test_an_export_by_ids_takes_two_queries_for_the_links(api: APIClient, make_link: MakeLink) -> None:
    ids = [make_link()["_id"] for _ in range(20)]
    for some in (ids[:1], ids):
        with CaptureQueriesContext(connection) as captured:
            selected(api, *some)
        assert sum("links_link" in query["sql"] for query in captured) == 2


def test_ids_of_an_export_are_checked(api: APIClient) -> None:
    for ids in ([], ["x"] * 1_001, "x", None):
        assert api.post("/api/urls/bulk-export", {"ids": ids}).status_code == 400
    assert broken_rules(api.post("/api/urls/bulk-export", {"ids": ["x"], "format": "xlsx"})) == [
        ("format", "invalid_choice")
    ]
