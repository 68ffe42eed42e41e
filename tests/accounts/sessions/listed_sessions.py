"""Sessions of an account, as the API lists them."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount, rotate_api_key


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


def change_password_elsewhere(user: User) -> None:
    """Change it like the admin and `manage.py changepassword`, which know nothing of these sessions."""
    changed = User.objects.get(pk=user.pk)
    changed.set_password("another good password")
    changed.save()
