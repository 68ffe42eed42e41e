from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils.http import parse_http_date
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from qrcodes import views
from qrcodes.drawing import DrawingQueue
from qrcodes.models import QrCode
from testing.pictures import opened, read
from tests.qrcodes.conftest import GetImage, MakeQrCode

FOR_EVER = "public, max-age=31536000, immutable"
CONTENT_TYPES = {"png": "image/png", "jpeg": "image/jpeg", "svg": "image/svg+xml"}


@pytest.mark.parametrize("image_format", CONTENT_TYPES)
def test_the_image_of_each_format(
    make_link: Callable[..., dict[str, Any]],
    make_qr_code: MakeQrCode,
    get_image: GetImage,
    image_format: str,
) -> None:
    link = make_link()
    code = make_qr_code(urlId=link["_id"], format=image_format, size=333)
    assert code["imageUrl"].endswith(f".{image_format}")
    response = get_image(code)
    assert response.status_code == 200
    assert response["Content-Type"] == CONTENT_TYPES[image_format]
    assert response["Content-Length"] == str(len(response.content))
    assert response["Cache-Control"] == FOR_EVER
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response.get("Content-Security-Policy") == ("sandbox" if image_format == "svg" else None)
    assert "Vary" not in response or "Cookie" not in response["Vary"]
    assert not response.cookies
    assert read(response.content, image_format) == [f"{link['shortUrl']}?qr=1"]
    assert opened(response.content, image_format).size == (333, 333)


def test_an_image_is_the_same_every_time(make_qr_code: MakeQrCode, get_image: GetImage) -> None:
    code = make_qr_code()
    assert get_image(code).content == get_image(code).content
    assert get_image(code)["ETag"] == get_image(code)["ETag"]


def test_different_images_have_different_etags(make_qr_code: MakeQrCode, get_image: GetImage) -> None:
    codes = [make_qr_code(), make_qr_code(), make_qr_code(size=301)]
    assert len({get_image(code)["ETag"] for code in codes}) == 3


def test_a_cached_image_is_neither_sent_nor_drawn_again(
    make_qr_code: MakeQrCode, get_image: GetImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = make_qr_code()
    first = get_image(code)
    tag, moment = first["ETag"], first["Last-Modified"]
    assert abs(parse_http_date(moment) - time.time()) < 60
    monkeypatch.setattr(views, "render", lambda *_: pytest.fail("was drawn"))
    for headers in (
        {"if_none_match": tag},
        {"if_none_match": tag.removeprefix("W/")},
        {"if_none_match": f'"other", {tag}'},
        {"if_none_match": "*"},
        {"if_modified_since": moment},
        {"if_none_match": tag, "if_modified_since": "Thu, 01 Jan 2015 00:00:00 GMT"},
    ):
        response = get_image(code, **headers)
        assert (response.status_code, response.content) == (304, b""), headers
        assert (response["ETag"], response["Last-Modified"]) == (tag, moment)
        assert response["Cache-Control"] == FOR_EVER


def test_an_image_that_is_not_cached_is_sent(make_qr_code: MakeQrCode, get_image: GetImage) -> None:
    code = make_qr_code()
    whole = get_image(code)
    for headers in (
        {"if_none_match": '"other"'},
        {"if_none_match": "rubbish"},
        {"if_modified_since": "Thu, 01 Jan 2015 00:00:00 GMT"},
        {"if_modified_since": "rubbish"},
        {"if_none_match": '"other"', "if_modified_since": whole["Last-Modified"]},
        {"range": "bytes=0-9"},
    ):
        response = get_image(code, **headers)
        assert (response.status_code, response.content) == (200, whole.content), headers


def test_a_failed_precondition_returns_an_uncacheable_412(
    make_qr_code: MakeQrCode, get_image: GetImage
) -> None:
    response = get_image(make_qr_code(), if_unmodified_since="Thu, 01 Jan 2015 00:00:00 GMT")
    assert (response.status_code, response["Cache-Control"]) == (412, "no-store")


def test_head_has_the_headers_of_get(make_qr_code: MakeQrCode, get_image: GetImage) -> None:
    code = make_qr_code(format="svg")
    response = Client(headers={"host": "sho.rt"}).head(code["imageUrl"].removeprefix("http://sho.rt"))
    assert (response.status_code, response.content) == (200, b"")
    assert dict(response.headers) == dict(get_image(code).headers)


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options"])
def test_images_are_read_only(make_qr_code: MakeQrCode, get_image: GetImage, method: str) -> None:
    code = make_qr_code()
    path = code["imageUrl"].removeprefix("http://sho.rt")
    response = getattr(Client(headers={"host": "sho.rt"}), method)(path)
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
    assert get_image(code).status_code == 200


def test_credentials_are_ignored(make_qr_code: MakeQrCode, get_image: GetImage) -> None:
    code = make_qr_code()
    assert get_image(code, x_api_key="rubbish", authorization="Bearer rubbish").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [*("a" * length + ".png" for length in (21, 22, 23)), "x.png", "..%2f.png", "%00.png", "\u00e9" * 22 + ".png", ""],
)  # fmt: skip
def test_an_invalid_image_url_returns_404(name: str) -> None:
    response = Client(headers={"host": "sho.rt"}).get(f"/qr/{name}")
    assert (response.status_code, response["Cache-Control"]) == (404, "no-store")


