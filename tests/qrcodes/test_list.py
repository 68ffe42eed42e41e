from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient

from accounts.services import NewAccount
from qrcodes import selectors
from qrcodes.models import QrCode
from testing.pictures import data_uri, file_of, logo
from tests.qrcodes.conftest import MakeQrCode

UNKNOWN_ID = "019a0000-0000-7000-8000-000000000000"
MakeLink = Callable[..., dict[str, Any]]


def listed(api: APIClient, **query: object) -> dict[str, Any]:
    response = api.get("/api/qr-codes", query)
    assert response.status_code == 200, response.content
    body = response.json()
    assert body.keys() == {"success", "data"}
    assert body["data"].keys() == {"qrCodes", "pagination"}
    return body["data"]


def missing(response: HttpResponse, message: str) -> bool:
    body = {"success": False, "message": message, "code": "not_found"}
    return (response.status_code, response.json()) == (404, body)


# Lists


def test_an_empty_list(api: APIClient) -> None:
    assert listed(api) == {"qrCodes": [], "pagination": {"page": 1, "limit": 20, "total": 0, "pages": 0}}


def test_items_equal_the_response_of_their_creation_newest_first(
    api: APIClient, make_qr_code: MakeQrCode
) -> None:
    codes = [make_qr_code(), make_qr_code(logo=data_uri(file_of(logo())), format="svg")]
    assert listed(api) == {
        "qrCodes": codes[::-1],
        "pagination": {"page": 1, "limit": 20, "total": 2, "pages": 1},
    }


def test_the_codes_of_one_link(api: APIClient, make_link: MakeLink, make_qr_code: MakeQrCode) -> None:
    link, link_without_codes = make_link(), make_link()
    codes = [make_qr_code(urlId=link["_id"], size=size) for size in (300, 400)]
    make_qr_code()
    assert listed(api, urlId=link["_id"])["qrCodes"] == codes[::-1]
    assert listed(api, urlId=link["_id"])["pagination"]["total"] == 2
    assert listed(api, urlId=link_without_codes["_id"])["qrCodes"] == []


def test_pages(api: APIClient, make_link: MakeLink, make_qr_code: MakeQrCode) -> None:
    url_id = make_link()["_id"]
    codes = [make_qr_code(urlId=url_id, size=300 + number) for number in range(5)][::-1]
    for number, expected in enumerate([codes[:2], codes[2:4], codes[4:], []], 1):
        assert listed(api, page=number, limit=2) == {
            "qrCodes": expected,
            "pagination": {"page": number, "limit": 2, "total": 5, "pages": 3},
        }


@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize("by_link", [False, True])
def test_the_number_of_queries_does_not_depend_on_the_page(
    api: APIClient, make_qr_code: MakeQrCode, django_assert_num_queries: Any, items: int, *, by_link: bool
) -> None:
    codes = [make_qr_code(logo=data_uri(file_of(logo())))]
    codes += [make_qr_code(urlId=codes[0]["urlId"], size=400 + number) for number in range(items - 1)]
    query = {"urlId": codes[0]["urlId"]} if by_link else {}
    with django_assert_num_queries(3):  # the credential, the number, the page
        assert len(listed(api, **query)["qrCodes"]) == items


def test_a_list_fetches_no_logos(
    api: APIClient, make_qr_code: MakeQrCode, django_assert_num_queries: Any
) -> None:
    make_qr_code(logo=data_uri(file_of(logo())))
    with django_assert_num_queries(3) as captured:
        listed(api)
    assert not [query for query in captured.captured_queries if '"logo"' in query["sql"]]


