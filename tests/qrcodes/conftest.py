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
def make_qr_code(api: APIClient, make_link: Callable[..., dict[str, Any]]) -> MakeQrCode:
    """Makes a QR code through the API, of a link of its own unless one is named; returns ``data.qrCode``."""

    def make(**fields: Any) -> dict[str, Any]:
        body = {"urlId": fields.pop("urlId", None) or make_link()["_id"], **fields}
        response = api.post("/api/qr-codes", body)
        assert response.status_code == 201, response.json()
        return response.json()["data"]["qrCode"]

    return make


@pytest.fixture
def get_image(db: None) -> GetImage:
    """What anybody gets at the address of a code's image, who has no credential."""
    client = Client(headers={"host": "sho.rt"})

    def get(code: dict[str, Any], **headers: str) -> HttpResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.get(code["imageUrl"].removeprefix("http://sho.rt"), headers=named)

    return get
