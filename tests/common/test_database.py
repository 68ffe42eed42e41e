"""Connections that die between two requests, as they do when the database server is restarted."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError, connection, transaction
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from accounts.tokens import issue_tokens
from common.database import read_first
from tests.conftest import FIREFOX, PASSWORD, account, bearer_client, key_client


@pytest.fixture(autouse=True)
def leave_no_dead_connection_behind(transactional_db: None) -> Iterator[None]:
    yield
    connection.close()


class Query:
    """Counts how often it is run."""

    def __init__(self, sql: str = "SELECT 7") -> None:
        self.sql = sql
        self.runs = 0

    def __call__(self) -> object:
        self.runs += 1
        with connection.cursor() as cursor:
            cursor.execute(self.sql)
            return cursor.fetchone()[0]


def end_our_connection() -> None:
    """From outside, as an operator or a restart would."""
    connection.ensure_connection()
    server = connection.settings_dict
    with psycopg.connect(
        host=server["HOST"],
        port=server["PORT"],
        user=server["USER"],
        password=server["PASSWORD"],
        dbname=server["NAME"],
        autocommit=True,
    ) as elsewhere:
        ours = connection.connection.info.backend_pid
        assert elsewhere.execute("SELECT pg_terminate_backend(%s, 10000)", [ours]).fetchone() == (True,)


def test_connection_that_is_alive_is_used_once() -> None:
    query = Query()
    assert (read_first(query), query.runs) == (7, 1)


def test_dead_connection_is_replaced_once_without_an_error() -> None:
    end_our_connection()
    query = Query()
    assert (read_first(query), query.runs) == (7, 2)
    assert (read_first(query), query.runs) == (7, 3)


def test_first_connection_is_made_when_there_is_none() -> None:
    connection.close()
    query = Query()
    assert (read_first(query), query.runs) == (7, 1)


def test_inside_a_transaction_nothing_is_repeated() -> None:
    """What was done before in it would be lost without a word."""
    query = Query()

    @transaction.atomic
    def in_a_transaction() -> None:
        end_our_connection()
        read_first(query)

    with pytest.raises(OperationalError):
        in_a_transaction()
    assert query.runs == 1


def test_error_of_a_query_on_a_good_connection_is_not_repeated() -> None:
    """A statement timeout is an OperationalError too; asking again would double the load that caused it."""
    slow = Query("SET statement_timeout = 1; SELECT pg_sleep(10)")
    with pytest.raises(OperationalError):
        read_first(slow)
    wrong = Query("SELECT nothing_of_that_name")
    with pytest.raises(ProgrammingError):
        read_first(wrong)
    assert (slow.runs, wrong.runs) == (1, 1)


def test_error_of_the_second_attempt_is_the_one_that_is_raised() -> None:
    attempts = []

    def fails_again() -> None:
        attempts.append(1)
        if len(attempts) == 1:
            Query()()
        raise InterfaceError("again")

    end_our_connection()
    with pytest.raises(InterfaceError, match=r"^again$"):
        read_first(fails_again)
    assert len(attempts) == 2


def requests(name: str) -> int:
    """Sends one request of a kind over a connection that has died, and returns the status of the answer."""
    made = account("alice@example.com")
    key, bearer, anonymous = key_client(made.api_key), bearer_client(made.user), key_client("")
    browser = Client(headers={"host": "sho.rt", "user-agent": FIREFOX})
    code = key.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]["shortCode"]
    tokens = issue_tokens(User.objects.get())
    anonymous = APIClient(headers={"host": "sho.rt"})
    send = {
        "list with a key": lambda: key.get("/api/urls"),
        "create with a key": lambda: key.post("/api/urls", {"originalUrl": "https://example.com/"}),
        "read a key with a token": lambda: bearer.get("/api/auth/api-key"),
        "replace a key": lambda: bearer.post("/api/auth/regenerate-api-key"),
        "log in": lambda: anonymous.post("/api/auth/login", {"email": "alice@example.com", "password": PASSWORD}),
        "refresh": lambda: anonymous.post("/api/auth/refresh", {"refreshToken": tokens.refresh}),
        "follow a link": lambda: browser.get(f"/{code}"),
        "ask whether it is ready": lambda: anonymous.get("/readyz"),
    }[name]  # fmt: skip
    end_our_connection()
    return send().status_code


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("list with a key", 200),
        ("create with a key", 201),
        ("read a key with a token", 200),
        ("replace a key", 200),
        ("log in", 200),
        ("refresh", 200),
        ("follow a link", 302),
        ("ask whether it is ready", 200),
    ],
)
def test_restarted_database_costs_no_request_an_error(name: str, status: int) -> None:
    assert requests(name) == status
