"""What one check finds, and what the host sees of it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

import pytest
from django.db import connection
from dns.rcode import SERVFAIL
from pytest_django.fixtures import Settings

from links.health import hosts, probe
from links.health.states import Result, Verdict
from links.models import CheckedHost
from testing.domains.dns_server import DnsServer
from testing.outbound.servers import answering, raw_server, sending, silent
from testing.service.ports import free_port

pytestmark = pytest.mark.django_db

OK, GONE = Result(Verdict.HEALTHY), Result(Verdict.FAILED, "410")


def by_path(answers: Mapping[str, str | tuple[str, ...]]) -> Callable[[socket.socket, bytes, Event], None]:
    """Answers by "METHOD /path", or by "/path" for all methods, with a status and headers. Without: 404."""

    def answer(connection: socket.socket, head: bytes, stop: Event) -> None:
        method, path, _ = head.decode().split(" ", 2)
        found = answers.get(f"{method} {path}", answers.get(path, "404 Not Found"))
        status, *headers = [found] if isinstance(found, str) else found
        answering(status, *headers)(connection, head, stop)

    return answer


def calls(server: Any) -> list[str]:
    return [
        request.decode().rpartition(" HTTP")[0].split("\r\n")[0].split(" HTTP")[0]
        for request in server.requests
    ]


@pytest.mark.parametrize(
    ("answers", "result", "called"),
    [
        ({"/": "200 OK"}, OK, ["HEAD /"]),
        ({"HEAD /": "405 Method Not Allowed", "GET /": "206 Partial Content"}, OK, ["HEAD /", "GET /"]),
        ({"HEAD /": "404 Not Found", "GET /": "200 OK"}, OK, ["HEAD /", "GET /"]),
        ({"HEAD /": "500 Error", "GET /": "416 Range"}, OK, ["HEAD /", "GET /"]),
        ({"/": "404 Not Found"}, Result(Verdict.FAILED, "404"), ["HEAD /", "GET /"]),
        ({"/": "410 Gone"}, GONE, ["HEAD /", "GET /"]),
        ({"/": "403 Forbidden"}, Result(Verdict.BLOCKED, "403"), ["HEAD /", "GET /"]),
        ({"/": "429 Too Many"}, Result(Verdict.BLOCKED, "429"), ["HEAD /"]),
        ({"/": "503 Unavailable"}, Result(Verdict.BLOCKED, "503"), ["HEAD /", "GET /"]),
        ({"/": "500 Error"}, Result(Verdict.UNDECIDED, "500"), ["HEAD /", "GET /"]),
        ({"/": "401 Login"}, Result(Verdict.UNDECIDED, "401"), ["HEAD /", "GET /"]),
        ({"/": ("301 Moved", "Location: /a"), "/a": ("307 T", "Location: b"), "/b": "200 OK"}, OK,
         ["HEAD /", "HEAD /a", "HEAD /b"]),
        ({"/": ("302 Found", "Location: /")}, Result(Verdict.UNDECIDED, "redirects"), ["HEAD /"] * 6),
        ({"/": ("302 Found", "Location: intent://app")}, Result(Verdict.UNDECIDED, "bad_url"), ["HEAD /"]),
        ({"/": ("302 Found", "Location: http://10.0.0.1/admin")}, Result(Verdict.UNDECIDED, "forbidden_address"),
         ["HEAD /"]),
        ({"/": ("302 Found", "Location: http://169.254.169.254/")}, Result(Verdict.UNDECIDED, "forbidden_address"),
         ["HEAD /"]),
    ],
)  # fmt: skip
def test_a_check_finds(server: Any, answers: dict[str, Any], result: Result, called: list[str]) -> None:
    server.manner = by_path(answers)
    assert probe.check(f"http://127.0.0.1:{server.port}/") == result
    assert calls(server) == ["GET /robots.txt", *called]
    assert b"User-Agent: URL-shortener/1.0.0 (+http://sho.rt)\r\n" in server.requests[-1]
    assert (b"Range: bytes=0-0\r\n" in server.requests[-1]) == called[-1].startswith("GET")


def test_names_ports_and_certificates_that_fail(loopback: None, dns: DnsServer) -> None:
    dns.set("here.example", "A", "127.0.0.1")
    assert probe.check("https://missing.example/") == Result(Verdict.FAILED, "nxdomain")
    assert probe.check(f"http://here.example:{free_port()}/") == Result(Verdict.FAILED, "refused")
    with raw_server(answering()) as plain:
        assert probe.check(f"https://here.example:{plain.port}/") == Result(Verdict.FAILED, "tls")
    with raw_server(sending(b"nonsense")) as other:
        assert probe.check(f"http://here.example:{other.port}/") == Result(Verdict.UNDECIDED, "protocol")
    dns.rcode = SERVFAIL
    assert probe.check("http://other.example/") == Result(Verdict.UNDECIDED, "dns")


def test_robots_txt_is_respected_and_remembered(server: Any) -> None:
    rules = b"User-agent: *\nDisallow: /private\n\nUser-agent: URL-shortener\nDisallow: /ours\n"

    def answer(connection: socket.socket, head: bytes, stop: Event) -> None:
        answering(body=rules if b"/robots.txt" in head else b"")(connection, head, stop)

    server.manner = answer
    host = f"http://127.0.0.1:{server.port}"
    forbidden = Result(Verdict.BLOCKED, "robots")
    assert [probe.check(f"{host}{path}") for path in ("/ours", "/private", "/ours/1")] == [
        forbidden,
        OK,
        forbidden,
    ]
    assert calls(server) == ["GET /robots.txt", "HEAD /private"]


def test_robots_txt_may_be_elsewhere(server: Any, dns: DnsServer) -> None:
    dns.set("here.example", "A", "127.0.0.1")
    dns.set("other.example", "A", "127.0.0.1")
    unreadable, forbidden = Result(Verdict.UNDECIDED, "protocol"), Result(Verdict.BLOCKED, "robots")
    with raw_server(answering(body=b"User-agent: *\nDisallow: /")) as other:
        for location, result in (
            (f"http://other.example:{other.port}/r", forbidden),
            ("/robots.txt", OK),
            ("intent://app", OK),
            ("/missing", OK),
            ("http://10.0.0.1/", unreadable),
            ("http://missing.example/", unreadable),
        ):
            server.manner = by_path({"/": "200 OK", "/robots.txt": ("302 Found", f"Location: {location}")})
            CheckedHost.objects.all().delete()
            assert probe.check(f"http://here.example:{server.port}/") == result, location


def test_redirects_in_utf_8_are_followed(server: Any) -> None:
    server.manner = by_path(
        {"/": ("302 Found", "Location: /caf\u00e9/\u00c5"), "/caf%C3%A9/%C3%85": "200 OK"}
    )
    assert probe.check(f"http://127.0.0.1:{server.port}/") == OK


def test_a_redirect_to_a_host_that_forbids_it_ends_there(server: Any, dns: DnsServer) -> None:
    dns.set("closed.example", "A", "127.0.0.1")
    with raw_server(answering(body=b"User-agent: *\nDisallow: /")) as closed:
        server.manner = by_path({"/": ("302 Found", f"Location: http://closed.example:{closed.port}/a")})
        assert probe.check(f"http://127.0.0.1:{server.port}/") == Result(Verdict.BLOCKED, "robots")
        assert calls(closed) == ["GET /robots.txt"]


def test_unreadable_robots_decide_nothing(server: Any) -> None:
    server.manner = by_path({"/robots.txt": "500 Error", "/": "404 Not Found"})
    assert probe.check(f"http://127.0.0.1:{server.port}/") == Result(Verdict.UNDECIDED, "protocol")


def test_a_host_is_called_once_in_two_seconds(loopback: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database decides, for all hosts of the installation; a check that would wait too long is put off."""
    monkeypatch.setattr(hosts, "PAUSE_SECONDS", 2.0)
    waits: list[float] = []
    monkeypatch.setattr(hosts.time, "sleep", waits.append)
    for _ in range(5):
        hosts.await_turn("busy.example")
    hosts.await_turn("other.example.")
    assert [round(wait) for wait in waits] == [0, 2, 4, 6, 8, 0]
    with pytest.raises(hosts.HostBusy):
        hosts.await_turn("busy.example")
    assert len(waits) == 6
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_checkedhost SET free_at = free_at - interval '2 hours'")
    assert hosts.forget_hosts() == 2


def test_the_addresses_of_a_network_and_the_names_of_a_domain_are_one_host() -> None:
    for name, *of in (
        ("192.0.2.0/24", "192.0.2.1", "192.0.2.200"),
        ("2001:db8::/64", "[2001:db8::1]", "[2001:db8::2:1]"),
        ("example.com", "example.com", "a.b.example.com."),
        ("localhost", "localhost"),
    ):
        assert {hosts.name_of(host) for host in of} == {name}


def test_a_host_that_does_not_answer_is_left_alone_for_a_while(
    loopback: None, dns: DnsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "_SECONDS", 0.2)
    dns.set("*.slow.example", "A", "127.0.0.1")
    with raw_server(silent) as server:
        assert probe.check(f"http://a.slow.example:{server.port}/") == Result(Verdict.UNDECIDED, "timeout")
        with pytest.raises(hosts.HostBusy):
            probe.check(f"http://b.slow.example:{server.port}/")
        assert server.connections == 1


def test_nobody_is_called_if_outbound_is_off(server: Any, settings: Settings) -> None:
    settings.OUTBOUND = False
    assert probe.check(f"http://127.0.0.1:{server.port}/") == Result(Verdict.UNDECIDED, "off")
    assert server.connections == 0
