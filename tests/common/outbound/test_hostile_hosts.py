"""Hosts that drip, flood, lie and redirect."""

from __future__ import annotations

from gc import collect
from os import close, dup
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from time import monotonic

import pytest
from pytest_django.fixtures import Settings

from common.outbound import OutboundError, send
from testing.domains.dns_server import DnsServer
from testing.outbound.certificates import Authority
from testing.outbound.servers import Manner, answering, dripping, flooding, raw_server, sending, silent
from testing.service.ports import free_port

OK = b"HTTP/1.1 200 OK\r\n"
pytestmark = pytest.mark.usefixtures("loopback")


def refusal(method: str, url: str, **options: object) -> str:
    with pytest.raises(OutboundError) as caught:
        send(method, url, **options)  # type: ignore[arg-type]
    return caught.value.reason


def test_an_answer_has_its_status_headers_and_first_bytes() -> None:
    headers = ("X-One: a", "x-one: b", "Content-Type: text/plain")
    with raw_server(answering("404 Not Found", *headers, body=b"x" * 100)) as server:
        url = f"http://127.0.0.1:{server.port}/path?q=1#fragment"
        sent = {"X-Key": "v", "host": "other", "content-length": "1"}
        answer = send("POST", url, body=b"hello", headers=sent, answer_bytes=10)
    assert (answer.status, answer.body) == (404, b"x" * 10)
    assert answer.headers == {"content-length": "100", "x-one": "a, b", "content-type": "text/plain"}
    head, body = server.requests[0].split(b"\r\n\r\n")
    assert body == b"hello"
    assert head.decode().split("\r\n") == [
        "POST /path?q=1 HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "User-Agent: URL-shortener/1.0.0 (+http://sho.rt)",
        "Accept-Encoding: identity",
        "Connection: close",
        "Content-Length: 5",
        "X-Key: v",
    ]


@pytest.mark.parametrize(
    ("manner", "result"),
    [
        (dripping(OK + b"X-Slow: "), "timeout"),
        (dripping(OK + b"Content-Length: 1000\r\n\r\n"), "timeout"),
        (dripping(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"), "timeout"),
        (dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout"),
        (silent, "timeout"),
        (flooding(OK, b"X: " + b"y" * 60_000 + b"\r\n"), "too_large"),
        (flooding(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "too_large"),
        (
            flooding(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1;" + b"e" * 5000 + b"\r\nx\r\n"),
            "too_large",
        ),
        (flooding(OK + b"\r\n", b"z" * 65536), b"z" * 65536),
        (flooding(OK + b"Content-Length: 99999999999999999999\r\n\r\n", b"z" * 65536), b"z" * 65536),
        (sending(OK + b"Content-Length: 3\r\n\r\nlonger"), b"lon"),
        (sending(OK + b"Content-Length: -1\r\n\r\nlonger"), b"longer"),
        (sending(OK + b"Content-Length: 9\r\n\r\nshort"), "protocol"),
        (sending(OK + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n"), "protocol"),
        (sending(OK + b"X: y\r\n" * 101 + b"\r\n"), "protocol"),
        (sending(b"SSH-2.0-OpenSSH_9.2\r\n"), "protocol"),
        (sending(b""), "protocol"),
    ],
)
def test_slow_large_and_false_answers_end(manner: Manner, result: str | bytes) -> None:
    with raw_server(manner) as server:
        url, started = f"http://127.0.0.1:{server.port}/", monotonic()
        seconds = 0.3 if result == "timeout" else 20.0
        if isinstance(result, bytes):
            assert send("GET", url, seconds=seconds).body == result
        else:
            assert refusal("GET", url, seconds=seconds) == result
    assert monotonic() - started < 20


def test_redirects_are_answers_and_proxies_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server(answering(body=b"inside")) as inside:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{inside.port}")
        location = f"http://127.0.0.1:{inside.port}/secret"
        for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
            with raw_server(answering(status, f"Location: {location}")) as server:
                answer = send("GET", f"http://127.0.0.1:{server.port}/")
            assert (answer.status, answer.headers["location"]) == (int(status[:3]), location)
        assert inside.connections == 0


def test_a_certificate_must_be_valid_for_the_name(authority: Authority, dns: DnsServer) -> None:
    for name in ("api.brand.example", "api.brand.example."):
        dns.set(name.rstrip("."), "A", "127.0.0.1")
        with raw_server(answering(body=b"ok"), authority.server_context("api.brand.example")) as server:
            assert send("GET", f"https://{name}:{server.port}/").body == b"ok"
            assert server.names == ["api.brand.example"]
    for names, days in ((("other.example",), 1), (("127.0.0.1",), 1), (("api.brand.example",), -1)):
        with raw_server(answering(), authority.server_context(*names, days=days)) as server:
            assert refusal("GET", f"https://api.brand.example:{server.port}/") == "tls"
            assert server.requests == []
    with raw_server(answering(body=b"ok"), authority.server_context("127.0.0.1")) as server:
        assert send("GET", f"https://127.0.0.1:{server.port}/").body == b"ok"
    with raw_server(answering()) as server:
        assert refusal("GET", f"https://127.0.0.1:{server.port}/") == "tls"


def test_nobody_vouches_for_a_certificate_of_its_own(authority: Authority) -> None:
    context = authority.server_context("127.0.0.1")
    authority.file.write_text("")
    with raw_server(answering(), context) as server:
        assert refusal("GET", f"https://127.0.0.1:{server.port}/") == "tls"


def test_only_https_unless_a_setting_or_the_caller_says_otherwise(settings: Settings) -> None:
    settings.OUTBOUND_PLAIN_HTTP = False
    with raw_server(answering(body=b"ok")) as server:
        url = f"http://127.0.0.1:{server.port}/"
        assert refusal("GET", url) == "not_https"
        assert server.connections == 0
        assert send("GET", url, allow_http=True).body == b"ok"


def test_bad_addresses_and_closed_ports() -> None:
    for url in (
        "ftp://127.0.0.1/",
        "https://u:p@127.0.0.1/",
        "https://127.0.0.1\\@x/",
        "https://a\tb/",
        "x",
        "https:///",
    ):
        assert refusal("GET", url) == "bad_url", url
    assert refusal("GET", f"http://127.0.0.1:{free_port()}/") == "refused"
    for headers in ({"X": "a\r\nHost: b"}, {"X\r\nY": "a"}):
        with raw_server(answering()) as server:
            assert refusal("GET", f"http://127.0.0.1:{server.port}/", headers=headers) == "protocol"
            assert server.requests in ([], [b""])


# Python leaves an event loop that it could not finish.
@pytest.mark.filterwarnings("ignore:unclosed event loop:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_host_without_free_descriptors_sends_nothing(dns: DnsServer) -> None:
    before = getrlimit(RLIMIT_NOFILE)
    free = dup(0)
    close(free)
    setrlimit(RLIMIT_NOFILE, (free, before[1]))
    try:
        reasons = [refusal("GET", f"http://{host}/") for host in ("127.0.0.1", "shop.example")]
    finally:
        setrlimit(RLIMIT_NOFILE, before)
    collect()
    assert reasons == ["unreachable", "dns"]
