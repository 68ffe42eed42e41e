"""Several workers, one truth: what the API has answered is in force on each of them. Over real sockets."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from tests.conftest import FIREFOX
from tests.service.hosts import one_host, one_to_each_worker
from tests.service.operator import Operator
from tests.service.running import DEADLINE, Answer, Connection, Owner, Service

WORKERS = 3
ROUNDS = 20


@pytest.fixture(scope="module")
def crowd(make_database: Callable[[], str]) -> Iterator[Service]:
    """A service with several workers, each of which does everything."""
    with one_host(make_database(), WEB_CONCURRENCY=str(WORKERS), API_CONCURRENCY="0") as service:
        yield service


@pytest.fixture(scope="module")
def owner(crowd: Service) -> Owner:
    return crowd.owner


@pytest.fixture
def everywhere(crowd: Service) -> Iterator[list[Connection]]:
    with ExitStack() as opened:
        yield one_to_each_worker(crowd, opened)


@pytest.fixture(scope="module")
def api(crowd: Service, owner: Owner) -> Callable[..., Answer]:
    def ask(method: str, path: str, body: Any = None) -> Answer:
        return crowd.ask(method, path, body, Authorization=f"Bearer {token}")

    answer = crowd.ask("POST", "/api/auth/login", {"email": owner.email, "password": owner.password})
    token = answer.json()["token"]
    return ask


@pytest.fixture(scope="module")
def create(api: Callable[..., Answer]) -> Callable[..., dict[str, Any]]:
    def create(**fields: Any) -> dict[str, Any]:
        answer = api("POST", "/api/urls", {"originalUrl": "https://example.com/page", **fields})
        assert answer.status == 201, answer
        link: dict[str, Any] = answer.json()["data"]["url"]
        return link

    return create


def test_a_replaced_api_key_is_dead_on_every_worker_once_the_answer_is_there(
    api: Callable[..., Answer], everywhere: list[Connection]
) -> None:
    old = api("POST", "/api/auth/regenerate-api-key").json()["apiKey"]
    for _ in range(ROUNDS):
        new = api("POST", "/api/auth/regenerate-api-key").json()["apiKey"]
        for key, status in ((old, 401), (new, 200)):
            answers = [connection.ask("GET", "/api/urls/stats", X_API_Key=key) for connection in everywhere]
            assert [answer.status for answer in answers] == [status] * WORKERS
        old = new


def test_an_edit_is_in_force_on_every_worker_once_the_answer_is_there(
    api: Callable[..., Answer], create: Callable[..., dict[str, Any]], everywhere: list[Connection]
) -> None:
    link = create()
    for _ in range(ROUNDS):
        for active, status in ((False, 410), (True, 302)):
            assert api("PUT", f"/api/urls/{link['_id']}", {"isActive": active}).status == 200
            answers = [connection.ask("GET", f"/{link['shortCode']}") for connection in everywhere]
            assert [answer.status for answer in answers] == [status] * WORKERS


def test_a_deleted_link_is_gone_on_every_worker_once_the_answer_is_there(
    api: Callable[..., Answer], create: Callable[..., dict[str, Any]], everywhere: list[Connection]
) -> None:
    for _ in range(ROUNDS):
        link = create()
        for method, status in (("GET", 302), ("DELETE", 404)):
            if method == "DELETE":
                assert api("DELETE", f"/api/urls/{link['_id']}").status == 200
            answers = [connection.ask("GET", f"/{link['shortCode']}") for connection in everywhere]
            assert [answer.status for answer in answers] == [status] * WORKERS


@pytest.fixture(scope="module")
def operator(crowd: Service) -> Operator:
    return Operator(crowd)


@pytest.fixture
def thousand(create: Callable[..., dict[str, Any]]) -> list[str]:
    return [create(originalUrl=f"https://n{number}.evil.example/")["shortCode"] for number in range(1000)]


def test_a_host_with_a_thousand_links_is_banned_on_every_worker_once_the_answer_is_there(
    api: Callable[..., Answer], thousand: list[str], operator: Operator, everywhere: list[Connection]
) -> None:
    def statuses() -> Counter[int]:
        return Counter(visitor.ask("GET", f"/{code}").status for code in thousand for visitor in everywhere)

    assert statuses() == {302: 1000 * WORKERS}
    banned = operator.send("/admin/links/ban/add/", {"host": "evil.example", "owner": "", "reason": ""})
    assert (banned.status, banned.headers["Location"]) == (302, "/admin/links/ban/")
    assert statuses() == {410: 1000 * WORKERS}
    refused = api("POST", "/api/urls", {"originalUrl": "https://evil.example/"})
    assert (refused.status, refused.json()["errors"][0]["code"]) == (400, "banned")


def test_a_ban_and_its_end_are_in_force_on_every_worker_once_the_answer_is_there(
    create: Callable[..., dict[str, Any]], operator: Operator, everywhere: list[Connection]
) -> None:
    link = create(originalUrl="https://worse.example/")
    ban = {"host": "worse.example", "owner": "", "reason": "", "_continue": "1"}
    for _ in range(ROUNDS):
        assert [visitor.ask("GET", f"/{link['shortCode']}").status for visitor in everywhere] == [
            302
        ] * WORKERS
        page = operator.send("/admin/links/ban/add/", ban).headers["Location"]
        assert [visitor.ask("GET", f"/{link['shortCode']}").status for visitor in everywhere] == [
            410
        ] * WORKERS
        assert operator.send(page.replace("/change/", "/delete/"), {"post": "yes"}).status == 302


@pytest.mark.parametrize("_round", range(5))
def test_of_two_hundred_visitors_at_once_exactly_as_many_pass_as_the_link_allows(
    crowd: Service, api: Callable[..., Answer], create: Callable[..., dict[str, Any]], _round: int
) -> None:
    link = create(restrictions={"maxClicks": 25})
    visitors = [Connection(crowd.port) for _ in range(200)]
    try:
        for visitor in visitors:
            visitor.connect()
        for visitor in visitors:
            visitor.say("GET", f"/{link['shortCode']}")
        statuses = Counter(visitor.hear().status for visitor in visitors)
    finally:
        for visitor in visitors:
            visitor.close()
    assert statuses == {302: 25, 410: 175}
    assert api("GET", f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"] == 25


def converse(service: Service, request: bytes) -> bytes:
    """Everything that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", service.port), DEADLINE) as client:
        client.sendall(request)
        answer = b""
        while received := client.recv(65536):
            answer += received
        return answer


