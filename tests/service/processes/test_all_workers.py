"""A change is in force on every worker after the API's response, over real sockets."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import cycle
from typing import Any

import pytest

from testing.service.clients.operator import Operator
from testing.service.hosts import one_host, one_to_each_worker
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import DEADLINE, Connection, Owner, Response, Service
from testing.visitors.agents import FIREFOX

pytestmark = pytest.mark.slow

WORKERS = 3
ROUNDS = 20


@pytest.fixture(scope="module")
def service(make_database: Callable[[], str]) -> Iterator[Service]:
    """A service with several workers, each of which does everything."""
    with one_host(
        make_database(), WEB_CONCURRENCY=str(WORKERS), API_CONCURRENCY="0", **LONG_TIMEOUTS
    ) as service:
        yield service


@pytest.fixture(scope="module")
def owner(service: Service) -> Owner:
    return service.owner


@pytest.fixture
def connections(service: Service) -> Iterator[list[Connection]]:
    with ExitStack() as opened:
        yield one_to_each_worker(service, opened)


@pytest.fixture(scope="module")
def api(service: Service, owner: Owner) -> Callable[..., Response]:
    def call(method: str, path: str, body: Any = None) -> Response:
        return service.call(method, path, body, Authorization=f"Bearer {token}")

    response = service.call("POST", "/api/auth/login", {"email": owner.email, "password": owner.password})
    token = response.json()["token"]
    return call


@pytest.fixture(scope="module")
def create(api: Callable[..., Response]) -> Callable[..., dict[str, Any]]:
    def create(**fields: Any) -> dict[str, Any]:
        response = api("POST", "/api/urls", {"originalUrl": "https://example.com/page", **fields})
        assert response.status == 201, response
        link: dict[str, Any] = response.json()["data"]["url"]
        return link

    return create


def test_a_replaced_api_key_is_rejected_by_every_worker_after_the_response(
    api: Callable[..., Response], connections: list[Connection]
) -> None:
    old = api("POST", "/api/auth/regenerate-api-key").json()["apiKey"]
    for _ in range(ROUNDS):
        new = api("POST", "/api/auth/regenerate-api-key").json()["apiKey"]
        for key, status in ((old, 401), (new, 200)):
            responses = [
                connection.call("GET", "/api/urls/stats", X_API_Key=key) for connection in connections
            ]
            assert [response.status for response in responses] == [status] * WORKERS
        old = new


def test_an_edit_is_in_force_on_every_worker_after_the_response(
    api: Callable[..., Response], create: Callable[..., dict[str, Any]], connections: list[Connection]
) -> None:
    link = create()
    for _ in range(ROUNDS):
        for active, status in ((False, 410), (True, 302)):
            assert api("PUT", f"/api/urls/{link['_id']}", {"isActive": active}).status == 200
            responses = [connection.call("GET", f"/{link['shortCode']}") for connection in connections]
            assert [response.status for response in responses] == [status] * WORKERS


def test_a_deleted_link_returns_404_on_every_worker_after_the_response(
    api: Callable[..., Response], create: Callable[..., dict[str, Any]], connections: list[Connection]
) -> None:
    for _ in range(ROUNDS):
        link = create()
        for method, status in (("GET", 302), ("DELETE", 404)):
            if method == "DELETE":
                assert api("DELETE", f"/api/urls/{link['_id']}").status == 200
            responses = [connection.call("GET", f"/{link['shortCode']}") for connection in connections]
            assert [response.status for response in responses] == [status] * WORKERS


@pytest.fixture(scope="module")
def operator(service: Service) -> Operator:
    return Operator(service)


@pytest.fixture
def thousand(api: Callable[..., Response]) -> list[str]:
    urls = [{"originalUrl": f"https://n{number}.evil.example/"} for number in range(1000)]
    created = api("POST", "/api/urls/bulk", {"urls": urls}).json()["data"]
    return [result["url"]["shortCode"] for result in created["results"]]


def test_a_host_with_a_thousand_links_is_banned_on_every_worker_after_the_response(
    api: Callable[..., Response], thousand: list[str], operator: Operator, connections: list[Connection]
) -> None:
    def statuses() -> Counter[int]:
        """Each worker answers for a third of the links: all get the same list of what changed."""
        return Counter(
            visitor.call("GET", f"/{code}").status
            for code, visitor in zip(thousand, cycle(connections), strict=False)
        )

    assert statuses() == {302: 1000}
    ban = {"host": "evil.example", "owner": "", "reason": "", "confirmed": "evil.example"}
    banned = operator.send("/admin/bans/ban/add/", ban)
    assert (banned.status, banned.headers["Location"]) == (302, "/admin/bans/ban/")
    assert statuses() == {410: 1000}
    refused = api("POST", "/api/urls", {"originalUrl": "https://evil.example/"})
    assert (refused.status, refused.json()["errors"][0]["code"]) == (400, "banned")


def test_a_ban_and_its_end_are_in_force_on_every_worker_after_the_response(
    create: Callable[..., dict[str, Any]], operator: Operator, connections: list[Connection]
) -> None:
    link = create(originalUrl="https://worse.example/")
    ban = {"host": "worse.example", "owner": "", "reason": "", "confirmed": "worse.example", "_continue": "1"}
    for _ in range(ROUNDS):
        assert [visitor.call("GET", f"/{link['shortCode']}").status for visitor in connections] == [
            302
        ] * WORKERS
        page = operator.send("/admin/bans/ban/add/", ban).headers["Location"]
        assert [visitor.call("GET", f"/{link['shortCode']}").status for visitor in connections] == [
            410
        ] * WORKERS
        assert operator.send(page.replace("/change/", "/delete/"), {"post": "yes"}).status == 302


@pytest.mark.parametrize("_round", range(5))
def test_of_two_hundred_visitors_at_once_exactly_as_many_pass_as_the_link_allows(
    service: Service, api: Callable[..., Response], create: Callable[..., dict[str, Any]], _round: int
) -> None:
    link = create(restrictions={"maxClicks": 25})
    visitors = [Connection(service.port) for _ in range(200)]
    try:
        for visitor in visitors:
            visitor.connect_for_later()
        for visitor in visitors:
            visitor.send_request("GET", f"/{link['shortCode']}")
        statuses = Counter(visitor.receive().status for visitor in visitors)
    finally:
        for visitor in visitors:
            visitor.close()
    assert statuses == {302: 25, 410: 175}
    assert api("GET", f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"] == 25


def converse(service: Service, request: bytes) -> bytes:
    """The bytes that the server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", service.port), DEADLINE) as client:
        client.sendall(request)
        response = b""
        while received := client.recv(65536):
            response += received
        return response


