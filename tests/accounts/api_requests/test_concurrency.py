"""The number of concurrent calls with many links is limited."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts import admission
from accounts.admission import LEASE_SECONDS, PER_ACCOUNT, PER_PROCESS, TooManyAtOnce, costly_call
from accounts.services import NewAccount
from limits.models import AttemptLog
from testing.attempts import pass_time
from testing.polling import DEADLINE

CALLS = [
    ("/api/urls/bulk", {"urls": [{"originalUrl": "https://example.com/"}]}),
    ("/api/urls/bulk-update", {"ids": ["x"], "data": {}}),
    ("/api/urls/bulk-delete", {"ids": ["x"]}),
    ("/api/urls/move", {"ids": ["x"], "workspaceId": "x"}),
    ("/api/urls/import", {"content": "originalUrl\nhttps://example.com/\n"}),
]


# 404: there is nothing to delete.
ADMITTED = (200, 201, 404)


@pytest.mark.parametrize(("path", "body"), CALLS)
def test_an_account_can_make_two_large_calls_at_once(
    path: str, body: dict[str, object], api: APIClient, strange_api: APIClient, alice: NewAccount
) -> None:
    with ExitStack() as others:
        for _ in range(PER_ACCOUNT):
            others.enter_context(costly_call(alice.user.pk))
        # The body is not read, so no body makes a refusal expensive.
        refused = api.post(path, "{", content_type="application/json")
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_at_once")
        assert refused.headers["Retry-After"] == "2"
        assert strange_api.post(path, body).status_code in ADMITTED
    assert api.post(path, body).status_code in ADMITTED


def test_other_calls_are_not_limited(api: APIClient, alice: NewAccount) -> None:
    with costly_call(alice.user.pk), costly_call(alice.user.pk):
        assert api.post("/api/urls", {"originalUrl": "https://example.com/"}).status_code == 201
        assert api.get("/api/urls/export").status_code == 200


@pytest.mark.parametrize("body", ["{", '{"urls": 5}', '{"urls": [{}]}'])
def test_a_refused_call_releases_its_place(api: APIClient, body: str) -> None:
    for _ in range(PER_PROCESS + 1):
        assert api.post("/api/urls/bulk", body, content_type="application/json").status_code != 429


def test_a_call_whose_worker_was_killed_counts_until_its_lease_ends(
    alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "release_lease", lambda *_: None)
    for _ in range(PER_ACCOUNT):
        with costly_call(alice.user.pk):
            pass
    monkeypatch.undo()
    with pytest.raises(TooManyAtOnce), costly_call(alice.user.pk):
        pass
    pass_time(seconds=LEASE_SECONDS + 1)
    for _ in range(3):
        with costly_call(alice.user.pk), costly_call(alice.user.pk):
            pass
    assert [log.attempts for log in AttemptLog.objects.all()] == [[]]


@pytest.mark.django_db(transaction=True)
def test_of_twenty_concurrent_hosts_two_get_a_place(
    alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "PROCESS_PLACES", threading.BoundedSemaphore(20))
    start, finish = threading.Barrier(20), threading.Barrier(20)

    def call(_: int) -> bool:
        try:
            connection.ensure_connection()
            start.wait(DEADLINE)
            try:
                with costly_call(alice.user.pk):
                    finish.wait(DEADLINE)
                    return True
            except TooManyAtOnce:
                finish.wait(DEADLINE)
                return False
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(call, range(20))) == PER_ACCOUNT


def test_a_process_runs_three_large_calls_of_all_accounts(
    alice: NewAccount, stranger: NewAccount, api: APIClient
) -> None:
    with costly_call(stranger.user.pk), costly_call(stranger.user.pk), costly_call(alice.user.pk):
        refused = api.post("/api/urls/bulk", CALLS[0][1])
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_at_once")