def test_image_urls_match_exactly(make_qr_code: MakeQrCode, get_image: GetImage) -> None:
    code = make_qr_code()
    address = code["imageUrl"].removesuffix(".png")
    token = address.rpartition("/")[2]
    for other in (
        f"{address}.svg",
        f"{address}.jpeg",
        f"{address}.PNG",
        address,
        f"{address}.png/",
        f"{address}.png%0a",
        address.replace(token, token.swapcase()) + ".png",
        f"http://sho.rt/qr/{code['_id']}.png",
    ):
        assert get_image({"imageUrl": other}).status_code == 404, other


def test_customers_domains_serve_no_images(make_qr_code: MakeQrCode, get_image: GetImage) -> None:
    assert get_image(make_qr_code(), host="brand.example").status_code == 404


def test_a_deleted_code_has_no_image(api: APIClient, make_qr_code: MakeQrCode, get_image: GetImage) -> None:
    code = make_qr_code()
    tag = get_image(code)["ETag"]
    assert api.delete(f"/api/qr-codes/{code['_id']}").status_code == 200
    for headers in ({}, {"if_none_match": tag}):
        response = get_image(code, **headers)
        assert response.status_code == 404
        assert response.json() == {"success": False, "message": "Image not found.", "code": "not_found"}
        assert response["Cache-Control"] == "no-store"


def test_a_rename_does_not_change_the_image(
    api: APIClient, make_qr_code: MakeQrCode, get_image: GetImage
) -> None:
    code = make_qr_code()
    before = get_image(code).content
    assert api.put(f"/api/urls/{code['urlId']}", {"customCode": "Renamed"}).status_code == 200
    assert get_image(code).content == before


def test_an_image_takes_one_query(
    make_qr_code: MakeQrCode, get_image: GetImage, django_assert_num_queries: Any
) -> None:
    code = make_qr_code()
    with django_assert_num_queries(1):
        get_image(code)


def test_too_many_image_requests_return_503_with_retry_after(
    make_qr_code: MakeQrCode,
    get_image: GetImage,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_assert_num_queries: Any,
) -> None:
    code = make_qr_code()
    queue = DrawingQueue(0, 5)
    monkeypatch.setattr(views, "drawing_queue", queue)
    with queue.admission.admit("another"), django_assert_num_queries(1):
        response = get_image(code)
    assert (response.status_code, response.json()["code"]) == (503, "busy")
    assert (response["Retry-After"], response["Cache-Control"]) == ("2", "no-store")
    assert not [record for record in caplog.records if record.levelno > logging.INFO]
    assert get_image(code).status_code == 200


def test_only_a_drawing_needs_a_place_in_the_queue(
    make_qr_code: MakeQrCode, get_image: GetImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, fresh = make_qr_code(), make_qr_code()
    queue = DrawingQueue(0, 5)
    monkeypatch.setattr(views, "drawing_queue", queue)
    drawn = get_image(code)
    with queue.admission.admit("another"):
        assert get_image(fresh).status_code == 503
        assert get_image(fresh, if_none_match=drawn["ETag"]).status_code == 503
        assert get_image(code, if_none_match=drawn["ETag"]).status_code == 304
        assert get_image(fresh, if_none_match="*").status_code == 304
        unknown = {"imageUrl": f"http://sho.rt/qr/{'A' * 22}.png"}
        assert get_image(unknown).status_code == 404
        again = get_image(code)
        assert (again.status_code, again.content, again["ETag"]) == (200, drawn.content, drawn["ETag"])


def test_a_kept_image_ends_with_its_code(
    api: APIClient, make_qr_code: MakeQrCode, get_image: GetImage
) -> None:
    code = make_qr_code()
    assert get_image(code).status_code == 200
    assert api.delete(f"/api/qr-codes/{code['_id']}").status_code == 200
    assert get_image(code).status_code == 404


def test_the_image_requests_of_a_network_are_limited(
    settings: Settings, make_qr_code: MakeQrCode, get_image: GetImage
) -> None:
    code = make_qr_code()
    settings.RATE_LIMIT_ANONYMOUS = 3
    tag = get_image(code)["ETag"]
    unknown = {"imageUrl": f"http://sho.rt/qr/{'A' * 22}.png"}
    assert get_image(code, if_none_match=tag).status_code == 304
    assert get_image(unknown).status_code == 404
    refused = get_image(code)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert (refused["RateLimit-Policy"], refused["Cache-Control"]) == ('"default";q=3;w=60', "no-store")
    elsewhere = Client(headers={"host": "sho.rt"}, REMOTE_ADDR="198.51.100.5")
    assert elsewhere.get(code["imageUrl"].removeprefix("http://sho.rt")).status_code == 200


def test_an_image_during_a_database_outage_returns_503(
    make_qr_code: MakeQrCode, get_image: GetImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = make_qr_code()

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(QrCode.objects, "filter", fail)
    response = get_image(code)
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert response["Retry-After"] == "2"
