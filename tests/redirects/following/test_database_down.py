import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from redirects import refusals
from testing.analytics.clicks import clicks
from testing.connections import closed_connection as closed_connection
from testing.connections import kill_backend
from testing.pages.html import assert_json_refusal, assert_page
from tests.redirects.following.outages import MakeLink, serve

pytestmark = pytest.mark.django_db(transaction=True)

DESTINATION = "https://example.com/page"


@contextmanager
def refusing_port() -> Iterator[int]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@contextmanager
def closing_port() -> Iterator[int]:
    """A port that closes every connection at once, like a server that is starting or stopping."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def close_connections() -> None:
            while True:
                caller = server.accept()[0]
                if caller.recv(1) == b"q":
                    break
                caller.close()
            caller.close()

        thread = Thread(target=close_connections)
        thread.start()
        yield server.getsockname()[1]
        with socket.create_connection(server.getsockname()) as last:
            last.sendall(b"q")
            thread.join()


@pytest.fixture(params=[refusing_port, closing_port])
def outage(request: pytest.FixtureRequest) -> Callable[[], Any]:
    """A context manager in which the database is unreachable."""

    @contextmanager
    def out_of_reach() -> Iterator[None]:
        address = {name: connection.settings_dict[name] for name in ("HOST", "PORT")}
        with request.param() as port:
            kill_backend()
            connection.settings_dict |= {"HOST": "127.0.0.1", "PORT": str(port)}
            try:
                yield
            finally:
                connection.settings_dict |= address

    return out_of_reach


def test_links_return_503_during_a_database_outage(
    visitor: Client, make_link: MakeLink, outage: Callable[[], Any]
) -> None:
    codes = [make_link()["shortCode"], make_link(restrictions={"maxClicks": 5})["shortCode"]]
    codes += [make_link(password="secret")["shortCode"], "unknown"]

    refusal = refusals.UNAVAILABLE
    with outage():
        for code in codes:
            for method in ("GET", "POST"):
                page = serve(lambda path=f"/{code}", method=method: visitor.generic(method, path))
                assert page.status_code == 503
                assert page["Retry-After"] == "2"
                assert_page(page, title=refusal.title, message=refusal.message)

            response = serve(
                lambda path=f"/{code}": visitor.get(path, headers={"accept": "application/json"})
            )
            assert response.status_code == 503
            assert response["Retry-After"] == "2"
            assert_json_refusal(response, reason="unavailable", message=refusal.message)

            head = serve(lambda path=f"/{code}": visitor.head(path))
            assert (head.status_code, head.content) == (503, b"")


def test_other_paths_return_503_during_a_database_outage(
    visitor: Client, api: APIClient, outage: Callable[[], Any]
) -> None:
    with outage():
        health = serve(lambda: visitor.get("/healthz"))
        ready = serve(lambda: visitor.get("/readyz"))
        listed = serve(lambda: api.get("/api/urls"))
        login = serve(lambda: api.post("/api/auth/login", {"email": "a@example.com", "password": "x" * 12}))
        others = [serve(lambda path=path: visitor.get(path)) for path in ("/", "/robots.txt", "/not/a/code")]

    assert health.status_code == 200
    assert (ready.status_code, ready["Retry-After"]) == (503, "2")
    for response in (listed, login):
        assert response.status_code == 503
        assert response["Retry-After"] == "2"
        assert response["Content-Type"] == "application/json"
        assert (response.json()["success"], response.json()["code"]) == (False, "unavailable")
    assert [response.status_code for response in others] == [302, 200, 404]


def test_the_service_recovers_after_a_database_outage(
    visitor: Client, api: APIClient, make_link: MakeLink, outage: Callable[[], Any]
) -> None:
    link = make_link()
    path = f"/{link['shortCode']}"
    with outage():
        assert [serve(lambda: visitor.get(path)).status_code for _ in range(3)] == [503, 503, 503]

    assert serve(lambda: visitor.get(path))["Location"] == DESTINATION
    assert serve(lambda: visitor.get("/unknown")).status_code == 404
    assert serve(lambda: visitor.get("/readyz")).status_code == 200
    assert serve(lambda: api.get("/api/urls")).status_code == 200
    assert clicks(api, link) == 1


def test_no_wrong_response_is_sent_during_a_database_outage(
    visitor: Client, make_link: MakeLink, outage: Callable[[], Any]
) -> None:
    """An outage leaves no state: afterwards an unknown code is unknown, and a disabled link disabled."""
    code = make_link(expiresAt="2020-01-01T00:00:00Z")["shortCode"]
    statuses = []
    for path in (f"/{code}", "/unknown"):
        with outage():
            statuses.append(serve(lambda path=path: visitor.get(path)).status_code)
        statuses.append(serve(lambda path=path: visitor.get(path)).status_code)

    assert statuses == [503, 410, 503, 404]


@pytest.mark.slow
def test_a_slow_claim_times_out(visitor: Client, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(restrictions={"maxClicks": 5})
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT FROM links_clickcounter FOR UPDATE")
    with connection.cursor() as cursor:
        # Long enough for every statement but the claim, which waits for the lock.
        cursor.execute("SET statement_timeout = 1500")

    response = serve(lambda: visitor.get(f"/{link['shortCode']}"))
    other.rollback()
    other.close()
    with connection.cursor() as cursor:
        cursor.execute("RESET statement_timeout")

    assert response.status_code == 503
    assert serve(lambda: visitor.get(f"/{link['shortCode']}")).status_code == 302
    assert clicks(api, link) == 1
    connection.close()


def test_a_read_only_database_counts_as_an_outage(visitor: Client, make_link: MakeLink) -> None:
    """After a failover, a kept connection may reach a standby, which finds the link but cannot count the click."""
    path = f"/{make_link(restrictions={'maxClicks': 5})['shortCode']}"
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")

    assert [serve(lambda: visitor.get(path)).status_code for _ in range(2)] == [503, 302]