def test_a_redirect_has_one_location_and_no_body(
    crowd: Service, create: Callable[..., dict[str, Any]]
) -> None:
    # What looks like a line break once it is decoded must not become one.
    url = "https://example.com/a%0d%0aSet-Cookie:%20stolen=1?b=%0d%0a%0d%0a<p>"
    code = create(originalUrl=url, utm={"source": "news"})["shortCode"]
    request = f"GET /{code} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: {FIREFOX}\r\nConnection: close\r\n\r\n"
    head, body = converse(crowd, request.encode()).split(b"\r\n\r\n")
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
def test_head_has_the_headers_of_get_and_no_body(crowd: Service, path: str) -> None:
    def ask(method: str) -> bytes:
        return converse(
            crowd, f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
        )

    def comparable(head: bytes) -> list[bytes]:
        return [line for line in head.split(b"\r\n") if not line.startswith((b"Date:", b"X-Request-ID:"))]

    head, body = ask("GET").split(b"\r\n\r\n", 1)
    assert f"Content-Length: {len(body)}".encode() in head.split(b"\r\n")
    head_only, nothing = ask("HEAD").split(b"\r\n\r\n", 1)
    assert nothing == b""
    assert comparable(head_only) == comparable(head)


def test_a_connection_serves_many_requests_of_every_kind(
    crowd: Service, api: Callable[..., Answer], create: Callable[..., dict[str, Any]]
) -> None:
    code = create()["shortCode"]
    key = api("POST", "/api/auth/regenerate-api-key").json()["apiKey"]
    with closing(Connection(crowd.port)) as connection:
        connection.connect()
        port = connection.sock.getsockname()[1]
        for _ in range(50):
            statuses = [
                connection.ask("GET", f"/{code}").status,
                connection.ask("HEAD", f"/{code}").status,
                connection.ask("GET", "/nothing1").status,
                connection.ask(
                    "POST", "/api/urls", {"originalUrl": "https://a.example"}, X_API_Key=key
                ).status,
                connection.ask("POST", "/api/urls", {"originalUrl": "https://a.example"}).status,
                connection.ask("PUT", f"/{code}", {"a": "body that nobody reads"}).status,
                connection.ask("GET", "/readyz").status,
            ]
            assert statuses == [302, 302, 404, 201, 401, 405, 200]
        assert connection.sock.getsockname()[1] == port


def test_a_chunked_body_is_refused_in_the_envelope(crowd: Service, api: Callable[..., Answer]) -> None:
    key = api("POST", "/api/auth/regenerate-api-key").json()["apiKey"]
    body = b'{"originalUrl": "https://example.com/chunked"}'
    with closing(Connection(crowd.port)) as connection:
        headers = {"X-API-Key": key, "Content-Type": "application/json", "User-Agent": FIREFOX}
        connection.request("POST", "/api/urls", iter([body[:10], body[10:]]), headers, encode_chunked=True)
        answer = connection.hear()
        # The rest of the body is no second request.
        assert connection.ask("GET", "/healthz").status == 200
    assert (answer.status, answer.json()["code"]) == (411, "length_required")
