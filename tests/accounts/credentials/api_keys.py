"""API keys and where a request contains them."""

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount, rotate_api_key
from testing.accounts.accounts import PASSWORD

NOT_GIVEN = {
    "success": False,
    "message": "Authentication credentials were not provided.",
    "code": "not_authenticated",
}
TOKEN_ONLY = "This endpoint takes a Bearer token from POST /api/auth/login, not an API key."


@pytest.fixture
def alice(db: None) -> NewAccount:
    """Has no usable password: no test here logs in, and hashing one takes time."""
    user = User.objects.create(email="alice@example.com", password="!")
    return NewAccount(user, PASSWORD, rotate_api_key(user=user))


def rotate(client: APIClient) -> str:
    response = client.post("/api/auth/regenerate-api-key")
    body = response.json()
    assert (response.status_code, body) == (200, {"success": True, "apiKey": body["apiKey"]})
    return body["apiKey"]


def read(client: APIClient) -> object:
    response = client.get("/api/auth/api-key")
    assert response.status_code == 200
    return response.json()