def test_the_total_is_capped(
    api: APIClient, make_link: MakeLink, make_qr_code: MakeQrCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    url_id = make_link()["_id"]
    codes = [make_qr_code(urlId=url_id, size=300 + number) for number in range(4)]
    monkeypatch.setattr(selectors, "COUNT_LIMIT", 4)
    assert "totalIsCapped" not in listed(api)["pagination"]
    monkeypatch.setattr(selectors, "COUNT_LIMIT", 2)
    page = listed(api, page=4, limit=1)
    assert page["pagination"] == {"page": 4, "limit": 1, "total": 2, "pages": 5, "totalIsCapped": True}
    # Codes beyond the counted total are listed, too.
    assert page["qrCodes"] == codes[:1]


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("by_link", [False, True])
def test_a_client_that_walks_to_pages_gets_every_code_beyond_the_limit_of_counting(
    api: APIClient,
    make_link: MakeLink,
    make_qr_code: MakeQrCode,
    monkeypatch: pytest.MonkeyPatch,
    *,
    limit: int,
    by_link: bool,
) -> None:
    url_id = make_link()["_id"]
    expected = [make_qr_code(urlId=url_id, size=300 + number) for number in range(7)][::-1]
    monkeypatch.setattr(selectors, "COUNT_LIMIT", 2)
    query = {"urlId": url_id} if by_link else {}
    codes: list[dict[str, Any]] = []
    page = pages = 1
    while page <= pages:
        data = listed(api, page=page, limit=limit, **query)
        codes += data["qrCodes"]
        page, pages = page + 1, data["pagination"]["pages"]
    assert codes == expected


def test_a_stranger_lists_no_codes(api: APIClient, strange_api: APIClient, make_qr_code: MakeQrCode) -> None:
    code = make_qr_code()
    assert listed(strange_api)["qrCodes"] == []
    assert missing(strange_api.get("/api/qr-codes", {"urlId": code["urlId"]}), "URL not found.")
    assert len(listed(api)["qrCodes"]) == 1


@pytest.mark.parametrize("url_id", [UNKNOWN_ID, "x", "", "5", "null", "%00"])
def test_listing_the_codes_of_an_unknown_link_returns_404(api: APIClient, url_id: str) -> None:
    response = api.get(f"/api/qr-codes?urlId={url_id}")
    assert response.status_code == (400 if url_id in ("", "%00") else 404), response.content
    assert response.json()["success"] is False


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("page=0", "page"),
        ("page=x", "page"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("page=10002&limit=100", "page"),
    ],
)
def test_bad_pages_are_refused(api: APIClient, query: str, field: str) -> None:
    response = api.get(f"/api/qr-codes?{query}")
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == [field]


# One code


def test_a_code_can_be_read(
    api: APIClient, bearer: APIClient, make_qr_code: MakeQrCode, django_assert_num_queries: Any
) -> None:
    code = make_qr_code(logo=data_uri(file_of(logo())), style="rounded")
    with django_assert_num_queries(2):
        response = api.get(f"/api/qr-codes/{code['_id']}")
    assert response.json() == {"success": True, "data": {"qrCode": code}}
    assert bearer.get(f"/api/qr-codes/{code['_id']}").json() == response.json()


def test_a_code_can_be_deleted(api: APIClient, make_qr_code: MakeQrCode) -> None:
    code, kept = make_qr_code(), make_qr_code()
    response = api.delete(f"/api/qr-codes/{code['_id']}")
    assert (response.status_code, response.json()) == (
        200,
        {"success": True, "message": "QR code deleted successfully."},
    )
    for method in (api.get, api.delete):
        assert missing(method(f"/api/qr-codes/{code['_id']}"), "QR code not found.")
    assert listed(api)["qrCodes"] == [kept]


def test_a_deleted_code_can_be_created_again_with_another_image_url(
    api: APIClient, make_qr_code: MakeQrCode
) -> None:
    first = make_qr_code()
    api.delete(f"/api/qr-codes/{first['_id']}")
    second = make_qr_code(urlId=first["urlId"])
    assert second["_id"] != first["_id"]
    assert second["imageUrl"] != first["imageUrl"]


def test_a_stranger_can_neither_read_nor_delete_a_code(
    strange_api: APIClient, make_qr_code: MakeQrCode
) -> None:
    path = f"/api/qr-codes/{make_qr_code()['_id']}"
    for method in (strange_api.get, strange_api.delete):
        assert missing(method(path), "QR code not found.")
    assert QrCode.objects.count() == 1


def test_operators_can_look_up_a_code(client: Any, alice: NewAccount, make_qr_code: MakeQrCode) -> None:
    code = make_qr_code(logo=data_uri(file_of(logo())))
    alice.user.is_staff = alice.user.is_superuser = True
    alice.user.save()
    client.force_login(alice.user)
    headers = {"host": "sho.rt"}
    token = code["imageUrl"].rpartition("/")[2].removesuffix(".png")
    page = client.get(f"/admin/qrcodes/qrcode/?q={token}", headers=headers)
    [row] = page.context["cl"].result_list
    assert str(row.public_id) == code["_id"]
    change = f"/admin/qrcodes/qrcode/{row.pk}/"
    assert client.get(f"{change}change/", headers=headers).status_code == 200
    assert client.post(f"{change}change/", {"size": 100}, headers=headers).status_code == 403
    assert client.post(f"{change}delete/", {"post": "yes"}, headers=headers).status_code == 403
