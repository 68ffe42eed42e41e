"""Which values of a new QR code are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from qrcodes.models import QrCode
from testing.cases import for_each
from testing.pictures import read
from testing.refusals import broken_rules
from tests.qrcodes.conftest import GetImage
from tests.qrcodes.creation import send as send

MakeLink = Callable[..., dict[str, Any]]
NOT_A_STRING = [None, 5, 0, 1.5, True, False, [], ["text"], {}, {"text": "text"}]
NOT_AN_INTEGER = [None, "300", "", "1e3", "five", 300.0, 300.5, True, False, [], [300], {}]


def refused(response: HttpResponse) -> list[tuple[str, str]]:
    """The errors of a request. Asserts that it created no code."""
    assert not QrCode.objects.exists()
    return broken_rules(response)


@for_each(
    ("field", "value"),
    [
        *product(
            ["urlId", "format", "errorCorrectionLevel", "foregroundColor", "backgroundColor", "style"],
            NOT_A_STRING,
        ),
        # null: no logo.
        *product(["logo"], NOT_A_STRING[1:]),
    ],
)
@pytest.mark.slow
def test_a_value_that_is_not_a_string_is_refused(
    send: Callable[..., HttpResponse], field: str, value: Any
) -> None:
    [(named, _)] = refused(send(**{field: value}))
    assert named == field


@for_each("value", NOT_AN_INTEGER)
@for_each("field", ["size", "margin"])
def test_a_value_that_is_not_an_integer_is_refused(
    send: Callable[..., HttpResponse], field: str, value: Any
) -> None:
    [(named, _)] = refused(send(**{field: value}))
    assert named == field


@for_each(
    ("field", "value", "rule"),
    [
        ("size", 99, "min_value"),
        ("size", 2001, "max_value"),
        ("size", -300, "min_value"),
        ("size", 10**30, "max_value"),
        ("margin", -1, "min_value"),
        ("margin", 11, "max_value"),
        *(("format", value, "invalid_choice") for value in ("", "PNG", "jpg", "gif", "png ", "svg+xml")),
        *(("errorCorrectionLevel", value, "invalid_choice") for value in ("", "l", "X", "LM", "LOW")),
        *(("style", value, "invalid_choice") for value in ("", "Square", "circle")),
        *(
            (field, value, "color")
            for field in ("foregroundColor", "backgroundColor")
            for value in ("#fff", "000000", "#00000", "#0000000", "#00000g", "#000000\n", " #000000", "black")
        ),
        *(("foregroundColor", value, "color") for value in ("#\u0660\u0660\u0660000", '"/><script>', "rgb(0,0,0)")),
        ("foregroundColor", "", "blank"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_an_invalid_value_is_refused(
    send: Callable[..., HttpResponse], field: str, value: Any, rule: str
) -> None:
    assert refused(send(**{field: value})) == [(field, rule)]


@pytest.mark.parametrize("fields", [{"size": 100}, {"size": 2000}, {"margin": 0}, {"margin": 10}])
def test_a_value_on_the_limit_is_accepted(
    send: Callable[..., HttpResponse], link: dict[str, Any], get_image: GetImage, fields: dict[str, int]
) -> None:
    code = send(**fields).json()["data"]["qrCode"]
    assert {name: code[name] for name in fields} == fields
    assert read(get_image(code).content, "png") == [f"{link['shortUrl']}?qr=1"]


def test_all_errors_of_a_qr_code_are_reported_together(send: Callable[..., HttpResponse]) -> None:
    response = send(urlId=5, size=99, format="gif", foregroundColor="red", margin=11, style="", logo="x")
    assert {field for field, _ in refused(response)} == {
        *("urlId", "size", "format", "foregroundColor", "margin", "style", "logo")
    }


def test_a_link_is_required(api: APIClient) -> None:
    assert refused(api.post("/api/qr-codes", {})) == [("urlId", "required")]


@pytest.mark.parametrize(
    "url_id",
    ["x", "0", "base", "null", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "019a9e3c5d2f7c419b1e2f6d0c8a4b75"],
)
def test_an_unknown_link_returns_404(send: Callable[..., HttpResponse], url_id: str) -> None:
    response = send(urlId=url_id)
    assert (response.status_code, response.json()) == (
        404,
        {"success": False, "message": "URL not found.", "code": "not_found"},
    )


def test_a_stranger_cannot_create_a_code(strange_api: APIClient, link: dict[str, Any]) -> None:
    response = strange_api.post("/api/qr-codes", {"urlId": link["_id"]})
    assert (response.status_code, response.json()["message"]) == (404, "URL not found.")
    assert not QrCode.objects.exists()


def test_modules_smaller_than_a_pixel_are_refused(
    send: Callable[..., HttpResponse], alice: NewAccount, make_link: MakeLink
) -> None:
    host = ".".join(["a" * 62] * 3 + ["b" * 50, "example"])
    domain = Domain.objects.create(owner=alice.workspace, domain=host, host=host, status="active")
    link = make_link(domainId=str(domain.public_id), customCode="c" * 50)
    body = {"urlId": link["_id"], "size": 100, "errorCorrectionLevel": "H"}
    response = send(**body)
    assert refused(response) == [("size", "too_small")]
    [needed] = map(int, re.findall(r"at least (\d+) pixels", response.json()["message"]))
    assert send(**body | {"size": needed}).status_code == 201
