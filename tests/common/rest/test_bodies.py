"""The bodies of requests: sizes, media types and encodings."""

import gzip
from typing import Any

import pytest
from django.test import Client
from rest_framework.response import Response
from rest_framework.test import APIClient

from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD
from testing.cases import for_each
from tests.common.rest.json_bodies import KB_64, REFUSED, nested, sized

JSON = "application/json"
NAMED_BODIES = {
    **{name: body for name, (body, _) in REFUSED.items()},
    "60,000 brackets never closed": b"[" * 60_000,
}
# Over HTTP, at a public endpoint and at one that requires a key

CREATE = b'"originalUrl":"https://example.com/"'
LOGIN = f'"email":"alice@example.com","password":"{PASSWORD}"'.encode()
ENDPOINTS = pytest.mark.parametrize(
    ("path", "fields", "success"),
    [("/api/auth/login", LOGIN, 200), ("/api/urls", CREATE, 201)],
    ids=["login", "create"],
)


def send(client: Client, path: str, body: bytes, content_type: str = JSON, **headers: str) -> Response:
    return client.generic("POST", path, body, content_type, headers=headers)


def error(response: Response) -> tuple[int, bool, str, set[str]]:
    assert response.headers["Content-Type"] == JSON
    body = response.json()
    return response.status_code, body["success"], body["code"], set(body)


BAD = (400, False, "invalid_json", {"success", "message", "code"})
LARGE = (413, False, "body_too_large", {"success", "message", "code"})
UNSUPPORTED = (415, False, "unsupported_media_type", {"success", "message", "code"})


@for_each("name", [name for name in NAMED_BODIES if name != "empty"])
@pytest.mark.slow
def test_bad_body_returns_400(name: str, api: APIClient) -> None:
    responses = [send(api, path, NAMED_BODIES[name]) for path in ("/api/auth/login", "/api/urls")]
    assert [error(response) for response in responses] == [BAD, BAD]


@ENDPOINTS
def test_without_a_body_the_required_fields_are_missing(
    path: str, fields: bytes, success: int, api: APIClient
) -> None:
    response = send(api, path, b"")
    body = response.json()
    assert (response.status_code, body["code"]) == (400, "validation_error")
    assert {error["code"] for error in body["errors"]} == {"required"}


@ENDPOINTS
def test_valid_body_has_at_most_16_levels(path: str, fields: bytes, success: int, api: APIClient) -> None:
    statuses = [
        send(api, path, b"{" + fields + b"," + nested(depth)[1:]).status_code for depth in (15, 16, 17, 18)
    ]
    assert statuses == [success, success, 400, 400]


@ENDPOINTS
def test_valid_body_has_at_most_64_kb(path: str, fields: bytes, success: int, api: APIClient) -> None:
    whole = b"{" + fields + b"}"

    def padded(size: int) -> bytes:
        return whole + b" " * (size - len(whole))

    assert [send(api, path, padded(KB_64 + more)).status_code for more in (-1, 0)] == [success, success]
    assert error(send(api, path, padded(KB_64 + 1))) == LARGE
    assert error(send(api, path, padded(3_000_000))) == LARGE


@ENDPOINTS
def test_declared_size_is_enough_to_refuse(path: str, fields: bytes, success: int, api: APIClient) -> None:
    response = api.generic("POST", path, b"{}", JSON, CONTENT_LENGTH="1000000000000")
    assert error(response) == LARGE


@ENDPOINTS
@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        'application/json; charset="utf-8"',
        " application/json ",
    ],
)
def test_json_in_utf8_is_accepted(
    content_type: str, path: str, fields: bytes, success: int, api: APIClient
) -> None:
    assert send(api, path, b"{" + fields + b"}", content_type).status_code == success


@ENDPOINTS
@for_each(
    "content_type",
    [
        "",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "multipart/form-data; boundary=x",
        "text/plain",
        "text/plain;charset=UTF-8",
        "text/json",
        "text/html",
        "application/xml",
        "application/octet-stream",
        "application/jsonp",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/vnd.api+json",
        "application/*",
        "*/*",
        "json",
        "application/json, text/plain",
        "application/json; charset=utf-16",
        "application/json; charset=utf-32",
        "application/json; charset=iso-8859-1",
        'application/json; charset="utf-7"',
        "application/json; charset=nonsense",
        "x" * 10_000,
        "applicatioñ/json",
    ],
)
def test_any_other_media_type_returns_415(
    content_type: str, path: str, fields: bytes, success: int, api: APIClient
) -> None:
    assert error(send(api, path, b"{" + fields + b"}", content_type)) == UNSUPPORTED


@ENDPOINTS
@for_each("encoding", ["gzip", "GZIP", "deflate", "br", "zstd", "compress", "gzip, identity", "x"])
def test_compressed_body_returns_415(
    encoding: str, path: str, fields: bytes, success: int, api: APIClient
) -> None:
    body = b"{" + fields + b"}"
    for sent in (body, gzip.compress(body)):
        assert error(send(api, path, sent, **{"content-encoding": encoding})) == UNSUPPORTED


@ENDPOINTS
@pytest.mark.parametrize("encoding", ["identity", "Identity"])
def test_identity_encoding_is_accepted(
    encoding: str, path: str, fields: bytes, success: int, api: APIClient
) -> None:
    response = send(api, path, b"{" + fields + b"}", **{"content-encoding": encoding})
    assert response.status_code == success


@pytest.mark.parametrize("coding", ["chunked", "gzip, chunked", "identity", ""])
def test_chunked_body_is_read(coding: str, api: APIClient, make_link: Any) -> None:
    """Chunks have no Content-Length, so a server could mistake the body for an empty one."""
    path = f"/api/urls/{make_link(title='old')['_id']}"
    response = api.generic(
        "PUT", path, b'{"title":"new"}', JSON, CONTENT_LENGTH="", HTTP_TRANSFER_ENCODING=coding
    )
    assert error(response) == (411, False, "length_required", {"success", "message", "code"})
    assert api.get(path).json()["data"]["url"]["title"] == "old"


def test_endpoint_that_reads_no_body_refuses_a_broken_one(bearer: APIClient, alice: NewAccount) -> None:
    path = "/api/auth/regenerate-api-key"
    assert error(send(bearer, path, b"[")) == BAD
    assert error(send(bearer, path, b"{}", "text/plain")) == UNSUPPORTED
    assert error(send(bearer, path, sized(KB_64 + 1))) == LARGE
    assert bearer.get("/api/auth/api-key").json()["apiKey"] == alice.api_key


def test_missing_credential_is_reported_before_an_invalid_body(anonymous: APIClient) -> None:
    assert send(anonymous, "/api/urls", b"[").status_code == 401
