import gzip
import json
from typing import Any

import pytest
from django.test import Client
from rest_framework.response import Response
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.errors import BadBody, BodyTooLarge
from common.rest.strict_json import parse_object
from testing.accounts import PASSWORD

JSON = "application/json"
KB_64 = 65_536


def nested(depth: int) -> bytes:
    """An object whose deepest array is at ``depth``; the object itself is at 1."""
    return b'{"x":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def nested_objects(depth: int) -> bytes:
    return b'{"x":' * depth + b"1" + b"}" * depth


def sized(size: int) -> bytes:
    return b'{"x":"' + b"a" * (size - 8) + b'"}'


ACCEPTED: dict[str, tuple[bytes, dict[str, Any]]] = {
    "empty object": (b"{}", {}),
    "white space around": (b" \t\r\n{ \n} \r\n", {}),
    "every type": (
        b'{"s":"t","i":1,"f":1.5,"t":true,"f2":false,"n":null,"a":[],"o":{}}',
        {"s": "t", "i": 1, "f": 1.5, "t": True, "f2": False, "n": None, "a": [], "o": {}},
    ),
    "numbers": (
        b'{"a":-0,"b":0.0,"c":1E5,"d":1e-5,"e":-12,"f":1e308}',
        {"a": 0, "b": 0.0, "c": 1e5, "d": 1e-5, "e": -12, "f": 1e308},
    ),
    "integer of 4,000 digits": (b'{"x":1' + b"0" * 3999 + b"}", {"x": 10**3999}),
    "escapes": (
        rb'{"x":"\"\\\/\b\f\n\r\t\u00e9\u20AC"}',
        {"x": '"\\/\b\f\n\r\té€'},
    ),
    "surrogate pair escaped": (rb'{"\uD83D\uDE00":"\ud83d\ude00"}', {"😀": "😀"}),
    "UTF-8": ('{"ключ":"é😀👩‍👩‍👧"}'.encode(), {"ключ": "é😀👩‍👩‍👧"}),
    "noncharacters": ('{"x":"\ufffe\uffff"}'.encode(), {"x": "\ufffe\uffff"}),
    "byte order mark inside a string": ('{"x":"\ufeff"}'.encode(), {"x": "\ufeff"}),
    "delete character": (b'{"x":"\x7f"}', {"x": "\x7f"}),
    "empty key": (b'{"":1}', {"": 1}),
    "keys that differ in case": (b'{"a":1,"A":2}', {"a": 1, "A": 2}),
    "one key in two objects": (b'{"a":{"a":{"a":1}},"b":{"a":1}}', {"a": {"a": {"a": 1}}, "b": {"a": 1}}),
    "16 deep": (nested(16), json.loads(nested(16))),
    "16 objects deep": (nested_objects(16), json.loads(nested_objects(16))),
    "64 KB": (sized(KB_64), {"x": "a" * (KB_64 - 8)}),
}

# The body and the beginning of the message.
NOT_JSON = "The request body is not valid JSON: "
NO_OBJECT = "The request body must be a JSON object."
NOT_UTF8 = "The request body is not UTF-8."
TOO_DEEP = "The request body is nested deeper than 16 levels."
HOLDS_NUL = "The request body contains a NUL character."
HOLDS_SURROGATE = "The request body contains a lone surrogate."

