"""The log of a running service under hostile requests, and with secrets in unexpected places of requests."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

import pytest

from testing.service.hosts import SECRET_KEY
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import DEADLINE, Service

pytestmark = pytest.mark.slow

HOSTILE = [
    "plain\nforged line",
    '\r\n{"time": "2026-11-21T12:00:00.000Z", "level": "ERROR", "message": "forged"}',
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\x00\x08\x7f",
    "\u2028\u2029\u202e",
    "%0a%0d%1b[2J",
    "${jndi:ldap://x}",
    "{}%s%d%n",
]
ROUNDS = 100
# Of background processes and threads. On a busy machine, some of them wait for the database.
NOT_OF_REQUESTS = {
    "analytics.management.commands.drain_clicks",
    "common.host.limited_warnings",
    "domains.management.commands.recheck_domains",
    "events.management.commands.deliver_events",
    "links.destinations.invalidation_listener",
    "links.management.commands.check_destinations",
    "fastlane.warm_start",
    "shortener_project.management.commands.housekeeping",
}


def test_a_thousand_hostile_requests_are_a_thousand_lines_without_a_secret(
    make_service: Callable[..., Service], make_database: Callable[[], str]
) -> None:
    options = {"LOG_FORMAT": "json", **LONG_TIMEOUTS}
    service = make_service(DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY, **options)
    service.start()
    owner = service.owner
    tokens = service.call(
        "POST", "/api/auth/login", {"email": owner.email, "password": owner.password}
    ).json()
    secrets = [owner.api_key, owner.password, tokens["token"], tokens["refreshToken"]]
    lines_before = len(service.stderr.splitlines())

    sent = 0
    with ExitStack() as opened:
        responses: Any = None
        for number in range(ROUNDS):
            text, secret = HOSTILE[number % len(HOSTILE)], secrets[number % len(secrets)]
            for request in requests(text, secret):
                if responses is None:
                    client = opened.enter_context(
                        socket.create_connection(("127.0.0.1", service.port), DEADLINE)
                    )
                    responses = opened.enter_context(client.makefile("rb"))
                client.sendall(request)
                if not read_response(responses):
                    responses = None
                sent += 1
    assert sent == 1000

    new = service.stderr.splitlines()[lines_before:]
    lines: list[dict[str, Any]] = [json.loads(line) for line in new]
    # These clients look like a proxy that is missing from TRUSTED_PROXIES, for which there is one more line an hour.
    assert len([line for line in lines if line["logger"] == "common.host.limited_warnings"]) == 1
    # A forged line has none of these loggers.
    lines = [line for line in lines if line["logger"] not in NOT_OF_REQUESTS]
    assert len(lines) == sent
    read = [line for line in lines if line["message"] == "API request"]
    assert len({line["request_id"] for line in read}) == len(read)
    # HTTP forbids control characters in headers.
    assert len([line for line in lines if line["message"] == "Invalid request"]) == sent - len(read) == 150
    assert [secret for secret in secrets if secret in service.stderr] == []
    assert "127.0.0.1" not in "".join(new)


def requests(text: str, secret: str) -> list[bytes]:
    """Return requests of ten kinds: the text and the secret in every place where a caller may put them."""
    encoded, raw = quote(text), text.encode().translate(None, b"\r\n\x00")
    body = json.dumps({"originalUrl": text, "title": text, "password": secret, text: secret}).encode()
    login = json.dumps({"email": f"{text}@example.com", "password": secret}).encode()
    return [
        message(b"GET", f"/api/{encoded}?key={secret}"),
        message(b"GET", f"/api/urls?search={encoded}&api_key={secret}"),
        message(b"GET", f"/api/urls/{encoded}"),
        message(b"GET", f"/api/urls/{secret}"),
        message(b"GET", f"/api/analytics/{encoded}", {b"User-Agent": raw, b"Referer": secret.encode()}),
        message(b"GET", "/api/urls", {b"X-Request-ID": raw, b"X-API-Key": secret.encode()}),
        message(b"GET", "/api/urls", {b"Authorization": b"Bearer " + secret.encode(), b"Cookie": raw}),
        message(b"POST", "/api/urls", {b"X-API-Key": secret.encode(), b"X-Forwarded-For": raw}, body),
        message(b"POST", "/api/auth/login", {b"Content-Language": raw}, login),
        message(b"BREW", f"/api/{encoded}", {b"Authorization": secret.encode()}),
    ]


def message(
    method: bytes, target: str, headers: dict[bytes, bytes] | None = None, body: bytes = b""
) -> bytes:
    fields = {
        b"Host": b"127.0.0.1",
        b"Content-Type": b"application/json",
        b"Content-Length": b"%d" % len(body),
    }
    lines = [b"%b: %b" % field for field in (fields | (headers or {})).items()]
    return b"\r\n".join([b"%b %b HTTP/1.1" % (method, target.encode()), *lines, b"", body])


def read_response(responses: Any) -> bool:
    """Reads a response. Returns whether the connection stays open."""
    assert responses.readline().startswith(b"HTTP/1.1 ")
    headers = {}
    while (line := responses.readline()) != b"\r\n":
        name, _, field = line.partition(b":")
        headers[name.lower()] = field.strip()
    responses.read(int(headers.get(b"content-length", 0)))
    return headers.get(b"connection", b"").lower() != b"close"


def test_unreadable_requests_are_not_quoted_in_the_log(
    make_service: Callable[..., Service], make_database: Callable[[], str]
) -> None:
    options = {"LOG_FORMAT": "json", **LONG_TIMEOUTS}
    service = make_service(DATABASE_URL=make_database(), SECRET_KEY=SECRET_KEY, **options)
    service.start()
    key = service.owner.api_key.encode()
    with socket.create_connection(("127.0.0.1", service.port), DEADLINE) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key %b\x1b[31m\r\n\r\n" % key)
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")
    assert service.stop() == 0
    assert key.decode() not in service.stderr
    messages = [json.loads(line)["message"] for line in service.stderr.splitlines()]
    assert "Invalid request" in messages
