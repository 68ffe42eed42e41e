"""QR codes whose request names no colour or logo have those of the operator."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from qrcodes.models import QrCode

MakeLink = Callable[..., dict[str, Any]]
Create = Callable[..., QrCode]


@pytest.fixture
def logo(settings: Settings) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (20, 20), "#0B5FFF").save(buffer, "PNG")
    settings.BRAND_LOGO = buffer.getvalue()
    return buffer.getvalue()


@pytest.fixture
def create(api: APIClient, make_link: MakeLink) -> Create:
    def post(**fields: Any) -> QrCode:
        response = api.post("/api/qr-codes", {"urlId": make_link()["_id"], **fields})
        assert response.status_code == 201, response.json()
        return QrCode.objects.get(public_id=response.json()["data"]["qrCode"]["_id"])

    return post


@pytest.mark.parametrize(
    ("brand", "fields", "foreground"),
    [
        ("#0B5FFF", {}, "#0B5FFF"),
        # Too light for many readers.
        ("#FFCC00", {}, "#000000"),
        ("", {}, "#000000"),
        ("#0B5FFF", {"foregroundColor": "#222222"}, "#222222"),
        ("#0B5FFF", {"backgroundColor": "#0B5FFE"}, "#000000"),
    ],
)
def test_default_color_is_the_operators_if_every_reader_can_read_it(
    create: Create, settings: Settings, brand: str, fields: dict[str, str], foreground: str
) -> None:
    settings.BRAND_COLOR = brand
    assert create(**fields).foreground == foreground


def test_default_logo_is_the_operators(create: Create, logo: bytes) -> None:
    code = create()
    assert (bytes(code.logo or b""), code.level) == (logo, "H")
    without = create(logo=None)
    assert (without.logo, without.level) == (None, "M")


def test_default_logo_is_left_out_where_the_size_has_no_space_for_it(
    create: Create, logo: bytes, settings: Settings
) -> None:
    settings.BASE_URL = "http://" + "x" * 800
    code = create(size=120, errorCorrectionLevel="L")
    assert (code.logo, code.level) == (None, "L")
    assert bytes(create(size=600).logo or b"") == logo