def test_a_redirect_has_one_location_and_no_body(
    service: Service, create: Callable[..., dict[str, Any]]
) -> None:
    # A percent-encoded line break must not be decoded into the header.
    url = "https://example.com/a%0d%0aSet-Cookie:%20stolen=1?b=%0d%0a%0d%0a<p>"
    code = create(originalUrl=url, utm={"source": "news"})["shortCode"]
    request = f"GET /{code} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: {FIREFOX}\r\nConnection: close\r\n\r\n"
    head, body = converse(service, request.encode()).split(b"\r\n\r\n")
    status, *headers = head.decode("ascii").split("\r\n")
    assert status == "HTTP/1.1 302 Found"
    names = [line.partition(":")[0].lower() for line in headers]
    assert len(set(names)) == len(names)
    assert "set-cookie" not in names
    assert [line for line in headers if line.lower().startswith("location:")] == [
        "Location: https://example.com/a%0d%0aSet-Cookie:%20stolen=1?b=%0d%0a%0d%0a%3Cp%3E&utm_source=news"
    ]
    assert "Content-Length: 0" in headers
    assert body == b""


@pytest.mark.parametrize("path", ["/", "/nothing1", "/robots.txt", "/api/urls", "/api/nothing"])
def test_head_has_the_headers_of_get_and_no_body(service: Service, path: str) -> None:
    def call(method: str) -> bytes:
        return converse(
            service, f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
        )

    def comparable(head: bytes) -> list[bytes]:
        return [line for line in head.split(b"\r\n") if not line.startswith((b"Date:", b"X-Request-ID:"))]

    head, body = call("GET").split(b"\r\n\r\n", 1)
    assert f"Content-Length: {len(body)}".encode() in head.split(b"\r\n")
    head_only, head_body = call("HEAD").split(b"\r\n\r\n", 1)
    assert head_body == b""
    assert comparable(head_only) == comparable(head)


def test_a_connection_serves_many_requests_of_every_kind(
    service: Service, api: Callable[..., Response], create: Callable[..., dict[str, Any]]
) -> None:
    code = create()["shortCode"]
    key = api("POST", "/api/auth/regenerate-api-key").json()["apiKey"]
    with closing(Connection(service.port)) as connection:
        connection.connect()
        port = connection.sock.getsockname()[1]
        for _ in range(50):
            statuses = [
                connection.call("GET", f"/{code}").status,
                connection.call("HEAD", f"/{code}").status,
                connection.call("GET", "/nothing1").status,
                connection.call(
                    "POST", "/api/urls", {"originalUrl": "https://a.example"}, X_API_Key=key
                ).status,
                connection.call("POST", "/api/urls", {"originalUrl": "https://a.example"}).status,
                connection.call("PUT", f"/{code}", {"a": "body that nobody reads"}).status,
                connection.call("GET", "/").status,
            ]
            assert statuses == [302, 302, 404, 201, 401, 405, 302]
        assert connection.sock.getsockname()[1] == port


def test_a_chunked_body_is_refused_in_the_envelope(service: Service, api: Callable[..., Response]) -> None:
    key = api("POST", "/api/auth/regenerate-api-key").json()["apiKey"]
    body = b'{"originalUrl": "https://example.com/chunked"}'
    with closing(Connection(service.port)) as connection:
        headers = {"X-API-Key": key, "Content-Type": "application/json", "User-Agent": FIREFOX}
        connection.request("POST", "/api/urls", iter([body[:10], body[10:]]), headers, encode_chunked=True)
        response = connection.receive()
        # The server must not parse the rest of the body as a second request.
        assert connection.call("GET", "/healthz").status == 200
    assert (response.status, response.json()["code"]) == (411, "length_required")
