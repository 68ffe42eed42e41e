"""Refresh tokens and their rotation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.sessions import lifecycle

BAD_REFRESH = {
    "success": False,
    "message": "The refresh token is not valid or has expired.",
    "code": "not_authenticated",
}
LOGGER = "accounts.sessions.lifecycle"


def refresh(token: str) -> Any:
    return APIClient(headers={"host": "sho.rt"}).post("/api/auth/refresh", {"refreshToken": token})


def pair(token: str) -> tuple[str, str]:
    response = refresh(token)
    body = response.json()
    assert response.status_code == 200, body
    return body["token"], body["refreshToken"]


def is_refused(token: str) -> bool:
    response = refresh(token)
    assert response.status_code in {200, 401}
    return (response.status_code, response.json()) == (401, BAD_REFRESH)


@contextmanager
def unending_grace(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Otherwise the grace could end during the test on a busy machine."""
    with monkeypatch.context() as patch:
        patch.setattr(lifecycle, "GRACE", timedelta(hours=1))
        yield
