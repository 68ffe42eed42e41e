"""Hostile and malformed headers from clients and broken proxies never cause a 5xx response."""

from __future__ import annotations

import json

import pytest

from testing.service.clients.raw import send_raw
from testing.service.running import Service

pytestmark = pytest.mark.slow

HOST = b"Host: 127.0.0.1"
LENGTHS = (8 * 1024, 64 * 1024)

FORWARDED_FOR = [
    b"", b",", b", ,", b"unknown", b"_hidden", b"192.0.2.1", b"192.0.2.1:80", b"192.0.2.1, 198.51.100.2",
    b"2001:db8::1", b"[2001:db8::1]", b"[2001:db8::1]:80", b"[::1", b"::ffff:192.0.2.1", b"fe80::1%eth0",
    b"192.0.2.999", b"192.0.2", b"3221225985", b"0x7f.1", b"\xff\xfe", b"127.0.0.1\t", b"'; DROP TABLE links_link--",
    b"<script>", b"1," * 1000,
]  # fmt: skip
MEDIA_TYPES = [
    b"", b" ", b",", b";", b"=", b"/", b"*", b"*/*", b"*/json", b"application", b"application/", b"/json",
    b"text/html", b"application/json", b"APPLICATION/JSON", b"application/json;", b"application/json; charset=utf-8",
    b"application/json; charset=", b'application/json; charset="utf-8"', b"application/json; charset=utf-16",
    b"application/json; charset=x-unknown", b"application/json; charset=\xff",
    b"application/json;charset=utf-8;charset=x", b"application/json;q=0", b"application/json;q=nan",
    b"application/json;q=" + b"9" * 4000, b"application/json, text/html", b"application/*+json",
    b"application/problem+json", b"text/json", b"application/x-www-form-urlencoded", b"multipart/form-data",
    b"multipart/form-data; boundary=", b"multipart/form-data; boundary=" + b"x" * 4000,
    b"text/html; a*=x-unknown''%41", b"text/html; a*0*=x''%41; a*1=%", b"x; =?utf-16?q?=", b"\xff\xfe",
    b"text/html;" * 500, b"application/xml", b"application/yaml", b"image/png", b"application/json\tx",
    b"application/json; a=\"",
]  # fmt: skip
AUTHORIZATIONS = [
    b"", b" ", b"Bearer", b"Bearer ", b"bearer x", b"BEARER x", b"Bearer x y", b"Bearer  x", b"Bearer null",
    b"Bearer undefined", b"Bearer .", b"Bearer ..", b"Bearer ...", b"Bearer a.b.c", b"Bearer a.b.c.d", b"Bearer =",
    b"Bearer e30.e30.", b"Bearer e30.e30.e30", b"Bearer eyJhbGciOiJub25lIn0.e30.", b"Bearer \xff\xfe",
    b"Bearer \xc3\xa9", b"Bearer " + b"x" * 4000, b"Bearer " + b"." * 4000, b"Bearer,Bearer x", b"Basic",
    b"Basic eDp5", b"Basic \xff", b"Digest username=x", b"Token x", b"Negotiate", b"x", b"\xff",
    b"Bearer x\tBearer y",
]  # fmt: skip
API_KEYS = [
    b"", b" ", b"x", b"null", b"undefined", b"sl", b"sl_", b"sl_live", b"sl_live_", b"sl_live_" + b"0" * 38,
    b"sl_live_" + b"0" * 37, b"sl_live_" + b"0" * 39, b"SL_LIVE_" + b"0" * 38, b"sl_test_" + b"0" * 38,
    b"sl_live_" + b"_" * 38, b"sl_live_" + b"-" * 38, b"sl_live_" + b"\xff" * 38,
    b"sl_live_" + "\u0660".encode() * 38, b"Bearer sl_live_" + b"0" * 38, b"sl_live_" + b"0" * 38 + b", x",
    b"\xff\xfe", b"\xc3\xa9", b"'", b"' OR '1'='1", b"../..", b"%00", b"%s%s%n", b"{{7*7}}", b"${7*7}", b"x" * 4000,
    b"sl_live_" + b"0" * 4000, b"\t",
]  # fmt: skip


