"""Sessions of an account, as the API lists them."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount, rotate_api_key
from testing.accounts.accounts import token_client


@pytest.fixture
def alice(db: None) -> NewAccount:
    """Has no usable password: few tests here log in, and hashing one takes time."""
    user = User.objects.create(email="alice@example.com", password="!")
    return NewAccount(user, "", rotate_api_key(user=user))


@pytest.fixture
def stranger(db: None) -> NewAccount:
    user = User.objects.create(email="mallory@example.com", password="!")
    return NewAccount(user, "", rotate_api_key(user=user))


def sessions(client: APIClient) -> list[dict[str, Any]]:
    response = client.get("/api/auth/sessions")
    body = response.json()
    assert (response.status_code, body) == (200, {"success": True, "data": body["data"]})
    assert set(body["data"]) == {"sessions"}
    return body["data"]["sessions"]


def id_of(access: str) -> str:
    return jwt.decode(access, options={"verify_signature": False})["sid"]


def works(access: str) -> bool:
    status = token_client(access).get("/api/urls").status_code
    assert status in {200, 401}
    return status == 200


def change_password_elsewhere(user: User) -> None:
    """Like the admin and `manage.py changepassword`, which know nothing of these sessions."""
    changed = User.objects.get(pk=user.pk)
    changed.set_password("another good password")
    changed.save()
