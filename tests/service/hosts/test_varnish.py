"""Private responses behind a real Varnish are not cached, and cached responses cannot be poisoned."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from testing.service.clients.raw import Raw, send_raw
from testing.service.hosts import make_folder, one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, eventually, free_port

pytestmark = pytest.mark.slow

STOCK = """
vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "%d"; }
"""
# Caches every response, in spite of its headers, so that a poisoned response would reach other visitors.
GREEDY = (
    STOCK
    + """
sub vcl_backend_response { set beresp.ttl = 1h; set beresp.uncacheable = false; return (deliver); }
"""
)

EVIL = "evil.example"
POISON = [
    *(f"{name}: {EVIL}" for name in (
        "X-Forwarded-Host", "X-Forwarded-Server", "X-Host", "X-HTTP-Host-Override", "X-Original-Host",
        "X-Rewrite-Host",
        "X-Forwarded-Port", "X-Forwarded-Scheme", "X-Forwarded-Prefix", "X-Forwarded-Path", "X-Forwarded", "Via",
        "Forwarded-Host", "Base-Url", "Request-Uri", "Destination", "Location", "Content-Location", "Origin",
    )),
    f"Forwarded: host={EVIL};proto=https", f"Referer: https://{EVIL}/", "X-Forwarded-Proto: https",
    "X-Forwarded-Proto: nothttps", "X-Forwarded-Ssl: on", "X-Url-Scheme: https", "Front-End-Https: on",
    f"X-Original-Url: /{EVIL}", f"X-Rewrite-Url: /{EVIL}", f"X-Original-Uri: /{EVIL}", "X-Forwarded-Port: 1337",
    "X-HTTP-Method-Override: DELETE", "X-HTTP-Method: POST", "X-Method-Override: PUT", f"X-Request-ID: {EVIL}",
    f"X-Correlation-ID: {EVIL}", f"Accept-Language: {EVIL}", "User-Agent: <script>evil</script>",
    f"X-Forwarded-For: {EVIL}", "X-Forwarded-For: 203.0.113.1, 198.51.100.2", f"True-Client-IP: {EVIL}",
    f"CF-Connecting-IP: {EVIL}", f"Upgrade-Insecure-Requests: {EVIL}", "Sec-Purpose: prefetch", "Save-Data: on",
    f"If-Match: {EVIL}", "X-Oversized: " + "x" * 4000, "X-Metachar: a\x7fb",
]  # fmt: skip


@pytest.fixture(scope="module")
def site(make_database: Callable[[], str]) -> Iterator[Service]:
    with one_host(make_database(), TRUSTED_PROXIES="127.0.0.1/32", **LONG_TIMEOUTS) as service:
        yield service


@pytest.fixture(scope="module")
def front(site: Service, varnishd: str) -> Iterator[int]:
    with varnish_before(site, varnishd, STOCK) as port:
        yield port


@pytest.fixture(scope="module")
def greedy(site: Service, varnishd: str) -> Iterator[int]:
    with varnish_before(site, varnishd, GREEDY) as port:
        yield port


@contextmanager
def varnish_before(service: Service, program: str, configuration: str) -> Iterator[int]:
    """Varnish before the service. Yields its port."""
    folder, port = make_folder(), free_port()
    (folder / "default.vcl").write_text(configuration % service.port)
    command = [program, "-F", "-j", "none", "-n", str(folder / "work"), "-T", "none", "-s", "malloc,32m"]
    command += ["-a", f"127.0.0.1:{port}", "-f", str(folder / "default.vcl")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        eventually(lambda: process.poll() is not None or _serves(port))
        assert process.poll() is None, (folder / "log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait()


def _serves(port: int) -> bool:
    try:
        return get(port, "/healthz").status == 200
    except ConnectionError:
        return False


def get(port: int, path: str, *lines: str) -> Raw:
    return send_raw(port, path, f"Host: 127.0.0.1:{port}".encode(), *(line.encode() for line in lines))


def is_from_memory(response: Raw) -> bool:
    """Whether the response was cached: then Varnish adds the id of the request that fetched it."""
    [line] = [line for line in response.bytes.split(b"\r\n") if line.lower().startswith(b"x-varnish:")]
    return len(line.split()) == 3


def followed(service: Service, link: str) -> int:
    response = service.call("GET", f"/api/urls/{link}", X_API_Key=service.owner.api_key)
    count: int = response.json()["data"]["url"]["clickCount"]
    return count


@pytest.mark.parametrize("fields", [{}, {"redirectType": 301}, {"restrictions": {"maxClicks": 9}}])
def test_every_visit_reaches_the_service_and_an_edit_is_in_force_at_once(
    site: Service, front: int, fields: dict[str, object]
) -> None:
    link = site.create_link(site.owner.api_key, **fields)
    path = f"/{link['shortCode']}"

    def switch(active: bool) -> None:
        body = {"isActive": active}
        changed = site.call("PUT", f"/api/urls/{link['_id']}", body, X_API_Key=site.owner.api_key)
        assert changed.status == 200

    for round_ in range(3):
        # A cached response would repeat the first one.
        responses = [get(front, path), get(front, path)]
        switch(False)
        responses += [get(front, path), get(front, path)]
        switch(True)
        assert [response.status for response in responses] == [fields.get("redirectType", 302)] * 2 + [
            410
        ] * 2
        assert not any(map(is_from_memory, responses))
        eventually(lambda expected=2 * round_ + 2: followed(site, link["_id"]) == expected)


def test_public_responses_are_cached(front: int) -> None:
    assert [is_from_memory(get(front, "/favicon.ico?kept")) for _ in range(2)] == [False, True]


def test_forty_poisoned_headers_alter_nothing_that_a_cache_keeps_for_others(
    site: Service, greedy: int
) -> None:
    key = site.owner.api_key
    codes = [
        site.create_link(key, **fields)["shortCode"]
        for fields in ({}, {"redirectType": 301}, {"expiresAt": "2020-01-01"}, {"utm": {"source": "news"}})
    ]
    paths = [f"/{code}" for code in codes]
    paths += [f"/{codes[0]}+", "/nothing", "/", "/robots.txt", "/favicon.ico", "/api/urls"]
    altered, cached = {}, set()
    assert len(POISON) >= 40
    for path in paths:
        clean = settled(get(greedy, f"{path}?clean"))
        for number, line in enumerate(POISON):
            # Each uses a separate cache key.
            get(greedy, f"{path}?{number}", line)
            response = get(greedy, f"{path}?{number}")
            if is_from_memory(response):
                cached.add(line)
            if settled(response) != clean:
                altered[path, line] = response.bytes
    assert altered == {}
    # Check that the cache was used; otherwise the test proves nothing.
    assert len(cached) >= 40


def settled(response: Raw) -> bytes:
    """The response without what differs on every request: some headers, and the id and length of an error."""
    content, is_error = re.subn(rb'"requestId":"[^"]*"', b"", response.bytes)
    names = rb"Date|X-Varnish|Age|X-Request-ID|Accept-Ranges" + (rb"|Content-Length" if is_error else b"")
    return re.sub(rb"\r\n(?:" + names + rb"): [^\r]*", b"", content)
