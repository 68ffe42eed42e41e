"""Files of QR codes for download: their names, and that each was decoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient

from qrcodes import files
from qrcodes.design import Design, ImageFormat
from qrcodes.files import NotReadable, checked_file, file_name
from testing.pictures import data_uri, file_of, logo, read
from tests.qrcodes.conftest import GetImage, MakeQrCode

MakeLink = Callable[..., dict[str, Any]]
CONTENT = "https://go.example.com/db8xua6?qr=1"


def download(client: APIClient, code: dict[str, Any]) -> HttpResponse:
    return client.get(f"/api/qr-codes/{code['_id']}/file")


@pytest.mark.parametrize("image_format", ImageFormat.values)
def test_a_file_is_the_image_with_a_name(
    api: APIClient, make_link: MakeLink, make_qr_code: MakeQrCode, get_image: GetImage, image_format: str
) -> None:
    link = make_link("https://example.com/", customCode="spring", title="Spring sale!")
    code = make_qr_code(
        urlId=link["_id"], format=image_format, size=600, frameText="Scan me", logo=data_uri(file_of(logo()))
    )
    response = download(api, code)
    assert response.status_code == 200
    assert response["Content-Disposition"] == f'attachment; filename="qr-spring-Spring-sale.{image_format}"'
    assert response["Content-Type"] == get_image(code)["Content-Type"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response.content == get_image(code).content
    assert read(response.content, image_format) == [f"{link['shortUrl']}?qr=1"]


def test_the_name_has_letters_of_every_script(
    api: APIClient, make_link: MakeLink, make_qr_code: MakeQrCode
) -> None:
    link = make_link("https://example.com/", customCode="menu", title='メニュー "1"/\r\n;')
    response = download(api, make_qr_code(urlId=link["_id"]))
    expected = "attachment; filename*=utf-8''qr-menu-%E3%83%A1%E3%83%8B%E3%83%A5%E3%83%BC-1.png"
    assert response["Content-Disposition"] == expected


@pytest.mark.parametrize(
    ("code", "title", "name"),
    [
        ("spring", None, "qr-spring.png"),
        ("spring", "", "qr-spring.png"),
        ("spring", " -- ", "qr-spring.png"),
        ("spring", "../../etc/passwd", "qr-spring-etc-passwd.png"),
        ("spring", "Käse & Brötchen", "qr-spring-Kase-Brotchen.png"),
        ("a.b~c", "x", "qr-a-b-c-x.png"),
        ("~.", None, "qr.png"),
        ("c" * 255, "t" * 200, f"qr-{'c' * 60}-{'t' * 60}.png"),
        ("x", "\u202egnp.exe", "qr-x-gnp-exe.png"),
        ("CON", "a\0b", "qr-CON-a-b.png"),
    ],
)
def test_names_are_safe_on_every_system(code: str, title: str | None, name: str) -> None:
    assert file_name(code, title, "png") == name


def test_a_stranger_downloads_no_file(strange_api: APIClient, make_qr_code: MakeQrCode) -> None:
    response = download(strange_api, make_qr_code())
    assert (response.status_code, response.json()["message"]) == (404, "QR code not found.")


def test_the_number_of_queries(
    api: APIClient, make_qr_code: MakeQrCode, django_assert_num_queries: Any
) -> None:
    code = make_qr_code()
    with django_assert_num_queries(2):
        assert download(api, code).status_code == 200


@pytest.mark.parametrize("image_format", ImageFormat.values)
def test_a_file_that_no_reader_can_decode_is_refused(
    api: APIClient, make_qr_code: MakeQrCode, get_image: GetImage, image_format: str
) -> None:
    """The image itself stays: it is public, and may already be in use."""
    code = make_qr_code(foregroundColor="#F0F0F0", format=image_format)
    response = download(api, code)
    assert (response.status_code, response.json()["code"]) == (409, "not_readable")
    assert get_image(code).status_code == 200


def test_inverted_codes_can_be_downloaded(api: APIClient, make_qr_code: MakeQrCode) -> None:
    code = make_qr_code(foregroundColor="#FFFFFF", backgroundColor="#000000")
    assert download(api, code).status_code == 200


def test_a_file_with_other_content_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    render = files.render
    monkeypatch.setattr(files, "render", lambda content, design: render(f"{content}x", design))
    with pytest.raises(NotReadable):
        checked_file(CONTENT, Design())
