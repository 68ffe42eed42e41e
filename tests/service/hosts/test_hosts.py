"""The Host header decides between the system host, a custom domain and an unknown host. Responses never repeat it.

The tests use raw sockets, because clients refuse to send most of these headers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import psycopg
import pytest

from testing.service.clients.raw import Raw, send_raw
from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service

pytestmark = pytest.mark.slow

DESTINATION = b"https://example.com/page"
CUSTOM_HOST = "go.example.net"
CUSTOM_IDN_HOST = "xn--bcher-kva.example"


class Site(NamedTuple):
    service: Service
    code: str


@pytest.fixture(scope="module")
def site(make_database: Callable[[], str]) -> Iterator[Site]:
    """One code with a different link on the default domain and on each custom domain."""
    url = make_database()
    with one_host(url, BASE_URL="http://sho.rt", **LONG_TIMEOUTS) as service:
        key = service.owner.api_key
        service.create_link(key, customCode="theSame")
        for name in (CUSTOM_HOST, CUSTOM_IDN_HOST):
            domain = active_domain(service, url, name)
            service.create_link(
                key, originalUrl=f"https://example.com/{name}", customCode="theSame", domainId=domain
            )
        yield Site(service, "theSame")


def active_domain(service: Service, url: str, host: str) -> str:
    """Creates a verified domain without DNS."""
    claimed = service.call("POST", "/api/domains", {"domain": host}, X_API_Key=service.owner.api_key)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE domains_domain SET status = 'active' WHERE host = %s", [host])
    return str(claimed.json()["data"]["domain"]["_id"])


def send(site: Site, path: str, *lines: bytes, version: str = "1.1") -> Raw:
    return send_raw(site.service.port, path, *lines, version=version)


# Statuses of a link, of the API (401: no credential) and of the admin (302: to the login page).
SYSTEM_HOST = {"link": 302, "API": 401, "admin": 302}
IP_ADDRESS = {"link": 404, "API": 401, "admin": 302}
CUSTOM_DOMAIN = {"link": 302, "API": 404, "admin": 404}
UNKNOWN_HOST = {"link": 404, "API": 404, "admin": 404}
BAD_REQUEST = {"link": 400, "API": 400, "admin": 400}

SYSTEM_SPELLINGS = [
    b"sho.rt", b"SHO.RT", b"Sho.rT", b"sho.rt.", b"sho.rt:80", b"sho.rt:443", b"sho.rt:8000", b"sho.rt:",
    b"SHO.RT.:80", b"  sho.rt", b"sho.rt  ", b"\tsho.rt",
]  # fmt: skip
ADDRESS_SPELLINGS = [
    b"127.0.0.1", b"127.0.0.1:80", b"localhost", b"LOCALHOST:8000", b"[::1]", b"[::1]:80", b"192.0.2.1",
    b"[2001:db8::1]", b"[2001:DB8::1]:443", b"[::ffff:127.0.0.1]",
]  # fmt: skip
CUSTOM_SPELLINGS = [
    b"go.example.net", b"GO.EXAMPLE.NET", b"go.example.net.", b"go.example.net:443", b"Go.Example.Net.:80",
    b"xn--bcher-kva.example", b"XN--BCHER-KVA.EXAMPLE",
]  # fmt: skip
UNKNOWN_SPELLINGS = [
    b"", b"  ", b"evil.example", b"sho.rt.evil.example", b"evilsho.rt", b"www.sho.rt", b"rt", b"sho.rt..", b".sho.rt",
    b"evil.go.example.net", b"example.net", b"go-example.net", b"xn--bcher-kva", b"xn--", b"a" * 254,
    b"sho.rt@evil.example", b"evil.example@sho.rt", b"user:pw@sho.rt", b"@sho.rt", b"sho.rt:80@evil.example",
    b"sho.rt, evil.example", b"evil.example,sho.rt", b"sho.rt evil.example", b"sho.rt;evil.example",
    b"sho.rt#evil.example", b"sho.rt?evil.example", b"sho.rt/evil.example", b"evil.example/sho.rt",
    b"sho.rt\\evil.example", b"http://sho.rt", b"//sho.rt", b"sho.rt:80:80", b"sho.rt:evil", b"sho.rt:-1",
    b"sho.rt:999999", b"sho..rt", b"sho%2ert", b"sho.rt%00", b"sho.rt%0d%0aX-Evil:evil", b"[sho.rt]", b"[::1", b"::1",
    b"*", b".", b"-", b"_", b"null", b"{evil}", b"<b>evil</b>", b"'; DROP TABLE links_link--", b"sho.rt\xff",
    "b\u00fccher.example".encode(), "sho\u3002rt".encode(), "\uff53ho.rt".encode(), "\u0455ho.rt".encode(),
]  # fmt: skip
INVALID_SPELLINGS = [b"sho.rt\x00", b"sho.rt\revil", b"sho.rt\nX-Evil: evil\x00", b"sho.rt\x1b"]

HOSTS = {
    **dict.fromkeys(SYSTEM_SPELLINGS, SYSTEM_HOST),
    **dict.fromkeys(ADDRESS_SPELLINGS, IP_ADDRESS),
    **dict.fromkeys(CUSTOM_SPELLINGS, CUSTOM_DOMAIN),
    **dict.fromkeys(UNKNOWN_SPELLINGS, UNKNOWN_HOST),
    **dict.fromkeys(INVALID_SPELLINGS, BAD_REQUEST),
}


def statuses_of(site: Site, *lines: bytes, version: str = "1.1") -> dict[str, int]:
    """The statuses of a link, the API and the admin. Asserts that no redirect uses a host of the request."""
    statuses = {}
    for kind, path in (("link", f"/{site.code}"), ("API", "/api/urls"), ("admin", "/admin/")):
        response = send(site, path, *lines, version=version)
        assert b"evil" not in response.bytes.lower(), response.bytes
        if response.location is not None:
            assert kind == "admin" or response.location.startswith(b"https://example.com/"), response.bytes
            assert kind == "link" or response.location.startswith(b"/admin/login/?"), response.bytes
        statuses[kind] = response.status
    return statuses


def test_the_corpus_is_large_enough() -> None:
    assert len(HOSTS) >= 60


def test_every_host_is_classified_as_system_custom_or_unknown(site: Site) -> None:
    assert {host: statuses_of(site, b"Host: " + host) for host in HOSTS} == HOSTS


def test_each_host_has_its_own_link(site: Site) -> None:
    for host, location in (
        ("SHO.RT.:80", DESTINATION),
        ("Go.Example.NET.", f"https://example.com/{CUSTOM_HOST}".encode()),
        (CUSTOM_IDN_HOST.upper(), f"https://example.com/{CUSTOM_IDN_HOST}".encode()),
    ):
        assert send(site, f"/{site.code}", b"Host: " + host.encode()).location == location


@pytest.mark.parametrize(
    "lines",
    [
        (b"Host: sho.rt", b"Host: evil.example"),
        (b"Host: evil.example", b"Host: sho.rt"),
        (b"Host: sho.rt", b"Host: sho.rt"),
        (b"Host: sho.rt", b"HOST: go.example.net"),
        (b"Host : sho.rt",),
        (b" Host: sho.rt",),
        (b"Host: sho.rt", b" evil.example"),
        (b"H\xc3\xb6st: sho.rt",),
        (b"Host sho.rt",),
    ],
    ids=repr,
)
def test_duplicate_or_invalid_host_is_rejected(site: Site, lines: tuple[bytes, ...]) -> None:
    assert statuses_of(site, *lines) == BAD_REQUEST


def test_missing_host_is_rejected(site: Site) -> None:
    """RFC 9112, section 3.2: an HTTP/1.1 request without a Host header gets status 400."""
    assert statuses_of(site) == BAD_REQUEST


def test_missing_host_in_http_1_0_is_unknown(site: Site) -> None:
    assert statuses_of(site, version="1.0") == UNKNOWN_HOST


FORWARDED = [
    *(
        "X-Forwarded-Host",
        "X-Forwarded-Server",
        "X-Host",
        "X-Original-Host",
        "X-Http-Host-Override",
        "X-Real-Host",
    ),
    *("X-Forwarded-Prefix", "X-Original-Url", "X-Rewrite-Url", "X-Script-Name", "Script-Name", "Base-Url"),
]


@pytest.mark.parametrize("host", [b"sho.rt", b"go.example.net", b"evil.example"])
def test_only_the_host_header_determines_the_host(site: Site, host: bytes) -> None:
    expected = statuses_of(site, b"Host: " + host)
    for name in FORWARDED:
        for value in (b"evil.example", b"go.example.net", b"sho.rt", b"sho.rt, evil.example"):
            assert statuses_of(site, b"Host: " + host, name.encode() + b": " + value) == expected, (
                name,
                value,
            )
    forged = b'Forwarded: for=192.0.2.1;host="evil.example";proto=https'
    assert statuses_of(site, b"Host: " + host, forged) == expected


def test_responses_contain_only_urls_of_the_service_for_any_host(site: Site) -> None:
    key = b"X-API-Key: " + site.service.owner.api_key.encode()
    for host in (b"127.0.0.1:1", b"[2001:db8::1]", b"SHO.RT.:99"):
        listed = send(site, "/api/urls", b"Host: " + host, b"X-Forwarded-Host: evil.example", key).bytes
        addresses = set(re.findall(rb'"shortUrl":"([^"]*)/theSame"', listed))
        assert addresses == {b"http://sho.rt", b"https://go.example.net", b"https://xn--bcher-kva.example"}
        described = send(site, "/api/schema", b"Host: " + host).bytes
        assert b'"servers":[{"url":"http://sho.rt"}]' in described
