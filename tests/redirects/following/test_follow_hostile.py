"""No part of a request changes where a link leads, or adds a header."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes
from wsgiref.util import setup_testing_defaults

import pytest
from django.test import Client

from pages.refusals import BAD_REQUEST, FORM_EXPIRED
from shortener_project.wsgi import application
from testing.pages.html import assert_page
from testing.redirects.following import CUSTOM_HOST, DESTINATION, redirect_headers

MakeLink = Callable[..., dict[str, Any]]
# Requests cannot change the destination

EVIL = [
    "evil.example", "//evil.example", "///evil.example", "////evil.example", "/\\evil.example", "\\/evil.example",
    "\\\\evil.example", "/\\/evil.example", "/\t/evil.example", "/\n/evil.example", "\t//evil.example",
    " //evil.example", "//evil.example/..", "//evil.example/%2e%2e", "/%2f/evil.example", "/%2f%2fevil.example",
    "/%5cevil.example", "/%5c%5cevil.example", "%2f%2fevil.example", "%252f%252fevil.example", "/%09/evil.example",
    "/%0a/evil.example", "/%00/evil.example", "//%00evil.example", "/.evil.example", "/..//evil.example",
    "/../evil.example", "/./evil.example", "/;//evil.example", ";@evil.example", "@evil.example", ":@evil.example",
    ":80@evil.example", "?@evil.example", "#@evil.example", ".evil.example", "-evil.example", "%2eevil.example",
    "http://evil.example", "https://evil.example", "https:evil.example", "https:/evil.example",
    "https:///evil.example", "https:\\\\evil.example", "http:evil.example", "hTTps://evil.example",
    "https://example.com@evil.example", "https://example.com:80@evil.example", "https://example.com%40evil.example",
    "https://example.com.evil.example", "https://evil.example#example.com", "https://evil.example?example.com",
    "https://evil.example\\@example.com", "https://evil.example%5c@example.com", "https://evil%E3%80%82example",
    "//evil\u3002example", "//\uff45vil.example", "https://[::ffff:203.0.113.9]/evil", "//203.0.113.9/evil",
    "//3405803785/evil", "//0xcb.0.0x71.9/evil", "javascript:alert('evil')", "java%0d%0ascript:alert('evil')",
    "data:text/html,evil", "vbscript:evil", "ftp://evil.example", "file:///evil", "blob:evil", "//evil.example/%2f..",
    "redir_url=https://evil.example", "url=https://evil.example", "next=//evil.example", "?url=https://evil.example",
    "?redir_url=//evil.example", "&url=//evil.example", "<>//evil.example", "\u2028//evil.example",
    "%u002f/evil.example",
]  # fmt: skip
PARAMETERS = [
    "redir_url", "redirect", "redirect_url", "redirect_uri", "url", "uri", "u", "next", "to", "target", "dest",
    "destination", "goto", "link", "return", "returnTo", "return_url", "continue", "callback", "location", "Location",
    "utm_source", "originalUrl", "host", "domain", "code", "",
]  # fmt: skip
HEADERS = [
    "X-Forwarded-Host", "X-Forwarded-Server", "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Forwarded-Prefix",
    "X-Forwarded-Port", "X-Forwarded-For", "X-Forwarded-Uri", "Forwarded", "X-Host", "X-Real-Ip", "X-Original-Host",
    "X-Original-Url", "X-Rewrite-Url", "X-Http-Host-Override", "X-Http-Method-Override", "X-Proxy-Url",
    "X-Script-Name",
    "Proxy", "Referer", "Origin", "From", "Via", "Destination", "Location", "Refresh", "Base-Url", "Cf-Connecting-Ip",
    "Cf-Ipcountry", "True-Client-Ip", "Request-Uri", "Range", "If-None-Match", "If-Modified-Since",
    "Accept-Language", "Accept-Encoding", "Authorization", "X-Api-Key", "Cookie", "Upgrade",
]  # fmt: skip


def as_wsgi(text: str) -> str:
    return text.encode().decode("latin-1")


def test_the_query_does_not_change_the_destination(visitor: Client, make_link: MakeLink) -> None:
    code = make_link("https://example.com/page?a=1#end")["shortCode"]

    locations = {}
    for payload in EVIL:
        everywhere = "&".join(f"{name}={payload}" for name in PARAMETERS)
        for query in (payload, everywhere):
            response = visitor.get(f"/{code}", QUERY_STRING=as_wsgi(query))
            locations[payload] = dict(response.headers)

    assert locations == dict.fromkeys(EVIL, redirect_headers("https://example.com/page?a=1#end"))


@pytest.mark.slow
def test_extra_path_segments_return_404(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]

    responses = {}
    for payload in EVIL:
        for path in (
            f"/{code}/{payload}",
            f"/{code}{payload}",
            f"/{payload}/{code}",
            f"{payload}/{code}",
            payload,
        ):
            for decoded in (as_wsgi(path), unquote_to_bytes(path).decode("latin-1")):
                response = visitor.get("/", PATH_INFO=decoded)
                responses[payload] = (
                    response.status_code,
                    "Location" in response,
                    b"evil" in response.content,
                )

    assert responses == dict.fromkeys(EVIL, (404, False, False))


def test_headers_do_not_change_the_destination(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    payloads = [*EVIL, "sho.rt", CUSTOM_HOST, "POST", "https"]

    responses = {}
    for payload in payloads:
        headers = {f"HTTP_{name.upper().replace('-', '_')}": as_wsgi(payload) for name in HEADERS}
        response = visitor.get(f"/{code}", **headers)
        responses[payload] = (response.status_code, dict(response.headers))

    assert responses == dict.fromkeys(payloads, (302, redirect_headers(DESTINATION)))


CRLF = [
    "%0d%0aSet-Cookie:%20evil=1", "%0aSet-Cookie:%20evil=1", "%0dSet-Cookie:%20evil=1", "\r\nSet-Cookie: evil=1",
    "\nSet-Cookie: evil=1", "\rSet-Cookie: evil=1", "%0d%0a%0d%0a<script>evil</script>",
    "%23%0d%0aLocation:%20//evil.example",
    "%3f%0d%0aLocation:%20//evil.example", "/%0d%0aLocation:%20//evil.example", "%E5%98%8A%E5%98%8DSet-Cookie:evil=1",
    "%e5%98%8a%e5%98%8dLocation:evil", "\u560a\u560dSet-Cookie:evil=1", "%250d%250aSet-Cookie:%20evil=1",
    "%%0a0aSet-Cookie:evil=1", "%u000aSet-Cookie:evil=1", "%c4%8d%c4%8aSet-Cookie:evil=1",
    *(chr(control) + "evil" for control in [*range(32), 127]),
]  # fmt: skip


def test_response_headers_contain_no_injected_line_break(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]
    not_found = dict(visitor.get("/unknown").headers)

    responses = {}
    for payload in CRLF:
        in_query = visitor.get(f"/{code}", QUERY_STRING=as_wsgi(payload), HTTP_REFERER=as_wsgi(payload))
        raw = visitor.get("/", PATH_INFO=as_wsgi(f"/{code}{payload}"))
        decoded = visitor.get("/", PATH_INFO=unquote_to_bytes(f"/{code}{payload}").decode("latin-1"))
        responses[payload] = (dict(in_query.headers), dict(raw.headers), dict(decoded.headers))

    assert responses == dict.fromkeys(CRLF, (redirect_headers(DESTINATION), not_found, not_found))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONTENT_TYPE", "text/html; a*=x-unknown''%41"),
        ("CONTENT_TYPE", "text/html; charset=x-unknown"),
        ("CONTENT_TYPE", ";"),
        ("CONTENT_TYPE", "multipart/form-data"),
        ("CONTENT_LENGTH", "-1"),
        ("CONTENT_LENGTH", "x"),
        ("HTTP_COOKIE", "=;;=\xff; csrftoken=\x00; unlocked-x=\xff"),
        ("HTTP_ACCEPT", "text/html; a*=x-unknown''%41"),
        ("HTTP_ACCEPT_LANGUAGE", "\xff;q=x"),
        ("HTTP_USER_AGENT", "\xff\xfe Firefox"),
        ("HTTP_REFERER", "\xff\x00"),
        ("HTTP_X_FORWARDED_FOR", "\xff, , 1.2.3"),
        ("QUERY_STRING", "\xff=%ff&a=%"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_no_header_value_prevents_a_redirect(make_link: MakeLink, name: str, value: str) -> None:
    """Calls the WSGI application directly, as the test client builds requests differently."""
    environ: dict[str, Any] = {
        "PATH_INFO": f"/{make_link()['shortCode']}",
        "HTTP_HOST": "sho.rt",
        name: value,
    }
    setup_testing_defaults(environ)
    started: list[tuple[str, list[tuple[str, str]]]] = []

    application(environ, lambda status, headers: started.append((status, headers))).close()

    assert started == [("302 Found", list(redirect_headers(DESTINATION).items()))]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\xff\xfe", "application/x-www-form-urlencoded"),
        (b"password=x", "application/x-www-form-urlencoded; charset=utf-16"),
        (b"password=x", "application/x-www-form-urlencoded; charset=x-unknown"),
        (b"a=1&" * 2000, "application/x-www-form-urlencoded"),
        (b"password=" + b"x" * 3_000_000, "application/x-www-form-urlencoded"),
        (b"--", "multipart/form-data"),
        (b"--", "multipart/form-data; boundary="),
        (
            b'--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n\x00',
            "multipart/form-data; boundary=x",
        ),
        (
            b"--x\r\nContent-Disposition: form-data; name*=x-unknown''%41\r\n\r\n1\r\n--x--",
            "multipart/form-data; boundary=x",
        ),
        (b"--x\r\nContent-Transfer-Encoding: base64\r\n\r\n!\r\n--x--", "multipart/form-data; boundary=x"),
    ],
)
def test_a_malformed_form_is_refused_with_a_page(
    visitor: Client, make_link: MakeLink, body: bytes, content_type: str
) -> None:
    code = make_link(password="secret")["shortCode"]

    response = visitor.generic("POST", f"/{code}", body, content_type)

    refusal = {400: BAD_REQUEST, 403: FORM_EXPIRED}[response.status_code]
    assert_page(response, title=refusal.title, message=refusal.message)
