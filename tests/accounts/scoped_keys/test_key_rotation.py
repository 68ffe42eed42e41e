"""A rotation replaces a key, at once or after a grace."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import ScopedKey
from testing.accounts.accounts import key_status
from tests.accounts.scoped_keys.keys_api import create


def test_rotation_replaces_the_key_at_once(bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    response = bearer.post(f"/api/keys/{key['_id']}/rotate")
    rotated = response.json()["data"]["key"]
    assert (response.status_code, rotated["_id"], rotated["graceUntil"]) == (200, key["_id"], None)
    assert [key_status(key["apiKey"]), key_status(rotated["apiKey"])] == [401, 200]


def test_the_former_key_works_within_the_grace(bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    rotated = bearer.post(f"/api/keys/{key['_id']}/rotate", {"graceSeconds": 3600}).json()["data"]["key"]
    assert rotated["graceUntil"] is not None
    assert [key_status(key["apiKey"]), key_status(rotated["apiKey"])] == [200, 200]
    ScopedKey.objects.update(previous_until="2001-01-01T00:00:00Z")
    assert [key_status(key["apiKey"]), key_status(rotated["apiKey"])] == [401, 200]


def test_a_second_rotation_ends_the_first_key(bearer: APIClient) -> None:
    first = create(bearer, scopes=["urls:read"])
    path, grace = f"/api/keys/{first['_id']}/rotate", {"graceSeconds": 3600}
    second = bearer.post(path, grace).json()["data"]["key"]
    third = bearer.post(path, grace).json()["data"]["key"]
    assert [key_status(key["apiKey"]) for key in (first, second, third)] == [401, 200, 200]
    bearer.post(path)
    assert [key_status(key["apiKey"]) for key in (first, second, third)] == [401, 401, 401]


def test_a_key_within_the_grace_has_the_current_scopes(bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    bearer.post(f"/api/keys/{key['_id']}/rotate", {"graceSeconds": 3600})
    bearer.patch(f"/api/keys/{key['_id']}", {"scopes": ["urls:write"]})
    assert key_status(key["apiKey"]) == 403


@pytest.mark.parametrize("grace", [-1, 604_801, "60", 1.5, None])
def test_an_invalid_grace_changes_nothing(grace: Any, bearer: APIClient) -> None:
    key = create(bearer, scopes=["urls:read"])
    response = bearer.post(f"/api/keys/{key['_id']}/rotate", {"graceSeconds": grace})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (400, "graceSeconds")
    assert key_status(key["apiKey"]) == 200
