from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

MakeQrCode = Callable[..., dict[str, Any]]
GetImage = Callable[..., HttpResponse]


@pytest.fixture
def link(make_link: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return make_link()


@pytest.fixture
def make_qr_code(api: APIClient, make_link: Callable[..., dict[str, Any]]) -> MakeQrCode:
    """Create a QR code through the API, of a new link unless one is given. Returns ``data.qrCode``."""

    def make(**fields: Any) -> dict[str, Any]:
        body = {"urlId": fields.pop("urlId", None) or make_link()["_id"], **fields}
        response = api.post("/api/qr-codes", body)
        assert response.status_code == 201, response.json()
        return response.json()["data"]["qrCode"]

    return make


@pytest.fixture
def get_image(db: None) -> GetImage:
    """Request the image of a code without a credential."""
    client = Client(headers={"host": "sho.rt"})

    def get(code: dict[str, Any], **headers: str) -> HttpResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.get(code["imageUrl"].removeprefix("http://sho.rt"), headers=named)

    return get