REFUSED: dict[str, tuple[bytes, str]] = {
    # Not an object
    "text": (b'"str"', NO_OBJECT),
    "null": (b"null", NO_OBJECT),
    "array": (b"[]", NO_OBJECT),
    "array of an object": (b"[{}]", NO_OBJECT),
    "number": (b"1", NO_OBJECT),
    "zero": (b"0", NO_OBJECT),
    "true": (b"true", NO_OBJECT),
    "false": (b"false", NO_OBJECT),
    # Not JSON
    "empty": (b"", NOT_JSON),
    "white space only": (b" \n\t", NOT_JSON),
    "cut off": (b'{"x":', NOT_JSON),
    "cut off in a string": (b'{"x":"', NOT_JSON),
    "cut off after a backslash": (b'{"x":"\\', NOT_JSON),
    "single quotes": (b"{'x':1}", NOT_JSON),
    "bare key": (b"{x:1}", NOT_JSON),
    "number as key": (b"{1:1}", NOT_JSON),
    "comma at the end": (b'{"x":1,}', NOT_JSON),
    "comma at the beginning": (b'{,"x":1}', NOT_JSON),
    "comma in an array": (b'{"x":[1,]}', NOT_JSON),
    "no colon": (b'{"x" 1}', NOT_JSON),
    "comment": (b'{"x":1/* one */}', NOT_JSON),
    "line comment": (b'{"x":1}//', NOT_JSON),
    "two objects": (b"{}{}", NOT_JSON),
    "object and a word": (b"{} x", NOT_JSON),
    "object and a bracket": (b"{}}", NOT_JSON),
    "object and a NUL": (b"{}\0", NOT_JSON),
    "leading zero": (b'{"x":01}', NOT_JSON),
    "leading plus": (b'{"x":+1}', NOT_JSON),
    "leading point": (b'{"x":.5}', NOT_JSON),
    "trailing point": (b'{"x":5.}', NOT_JSON),
    "hexadecimal": (b'{"x":0x10}', NOT_JSON),
    "underscore": (b'{"x":1_000}', NOT_JSON),
    "Arabic digits": ('{"x":١٢}'.encode(), NOT_JSON),
    "True": (b'{"x":True}', NOT_JSON),
    "undefined": (b'{"x":undefined}', NOT_JSON),
    "newline in a string": (b'{"x":"a\nb"}', NOT_JSON),
    "tab in a string": (b'{"x":"a\tb"}', NOT_JSON),
    "control character in a key": (b'{"a\x01":1}', NOT_JSON),
    "unknown escape": (rb'{"x":"\a"}', NOT_JSON),
    "hexadecimal escape": (rb'{"x":"\x41"}', NOT_JSON),
    "short escape": (rb'{"x":"\u12"}', NOT_JSON),
    "no-break space around": ("\u00a0{}".encode(), NOT_JSON),
    "vertical tab around": (b"\v{}", NOT_JSON),
    "form": (b"originalUrl=https%3A%2F%2Fexample.com", NOT_JSON),
    # Invalid numbers
    "NaN": (b'{"x":NaN}', NOT_JSON + "NaN is not a JSON number"),
    "Infinity": (b'{"x":Infinity}', NOT_JSON + "Infinity is not a JSON number"),
    "-Infinity": (b'{"x":[-Infinity]}', NOT_JSON + "-Infinity is not a JSON number"),
    "1e400": (b'{"x":1e400}', NOT_JSON + "a number is out of range"),
    "-1e400": (b'{"x":{"y":-1.5e400}}', NOT_JSON + "a number is out of range"),
    "integer of 5,000 digits": (b'{"x":' + b"9" * 5000 + b"}", NOT_JSON),
    # Duplicate keys
    "duplicate key": (b'{"x":1,"x":1}', NOT_JSON + "duplicate key in an object"),
    "duplicate key below": (b'{"x":[{"y":{"z":1,"z":2}}]}', NOT_JSON + "duplicate key in an object"),
    "duplicate key escaped": (rb'{"x":1,"\u0078":2}', NOT_JSON + "duplicate key in an object"),
    # Characters
    "NUL escaped": (rb'{"x":"a\u0000b"}', HOLDS_NUL),
    "NUL escaped in a key": (rb'{"a\u0000":1}', HOLDS_NUL),
    "NUL escaped far below": (rb'{"x":[[{"y":{"\u0000":1}}]]}', HOLDS_NUL),
    "NUL raw": (b'{"x":"a\0b"}', NOT_JSON),
    "NUL raw in a key": (b'{"a\0":1}', NOT_JSON),
    "high surrogate": (rb'{"x":"\ud800"}', HOLDS_SURROGATE),
    "low surrogate": (rb'{"x":"\udfff"}', HOLDS_SURROGATE),
    "surrogates the wrong way round": (rb'{"x":"\ude00\ud83d"}', HOLDS_SURROGATE),
    "surrogate in a key": (rb'{"\udc00":1}', HOLDS_SURROGATE),
    "surrogate in a list": (rb'{"x":["ok",["\uDBFF"]]}', HOLDS_SURROGATE),
    "surrogate in a key below": (rb'{"x":[{"\ud83d!":1}]}', HOLDS_SURROGATE),
    # Encodings
    "byte order mark": (b"\xef\xbb\xbf{}", NOT_JSON),
    "UTF-16": ("{}".encode("utf-16"), NOT_UTF8),
    "UTF-16 LE": ("{}".encode("utf-16-le"), NOT_JSON),
    "UTF-16 BE": ("{}".encode("utf-16-be"), NOT_JSON),
    "UTF-32": ("{}".encode("utf-32"), NOT_UTF8),
    "UTF-32 BE": ("{}".encode("utf-32-be"), NOT_JSON),
    "Latin-1": ('{"x":"é"}'.encode("latin-1"), NOT_UTF8),
    "surrogate raw": (b'{"x":"\xed\xa0\x80"}', NOT_UTF8),
    "overlong slash": (b'{"x":"\xc0\xaf"}', NOT_UTF8),
    "overlong NUL": (b'{"x":"\xc0\x80"}', NOT_UTF8),
    "beyond U+10FFFF": (b'{"x":"\xf4\x90\x80\x80"}', NOT_UTF8),
    "continuation byte alone": (b'{"x":"\x80"}', NOT_UTF8),
    "sequence cut off": (b'{"x":"\xe2\x82"}', NOT_UTF8),
    "0xFF": (b'\xff{"x":1}', NOT_UTF8),
    "gzip": (gzip.compress(b"{}"), NOT_UTF8),
    # Depth
    "17 deep": (nested(17), TOO_DEEP),
    "17 objects deep": (nested_objects(17), TOO_DEEP),
    "100 deep": (nested(100), TOO_DEEP),
    "1,000 deep": (nested(1_000), TOO_DEEP),
    "20,000 deep": (nested(20_000), TOO_DEEP),
    "30,000 deep": (nested(30_000), TOO_DEEP),
    "10,000 objects deep": (nested_objects(10_000), TOO_DEEP),
    "array 17 deep beside an array": (b'{"w":[],"x":' + nested(16)[5:-1].join([b"[", b"]"]) + b"}", TOO_DEEP),
}

