from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from qrcodes.models import QrCode
from testing.accounts.accounts import key_client
from testing.pictures import data_uri, file_of, logo, read
from testing.threads import at_once
from tests.qrcodes.conftest import GetImage, MakeQrCode
from tests.qrcodes.creation import send as send

MakeLink = Callable[..., dict[str, Any]]
UUID_V7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")


# Responses


def test_a_code_with_only_a_link_has_every_default(
    send: Callable[..., HttpResponse], link: dict[str, Any], get_image: GetImage
) -> None:
    response = send()
    assert response.status_code == 201
    body = response.json()
    code = body["data"]["qrCode"]
    assert UUID_V7.fullmatch(code["_id"])
    assert re.fullmatch(r"http://sho\.rt/qr/[A-Za-z0-9_-]{22}\.png", code["imageUrl"])
    assert MOMENT.fullmatch(code["createdAt"])
    assert body == {
        "success": True,
        "message": "QR code created successfully.",
        "data": {
            "qrCode": {
                "_id": code["_id"],
                "urlId": link["_id"],
                "imageUrl": code["imageUrl"],
                "size": 300,
                "widthMm": None,
                "format": "png",
                "errorCorrectionLevel": "M",
                "foregroundColor": "#000000",
                "backgroundColor": "#FFFFFF",
                "margin": 4,
                "style": "square",
                "frameText": None,
                "framePosition": "below",
                "hasLogo": False,
                "createdAt": code["createdAt"],
            }
        },
    }
    assert read(get_image(code).content, "png") == [f"{link['shortUrl']}?qr=1"]


def test_every_field_is_kept(send: Callable[..., HttpResponse], get_image: GetImage) -> None:
    fields = {
        "size": 512,
        "format": "jpeg",
        "errorCorrectionLevel": "Q",
        "foregroundColor": "#1A2B3C",
        "backgroundColor": "#FFFFEE",
        "margin": 2,
        "style": "dots",
    }
    code = send(**fields).json()["data"]["qrCode"]
    assert {name: code[name] for name in fields} == fields


def test_colours_are_returned_in_upper_case(send: Callable[..., HttpResponse]) -> None:
    first = send(foregroundColor="#1a2b3c").json()["data"]["qrCode"]
    assert first["foregroundColor"] == "#1A2B3C"
    assert send(foregroundColor="#1A2B3C").json()["data"]["qrCode"] == first


@pytest.mark.parametrize("level", [None, "L", "M", "Q", "H"])
def test_a_logo_sets_the_highest_level(send: Callable[..., HttpResponse], level: str | None) -> None:
    fields = {} if level is None else {"errorCorrectionLevel": level}
    code = send(logo=data_uri(file_of(logo())), **fields).json()["data"]["qrCode"]
    assert (code["errorCorrectionLevel"], code["hasLogo"]) == ("H", True)


def test_a_token_creates_codes_as_a_key_does(bearer: APIClient, link: dict[str, Any]) -> None:
    assert bearer.post("/api/qr-codes", {"urlId": link["_id"]}).status_code == 201


@pytest.mark.parametrize("field", ["isActive", "expiresAt"])
def test_an_inactive_link_can_have_a_code(
    api: APIClient, send: Callable[..., HttpResponse], link: dict[str, Any], field: str
) -> None:
    body = {"isActive": False} if field == "isActive" else {"expiresAt": "2020-01-01"}
    assert api.put(f"/api/urls/{link['_id']}", body).status_code == 200
    assert send().status_code == 201


# Repeated requests


def test_equal_parameters_return_the_existing_code(send: Callable[..., HttpResponse]) -> None:
    first = send(size=512, logo=data_uri(file_of(logo()))).json()
    again = send(size=512, logo=data_uri(file_of(logo())), errorCorrectionLevel="H", margin=4)
    assert (again.status_code, again.json()) == (201, first)
    assert QrCode.objects.count() == 1


OTHERS: list[dict[str, Any]] = [
    {},
    {"size": 301},
    {"format": "svg"},
    {"errorCorrectionLevel": "L"},
    {"errorCorrectionLevel": "H"},
    {"foregroundColor": "#000001"},
    {"backgroundColor": "#FFFFFE"},
    {"margin": 5},
    {"style": "dots"},
    {"logo": data_uri(file_of(logo()))},
    {"logo": data_uri(file_of(logo(size=(64, 64))))},
]


def test_different_parameters_create_another_code(
    send: Callable[..., HttpResponse], make_link: MakeLink
) -> None:
    codes = [send(**fields).json()["data"]["qrCode"] for fields in OTHERS]
    codes.append(send(urlId=make_link()["_id"]).json()["data"]["qrCode"])
    assert len({code["_id"] for code in codes}) == len({code["imageUrl"] for code in codes}) == len(codes)


