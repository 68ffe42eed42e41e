"""Creating QR codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient


@pytest.fixture
def send(api: APIClient, link: dict[str, Any]) -> Callable[..., HttpResponse]:
    def post(**fields: Any) -> HttpResponse:
        return api.post("/api/qr-codes", {"urlId": link["_id"], **fields})

    return post
