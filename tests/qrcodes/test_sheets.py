"""Sheets with the QR codes of many links."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.http import HttpResponse
from django.utils import timezone
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from qrcodes.models import QrCode
from testing.accounts.accounts import key_client
from testing.domains.domains import active_domain
from testing.pictures import data_uri, decoded, file_of, logo, pages, read
from testing.refusals import broken_rules

PATH = "/api/qr-codes/sheet"
UNKNOWN_ID = "019a0000-0000-7000-8000-000000000000"
# 200 dots per inch.
SCALE = 200 / 72
MakeLink = Callable[..., dict[str, Any]]


@pytest.fixture
def links(make_link: MakeLink) -> list[dict[str, Any]]:
    titles = ["Spring sale", None, "メニュー", "A title that is much too long for a narrow column. " * 3]
    return [
        make_link(
            f"https://example.com/{number}", **({"title": titles[number % 4]} if titles[number % 4] else {})
        )
        for number in range(13)
    ]


def send(client: APIClient, links: list[dict[str, Any]], **fields: Any) -> HttpResponse:
    return client.post(PATH, {"urlIds": [link["_id"] for link in links], **fields})


def contents(links: list[dict[str, Any]]) -> set[str]:
    return {f"{link['shortUrl']}?qr=1" for link in links}


@pytest.mark.parametrize(
    ("paper", "columns", "size", "on_page"),
    [
        ("a4", 3, (210, 297), 9),
        ("letter", 3, (215.9, 279.4), 9),
        ("a4", 2, (210, 297), 4),
        ("a4", 6, (210, 297), 36),
    ],
)
def test_each_code_is_on_the_paper_once(
    api: APIClient,
    links: list[dict[str, Any]],
    *,
    paper: str,
    columns: int,
    size: tuple[float, float],
    on_page: int,
) -> None:
    response = send(api, links, paper=paper, columns=columns)
    assert response.status_code == 200, response.json()
    assert response["Content-Type"] == "application/pdf"
    name = f"qr-codes-{timezone.now():%Y-%m-%d}.pdf"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    drawn = pages(response.content, SCALE)
    for number, page in enumerate(drawn):
        assert page.size == pytest.approx([length / 25.4 * 200 for length in size], abs=1)
        shown = links[number * on_page : (number + 1) * on_page]
        assert set(decoded(page)) == contents(shown)
    assert len(drawn) == -(-len(links) // on_page)
    assert not QrCode.objects.exists()


@pytest.mark.parametrize(
    "design",
    [
        {"style": "dots", "frameText": "Scan me", "foregroundColor": "#204080"},
        {"style": "rounded", "frameText": "Größer", "framePosition": "above", "errorCorrectionLevel": "H"},
        {"logo": data_uri(file_of(logo())), "margin": 2},
    ],
)
def test_a_sheet_has_every_design(
    api: APIClient, links: list[dict[str, Any]], design: dict[str, Any]
) -> None:
    [page] = pages(send(api, links[:3], **design).content, SCALE)
    assert set(decoded(page)) == contents(links[:3])


@pytest.mark.parametrize("image_format", ["png", "svg"])
def test_a_zip_has_a_file_for_each_code(
    api: APIClient, alice: NewAccount, make_link: MakeLink, image_format: str
) -> None:
    domain = active_domain(alice.workspace)
    links = [
        make_link(customCode="spring", title="Spring sale"),
        make_link(customCode="spring", title="Spring sale", domainId=str(domain.public_id)),
        make_link(customCode="autumn"),
        make_link(customCode="AUTUMN"),
    ]
    response = send(api, [*links, links[0]], archive=image_format, frameText="Scan me")
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    assert response["Content-Disposition"] == f'attachment; filename="qr-codes-{timezone.now():%Y-%m-%d}.zip"'
    with ZipFile(BytesIO(response.content)) as file:
        assert file.testzip() is None
        assert file.namelist() == [
            f"qr-spring-Spring-sale.{image_format}",
            f"2-qr-spring-Spring-sale.{image_format}",
            f"qr-autumn.{image_format}",
            f"2-qr-AUTUMN.{image_format}",
        ]
        found = [read(file.read(name), image_format) for name in file.namelist()]
    assert found == [[f"{link['shortUrl']}?qr=1"] for link in links]
    assert not QrCode.objects.exists()


def test_a_sheet_has_the_operators_logo_unless_the_design_has_none(
    settings: Settings, api: APIClient, links: list[dict[str, Any]]
) -> None:
    settings.BRAND_LOGO = file_of(logo())
    with_logo, without = send(api, links[:1]).content, send(api, links[:1], logo=None).content
    assert b"/SMask" in with_logo
    assert b"/SMask" not in without


def test_a_link_may_be_on_the_sheet_twice(api: APIClient, links: list[dict[str, Any]]) -> None:
    [page] = pages(send(api, [links[0], links[0]], columns=2).content, SCALE)
    assert decoded(page) == [f"{links[0]['shortUrl']}?qr=1"] * 2


@pytest.mark.parametrize("items", [1, 3])
def test_the_number_of_queries_does_not_depend_on_the_links(
    api: APIClient, links: list[dict[str, Any]], django_assert_num_queries: Any, items: int
) -> None:
    with django_assert_num_queries(4):  # the credential, the links, the place among costly calls
        assert send(api, links[:items]).status_code == 200


def test_a_stranger_prints_no_code(strange_api: APIClient, links: list[dict[str, Any]]) -> None:
    response = send(strange_api, links[:1])
    assert (response.status_code, response.json()["message"]) == (404, "URL not found.")


@pytest.mark.parametrize("identifier", [UNKNOWN_ID, "x"])
def test_an_unknown_link_is_404(api: APIClient, links: list[dict[str, Any]], identifier: str) -> None:
    response = send(api, [links[0], {"_id": identifier}])
    assert (response.status_code, response.json()["message"]) == (404, "URL not found.")


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({"urlIds": []}, [("urlIds", "min_length")]),
        ({"urlIds": ["x"] * 101}, [("urlIds", "max_length")]),
        ({"urlIds": [5]}, [("urlIds.0", "invalid")]),
        ({"paper": "a5"}, [("paper", "invalid_choice")]),
        ({"archive": "pdf"}, [("archive", "invalid_choice")]),
        ({"columns": 0}, [("columns", "min_value")]),
        ({"columns": 7}, [("columns", "max_value")]),
        ({"frameText": "\u0007"}, [("frameText", "character")]),
        ({"foregroundColor": "#FFFFFF"}, [("foregroundColor", "contrast")]),
    ],
)
def test_invalid_fields_are_refused(
    api: APIClient, links: list[dict[str, Any]], fields: dict[str, Any], broken: list[tuple[str, str]]
) -> None:
    assert broken_rules(send(api, links[:1], **fields)) == broken


def test_codes_that_no_reader_can_decode_are_refused(api: APIClient, links: list[dict[str, Any]]) -> None:
    response = send(api, links[:1], foregroundColor="#F0F0F0")
    assert (response.status_code, response.json()["code"]) == (409, "not_readable")


@pytest.mark.slow
def test_a_full_sheet_of_the_costliest_design(alice: NewAccount, make_link: MakeLink) -> None:
    links = [make_link(f"https://example.com/{number}", title=f"Title {number}") for number in range(100)]
    design = {"style": "dots", "logo": data_uri(file_of(logo())), "frameText": "Scan me"}
    response = send(key_client(alice.api_key), links, columns=6, **design)
    assert response.status_code == 200
    drawn = pages(response.content, SCALE * 1.5)
    assert set().union(*map(decoded, drawn)) == contents(links)