@pytest.mark.django_db(transaction=True)
def test_concurrent_equal_requests_create_one_code(alice: NewAccount, link: dict[str, Any]) -> None:
    def create() -> HttpResponse:
        return key_client(alice.api_key).post("/api/qr-codes", {"urlId": link["_id"], "size": 400})

    for _ in range(3):
        QrCode.objects.all().delete()
        responses = at_once([create] * 8)
        assert {response.status_code for response in responses} == {201}
        assert len({response.json()["data"]["qrCode"]["_id"] for response in responses}) == 1
        assert QrCode.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_creating_a_code_while_its_link_is_deleted(alice: NewAccount, make_link: MakeLink) -> None:
    def create(link: dict[str, Any]) -> HttpResponse:
        return key_client(alice.api_key).post("/api/qr-codes", {"urlId": link["_id"]})

    def delete(link: dict[str, Any]) -> HttpResponse:
        return key_client(alice.api_key).delete(f"/api/urls/{link['_id']}")

    for _ in range(10):
        link = make_link()
        created, deleted = at_once([lambda link=link: create(link), lambda link=link: delete(link)])
        assert created.status_code in (201, 404), created.content
        assert deleted.status_code == 200, deleted.content
        assert not QrCode.objects.exists()


# Printed codes


def follow(address: str) -> tuple[int, str | None]:
    scheme_and_host, _, path = address.rpartition("/")
    response = Client(headers={"host": scheme_and_host.rpartition("/")[2]}).get(f"/{path}")
    return response.status_code, response.get("Location")


@pytest.fixture(params=["http://sho.rt", "https://brand.example"])
def place(request: pytest.FixtureRequest, alice: NewAccount) -> dict[str, str]:
    """The URL of a domain, and the fields that create a link on it."""
    if request.param == "http://sho.rt":
        return {"address": request.param, "domainId": "base"}
    host = request.param.removeprefix("https://")
    domain = Domain.objects.create(owner=alice.workspace, domain=host, host=host, status="active")
    return {"address": request.param, "domainId": str(domain.public_id)}


def test_a_printed_code_survives_a_rename_and_new_codes_use_the_new_name(
    api: APIClient,
    place: dict[str, str],
    make_link: MakeLink,
    make_qr_code: MakeQrCode,
    get_image: GetImage,
) -> None:
    link = make_link(customCode="first", domainId=place["domainId"])
    codes = []
    for name in ("first", "second", None):
        assert api.put(f"/api/urls/{link['_id']}", {"customCode": name}).status_code == 200
        codes.append(make_qr_code(urlId=link["_id"]))
    texts = [read(get_image(code).content, "png") for code in codes]
    assert texts == [[f"{place['address']}/{name}?qr=1"] for name in ("first", "second", link["shortCode"])]
    for [text] in texts:
        assert follow(text) == (302, "https://example.com/page")


def test_new_codes_use_the_default_domain_after_the_deletion_of_the_domain(
    api: APIClient, alice: NewAccount, make_link: MakeLink, make_qr_code: MakeQrCode, get_image: GetImage
) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="b.example", host="b.example", status="active"
    )
    link = make_link(domainId=str(domain.public_id))
    before = make_qr_code(urlId=link["_id"])
    assert api.delete(f"/api/domains/{domain.public_id}").status_code == 200
    after = make_qr_code(urlId=link["_id"])
    assert read(get_image(before).content, "png") == [f"https://b.example/{link['shortCode']}?qr=1"]
    [text] = read(get_image(after).content, "png")
    assert text == f"http://sho.rt/{link['shortCode']}?qr=1"
    assert follow(text) == (302, "https://example.com/page")


def test_deleting_the_link_deletes_its_codes(
    api: APIClient, make_link: MakeLink, make_qr_code: MakeQrCode, get_image: GetImage
) -> None:
    deleted, kept = make_qr_code(urlId=make_link()["_id"]), make_qr_code()
    assert api.delete(f"/api/urls/{deleted['urlId']}").status_code == 200
    assert get_image(deleted).status_code == api.get(f"/api/qr-codes/{deleted['_id']}").status_code == 404
    assert get_image(kept).status_code == 200


def test_deleting_the_account_deletes_its_codes(alice: NewAccount, make_qr_code: MakeQrCode) -> None:
    make_qr_code()
    alice.user.delete()
    assert not QrCode.objects.exists()
    assert not Link.objects.exists()
