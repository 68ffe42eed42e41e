"""How a request with a key with scopes is authenticated."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from accounts import api_keys
from accounts.api_requests.authentication import CALLER_OF_SCOPED_KEY, caller_of_scoped_key
from accounts.callers import USE_SECONDS
from accounts.models import ScopedKey
from accounts.rights import ACCOUNT_KEY_PREFIX, SCOPED_KEY_PREFIX, Scope
from accounts.services import NewAccount
from testing.accounts.accounts import key_client
from testing.accounts.keys import scoped_client, scoped_key
from testing.accounts.workspaces import team


def plan_of(text: str) -> list[dict[str, Any]]:
    """The nodes of the executed plan."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        values = {"digest": api_keys.digest(text), "unlimited": "{}"}
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {CALLER_OF_SCOPED_KEY}", values)
        [(explained,)] = cursor.fetchall()
    root = (json.loads(explained) if isinstance(explained, str) else explained)[0]["Plan"]
    nodes, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting += node.get("Plans", [])
    return nodes


def digest_lookups(nodes: list[dict[str, Any]]) -> dict[str, int]:
    """How often each index of digests was read."""
    return {
        node["Index Name"]: node["Actual Loops"]
        for node in nodes
        if "digest" in node.get("Index Name", "") and node["Relation Name"] == "accounts_scopedkey"
    }


def test_a_current_key_is_found_by_one_index_lookup(alice: NewAccount) -> None:
    nodes = plan_of(scoped_key(alice.workspace, alice.user).text)
    lookups = digest_lookups(nodes)
    assert lookups.pop("scopedkey_previous_digest") == 0
    assert list(lookups.values()) == [1]
    assert [node for node in nodes if node["Node Type"] == "Seq Scan"] == []


def test_a_former_key_is_found_by_the_second_index(alice: NewAccount) -> None:
    key, text = scoped_key(alice.workspace, alice.user)
    ScopedKey.objects.filter(pk=key.pk).update(
        digest=b"x" * 32, previous_digest=api_keys.digest(text), previous_until=Now() + timedelta(hours=1)
    )
    assert set(digest_lookups(plan_of(text)).values()) == {1}


def test_a_key_takes_as_many_statements_as_the_main_key(alice: NewAccount) -> None:
    body, counts = {"originalUrl": "https://example.com/"}, []
    for client in (key_client(alice.api_key), scoped_client(alice.workspace, alice.user)):
        with CaptureQueriesContext(connection) as queries:
            assert client.post("/api/urls", body).status_code == 201
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_caller_has_the_key(alice: NewAccount) -> None:
    workspace = team(alice)
    key, text = scoped_key(workspace, alice.user, Scope.URLS_READ, only_own=True)
    caller = caller_of_scoped_key(text)
    assert caller is not None
    assert (caller.account, caller.workspace, caller.role) == (alice.user, workspace, "owner")
    assert caller.key == (key.pk, key.public_id, Scope.URLS_READ.bit, None, True)
    assert caller.workspace is not None
    assert caller.workspace.key == caller.key


def used_at() -> Any:
    return ScopedKey.objects.values_list("last_used_at", flat=True).get()


def test_the_use_is_written_at_most_once_a_minute(alice: NewAccount) -> None:
    text = scoped_key(alice.workspace, alice.user).text
    assert used_at() is None
    caller_of_scoped_key(text)
    first = used_at()
    assert first is not None
    # Far enough in the future for any delay between these lines.
    ScopedKey.objects.update(last_used_at=Now() + timedelta(hours=1))
    recent = used_at()
    caller_of_scoped_key(text)
    assert used_at() == recent
    ScopedKey.objects.update(last_used_at=Now() - timedelta(seconds=USE_SECONDS + 1))
    old = used_at()
    caller_of_scoped_key(text)
    assert used_at() > old + timedelta(seconds=USE_SECONDS)


def test_the_use_of_an_expired_key_is_neither_written_nor_counted(
    alice: NewAccount, settings: Settings
) -> None:
    settings.RATE_LIMITS = {"free": 2, "pro": 2, "enterprise": 2}
    key, text = scoped_key(alice.workspace, alice.user)
    ScopedKey.objects.filter(pk=key.pk).update(expires_at=Now())
    for _ in range(3):
        response = key_client(text).get("/api/urls")
        assert (response.status_code, response.json()["code"]) == (401, "key_expired")
        assert response.json()["message"] == "The API key has expired."
        assert response.headers["WWW-Authenticate"] == 'Bearer realm="api"'
    assert used_at() is None
    assert key_client(alice.api_key).get("/api/urls").headers["RateLimit-Remaining"] == "1"


def test_keys_share_the_request_limit_of_their_workspace(alice: NewAccount, settings: Settings) -> None:
    settings.RATE_LIMITS = {"free": 3, "pro": 3, "enterprise": 3}
    clients = [scoped_client(alice.workspace, alice.user) for _ in range(2)]
    statuses = [client.get("/api/urls").status_code for client in [*clients, *clients]]
    assert statuses == [200, 200, 200, 429]
    assert key_client(alice.api_key).get("/api/urls").status_code == 429
    assert scoped_client(team(alice), alice.user).get("/api/urls").headers["RateLimit-Remaining"] == "2"


@pytest.mark.parametrize(
    "text", ["sl_key_", "sl_key_" + "0" * 38, "sl_key_" + "é" * 38, "sl_key_" + "0" * 9_000]
)
def test_a_malformed_key_needs_no_query(text: str, db: None) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert caller_of_scoped_key(text) is None
    assert len(queries) == 0


def test_an_unknown_key_is_refused(db: None) -> None:
    assert caller_of_scoped_key(api_keys.new_key(SCOPED_KEY_PREFIX)) is None


def test_the_prefix_separates_the_two_kinds_of_keys(alice: NewAccount) -> None:
    text = scoped_key(alice.workspace, alice.user).text
    body = text.removeprefix(SCOPED_KEY_PREFIX)
    assert key_client(ACCOUNT_KEY_PREFIX + body).get("/api/urls").status_code == 401
