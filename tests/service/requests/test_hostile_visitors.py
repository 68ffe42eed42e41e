"""No request can change the destination of a link or inject response headers, in any lane."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from urllib.parse import quote

import pytest

from testing.service.running import Service
from tests.service.requests.hostile_visitor import Visitor

pytestmark = pytest.mark.slow

DESTINATION = "https://example.com/page?a=1#end"

# Payloads as in public collections for open redirects: prefix, misleading host, suffix.
BEGINNINGS = [
    "//", "///", "////", "https://", "/https://", "//https://", "https:///", "/https:///", "https:", "http:", "http:/",
    "/%09/", "//%09/", "/%5c", "//%5c", "/\\", "\\/\\/", "<>//", "\u3031", "%68%74%74%70%73%3a%2f%2f",
]  # fmt: skip
HOSTS = ["evil.example", "sho.rt@evil.example"]
ENDINGS = ["", "/", "//", "/%2f..", "/%2f%2e%2e", "/%2e%2e%2f", "/..", "#@sho.rt/"]
SINGLE = [
    "javascript:alert(evil)", "java%0d%0ascript:evil", "data:text/html,evil", "vbscript:evil", "@evil.example",
    ":80@evil.example", ".evil.example", "https://0xcb.0x00.0x71.0x09/evil", "https://3405803785/evil",
    "https://[::ffff:203.0.113.9]/evil", "//evil%E3%80%82example",
]  # fmt: skip
PAYLOADS = ["".join(parts) for parts in product(BEGINNINGS, HOSTS, ENDINGS)] + SINGLE
NAMES = [
    "url",
    "next",
    "redir_url",
    "redirect",
    "to",
    "target",
    "destination",
    "return",
    "goto",
    "u",
    "link",
    "code",
]
HEADERS = [
    *(
        "Referer",
        "Origin",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Original-Url",
        "X-Rewrite-Url",
        "Forwarded",
    ),
    *("X-Forwarded-Prefix", "Destination", "Location", "Refresh", "X-Http-Host-Override", "Base-Url"),
]

LINE_BREAKS = [
    "%0d%0a",
    "%0a",
    "%0d",
    "%%0a0a",
    "%25%30%61",
    "%250a",
    "%25250a",
    "%25%30a",
    "%u000a",
    "%E5%98%8A%E5%98%8D",
]
AROUND = ["", "%23", "%3f", "/", "%2e%2e%2f", "%2f%2e%2e", "/%2F.."]
INJECTED = "Set-Cookie:evil=injection"
CONTROLS = [*range(32), 127]


@pytest.fixture
def visitor(service: Service) -> Iterator[Visitor]:
    visitor = Visitor(service.port)
    yield visitor
    visitor.close()


@pytest.fixture
def code(service: Service, api_key: str) -> str:
    code: str = service.create_link(api_key, originalUrl=DESTINATION)["shortCode"]
    return code


def in_a_query(payload: str) -> str:
    return quote(payload, safe="/:%@?=&;\\<>.,()[]")


def test_no_query_or_header_changes_the_destination(visitor: Visitor, code: str) -> None:
    """ASVS 3.7.2: a link redirects only to the destination that its owner set."""
    assert len(PAYLOADS) >= 324
    changed = {}
    for payload in PAYLOADS:
        sent = in_a_query(payload)
        named = "&".join(f"{name}={sent.replace('#', '%23')}" for name in NAMES)
        lines = [f"{name}: {sent}" for name in HEADERS]
        for target, headers in ((f"/{code}?{sent}", []), (f"/{code}?{named}", []), (f"/{code}", lines)):
            response = visitor.call(target.replace("#", "%23"), *headers)
            if (response.status, response.locations) != (302, [DESTINATION]):
                changed[target] = response

    assert changed == {}


def test_no_text_after_a_code_changes_the_destination(visitor: Visitor, code: str) -> None:
    changed = {}
    for payload in PAYLOADS:
        sent = in_a_query(payload)
        for target in (f"/{code}{sent}", f"/{code}/{sent}", f"/{code}#{sent}", f"/{code}?#{sent}"):
            response = visitor.call(target)
            # Clients do not send fragments, so the server may also refuse them.
            if response.locations not in ([], [DESTINATION]) or (response.locations == []) == (
                response.status < 400
            ):
                changed[target] = response

    assert changed == {}


def test_request_text_cannot_inject_response_headers(visitor: Visitor, code: str) -> None:
    payloads = [f"{before}{line_break}{INJECTED}" for before, line_break in product(AROUND, LINE_BREAKS)]
    payloads += [f"%{control:02x}{INJECTED}" for control in CONTROLS]
    expected = {name for name, _ in visitor.call(f"/{code}").headers}
    refused = {name for name, _ in visitor.call("/unknown").headers}

    assert {"location", "cache-control", "content-length"} <= expected
    wrong = {}
    for payload in payloads:
        for target in (f"/{code}?{payload}", f"/{code}{payload}", f"/{code}/{payload}", f"/{payload}"):
            response = visitor.call(target)
            names = [name for name, _ in response.headers]
            allowed = expected if response.locations else refused
            injected = any("evil" in value for _, value in response.headers)
            if not set(names) <= allowed | {"connection"} or len(names) != len(set(names)) or injected:
                wrong[target] = response
            if target.startswith(f"/{code}?") and response.locations != [DESTINATION]:
                wrong[target] = response

    assert wrong == {}


def test_raw_control_characters_are_rejected_or_ignored(service: Service, code: str) -> None:
    responses = {}
    for control in CONTROLS:
        if chr(control) in "\r\n":
            continue
        for target, line in (
            (f"/{code}?{chr(control)}x", "X-A: b"),
            (f"/{code}", f"Referer: a{chr(control)}b"),
        ):
            visitor = Visitor(service.port)
            response = visitor.call(target, line)
            visitor.close()
            responses[control, target] = response.locations in ([], [DESTINATION]) and response.status in (
                302,
                400,
            )

    assert responses == dict.fromkeys(responses, True)