def test_the_corpus_is_large_enough() -> None:
    lengths = [len(values) for values in (FORWARDED_FOR, MEDIA_TYPES, AUTHORIZATIONS, API_KEYS)]
    assert [most >= least for most, least in zip(lengths, (20, 40, 30, 30), strict=True)] == [True] * 4


@pytest.fixture(scope="module")
def code(installation: object) -> list[str]:
    """The code of the link that these tests share; the first test creates it."""
    return []


@pytest.fixture
def link(service: Service, api_key: str, code: list[str]) -> str:
    if not code:
        code.append(service.create_link(api_key)["shortCode"])
    return code[0]


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (
            ["X-Forwarded-For", "X-Real-Ip", "Forwarded", "X-Forwarded-Proto", "X-Forwarded-Port"],
            FORWARDED_FOR,
        ),
        (["Accept", "Content-Type", "Accept-Language", "Accept-Encoding", "Content-Encoding"], MEDIA_TYPES),
        (["Authorization", "Proxy-Authorization", "Cookie"], AUTHORIZATIONS),
        (["X-API-Key"], API_KEYS),
    ],
    ids=["addresses", "media types", "authorizations", "keys"],
)
def test_hostile_headers_break_neither_links_nor_the_api(
    service: Service, link: str, names: list[str], values: list[bytes]
) -> None:
    for name in names:
        for value in values:
            line = name.encode() + b": " + value
            followed = send_raw(service.port, f"/{link}", HOST, line)
            assert (followed.status, followed.location) == (302, b"https://example.com/page"), line
            refused = send_raw(service.port, "/api/urls", HOST, line)
            assert (refused.status, json.loads(refused.body)["code"]) == (401, "not_authenticated"), line


@pytest.mark.parametrize("name", ["Content-Type", "Content-Encoding"])
def test_a_body_is_parsed_by_its_content_type_or_rejected(service: Service, api_key: str, name: str) -> None:
    key, body = b"X-API-Key: " + api_key.encode(), b'{"originalUrl": "https://example.com/"}'
    other = [] if name == "Content-Type" else [b"Content-Type: application/json"]
    for value in MEDIA_TYPES:
        lines = [HOST, key, *other, name.encode() + b": " + value, b"Content-Length: %d" % len(body)]
        response = send_raw(service.port, "/api/urls", *lines, method="POST", body=body)
        assert (response.status, json.loads(response.body).get("code")) in [
            (201, None),
            (415, "unsupported_media_type"),
        ], value


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("path", ["link", "/api/urls"])
def test_header_length_is_limited(service: Service, link: str, path: str, length: int) -> None:
    target, good = (f"/{link}", 302) if path == "link" else (path, 401)
    names = [
        b"X-Long",
        b"Cookie",
        b"Referer",
        b"User-Agent",
        b"Accept",
        b"Authorization",
        b"X-API-Key",
        b"Host",
    ]
    for name in names:
        response = send_raw(service.port, target, HOST, name + b": " + b"x" * length)
        assert response.status in (good, 400, 431), (name, response.bytes[:200])
    assert send_raw(service.port, target, HOST).status == good


@pytest.mark.parametrize("path", ["link", "/api/urls"])
def test_header_count_is_limited(service: Service, link: str, path: str) -> None:
    target, good = (f"/{link}", 302) if path == "link" else (path, 401)

    def status(headers: int) -> int:
        # In addition to Host, User-Agent and Connection.
        lines = [b"X-%d: x" % number for number in range(headers - 3)]
        return send_raw(service.port, target, HOST, *lines).status

    assert [status(headers) for headers in (100, 101, 1000)] == [good, 431, 431]