NAMED_BODIES = {
    **{name: body for name, (body, _) in REFUSED.items()},
    "60,000 brackets never closed": b"[" * 60_000,
}


@pytest.mark.parametrize(("body", "value"), ACCEPTED.values(), ids=ACCEPTED)
def test_plain_object_is_parsed(body: bytes, value: dict[str, Any]) -> None:
    assert parse_object(body) == value


@pytest.mark.parametrize(("body", "beginning"), REFUSED.values(), ids=REFUSED)
def test_everything_else_is_refused_with_a_short_message(body: bytes, beginning: str) -> None:
    with pytest.raises(BadBody) as refused:
        parse_object(body)
    assert refused.value.message.startswith(beginning)
    assert len(refused.value.message) <= 200
    assert (refused.value.status, refused.value.code) == (400, "invalid_json")


@pytest.mark.parametrize("size", [KB_64 + 1, 100_000, 1_000_000])
def test_body_over_64_kb_is_too_large(size: int) -> None:
    with pytest.raises(BodyTooLarge) as refused:
        parse_object(sized(size))
    assert (refused.value.status, refused.value.code) == (413, "body_too_large")


def test_size_is_counted_in_bytes() -> None:
    body = ('{"x":"' + "é" * ((KB_64 - 8) // 2) + '"}').encode()
    assert len(body) == KB_64
    assert parse_object(body)
    with pytest.raises(BodyTooLarge):
        parse_object(body + b" ")


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


@pytest.mark.parametrize("name", [name for name in NAMED_BODIES if name != "empty"])
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
@pytest.mark.parametrize(
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
@pytest.mark.parametrize(
    "encoding", ["gzip", "GZIP", "deflate", "br", "zstd", "compress", "gzip, identity", "x"]
)
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
