"""Whatever a request says of its host: it is ours, a customer's, or nobody's, and nothing of it comes back.

Over raw sockets, as no client sends most of this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import psycopg
import pytest

from tests.service.hosts import one_host
from tests.service.raw import Raw, send_raw
from tests.service.running import Service

DESTINATION = b"https://example.com/page"
CUSTOMERS = "go.example.net"
CUSTOMERS_IDN = "xn--bcher-kva.example"


class Site(NamedTuple):
    service: Service
    code: str


@pytest.fixture(scope="module")
def site(make_database: Callable[[], str]) -> Iterator[Site]:
    """One code, which is a link on the default domain and another one on each of a customer's."""
    url = make_database()
    with one_host(url, BASE_URL="http://sho.rt") as service:
        key = service.owner.api_key
        service.create_link(key, customCode="theSame")
        for name in (CUSTOMERS, CUSTOMERS_IDN):
            domain = active_domain(service, url, name)
            service.create_link(
                key, originalUrl=f"https://example.com/{name}", customCode="theSame", domainId=domain
            )
        yield Site(service, "theSame")


def active_domain(service: Service, url: str, host: str) -> str:
    """A proven one, without the DNS that would prove it."""
    claimed = service.ask("POST", "/api/domains", {"domain": host}, X_API_Key=service.owner.api_key)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE domains_domain SET status = 'active' WHERE host = %s", [host])
    return str(claimed.json()["data"]["domain"]["_id"])


def send(site: Site, path: str, *lines: bytes) -> Raw:
    return send_raw(site.service.port, path, *lines)


# What a link, the API (which asks for a credential) and the admin (which asks to log in) answer.
OURS = {"link": 302, "API": 401, "admin": 302}
THIS_MACHINES = {"link": 404, "API": 401, "admin": 302}
A_CUSTOMERS = {"link": 302, "API": 404, "admin": 404}
NOBODYS = {"link": 404, "API": 404, "admin": 404}
NO_REQUEST = {"link": 400, "API": 400, "admin": 400}

AS_OURS = [
    b"sho.rt", b"SHO.RT", b"Sho.rT", b"sho.rt.", b"sho.rt:80", b"sho.rt:443", b"sho.rt:8000", b"sho.rt:",
    b"SHO.RT.:80", b"  sho.rt", b"sho.rt  ", b"\tsho.rt",
]  # fmt: skip
AS_ADDRESSES = [
    b"127.0.0.1", b"127.0.0.1:80", b"localhost", b"LOCALHOST:8000", b"[::1]", b"[::1]:80", b"192.0.2.1",
    b"[2001:db8::1]", b"[2001:DB8::1]:443", b"[::ffff:127.0.0.1]",
]  # fmt: skip
AS_A_CUSTOMERS = [
    b"go.example.net", b"GO.EXAMPLE.NET", b"go.example.net.", b"go.example.net:443", b"Go.Example.Net.:80",
    b"xn--bcher-kva.example", b"XN--BCHER-KVA.EXAMPLE",
]  # fmt: skip
AS_NOBODYS = [
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
AS_NO_REQUEST = [b"sho.rt\x00", b"sho.rt\revil", b"sho.rt\nX-Evil: evil\x00", b"sho.rt\x1b"]

HOSTS = {
    **dict.fromkeys(AS_OURS, OURS),
    **dict.fromkeys(AS_ADDRESSES, THIS_MACHINES),
    **dict.fromkeys(AS_A_CUSTOMERS, A_CUSTOMERS),
    **dict.fromkeys(AS_NOBODYS, NOBODYS),
    **dict.fromkeys(AS_NO_REQUEST, NO_REQUEST),
}


def answers(site: Site, *lines: bytes) -> dict[str, int]:
    """The statuses of the three doors. Wherever one leads to, it is not where the request said."""
    found = {}
    for door, path in (("link", f"/{site.code}"), ("API", "/api/urls"), ("admin", "/admin/")):
        answer = send(site, path, *lines)
        assert b"evil" not in answer.bytes.lower(), answer.bytes
        if answer.location is not None:
            assert door == "admin" or answer.location.startswith(b"https://example.com/"), answer.bytes
            assert door == "link" or answer.location.startswith(b"/admin/login/?"), answer.bytes
        found[door] = answer.status
    return found


def test_there_are_enough_of_them() -> None:
    assert len(HOSTS) >= 60


def test_every_host_is_ours_or_a_customers_or_nobodys(site: Site) -> None:
    assert {host: answers(site, b"Host: " + host) for host in HOSTS} == HOSTS


def test_each_host_has_its_own_link(site: Site) -> None:
    for host, location in (
        ("SHO.RT.:80", DESTINATION),
        ("Go.Example.NET.", f"https://example.com/{CUSTOMERS}".encode()),
        (CUSTOMERS_IDN.upper(), f"https://example.com/{CUSTOMERS_IDN}".encode()),
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
def test_with_two_hosts_or_a_broken_one_it_is_no_request(site: Site, lines: tuple[bytes, ...]) -> None:
    assert answers(site, *lines) == NO_REQUEST


def test_who_names_no_host_asks_nobody(site: Site) -> None:
    assert answers(site) == NOBODYS


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
def test_only_the_host_header_says_the_host(site: Site, host: bytes) -> None:
    expected = answers(site, b"Host: " + host)
    for name in FORWARDED:
        for value in (b"evil.example", b"go.example.net", b"sho.rt", b"sho.rt, evil.example"):
            assert answers(site, b"Host: " + host, name.encode() + b": " + value) == expected, (name, value)
    forged = b'Forwarded: for=192.0.2.1;host="evil.example";proto=https'
    assert answers(site, b"Host: " + host, forged) == expected


def test_every_address_in_an_answer_is_ours_whatever_host_was_asked(site: Site) -> None:
    key = b"X-API-Key: " + site.service.owner.api_key.encode()
    for host in (b"127.0.0.1:1", b"[2001:db8::1]", b"SHO.RT.:99"):
        listed = send(site, "/api/urls", b"Host: " + host, b"X-Forwarded-Host: evil.example", key).bytes
        addresses = set(re.findall(rb'"shortUrl":"([^"]*)/theSame"', listed))
        assert addresses == {b"http://sho.rt", b"https://go.example.net", b"https://xn--bcher-kva.example"}
        described = send(site, "/api/schema", b"Host: " + host).bytes
        assert b'"servers":[{"url":"http://sho.rt"}]' in described
