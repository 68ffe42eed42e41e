"""Connections break between two requests, as when the database server is restarted."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import (
    DataError,
    Error,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    connection,
    transaction,
)
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from common.database import is_conflict, is_outage, prepared_cursor, read_first
from testing.accounts.accounts import PASSWORD, account, bearer_client, key_client, log_in
from testing.connections import connect_elsewhere
from testing.service.running import DEADLINE, eventually
from testing.visitors.agents import FIREFOX


@pytest.fixture(autouse=True)
def close_dead_connection(transactional_db: None) -> Iterator[None]:
    # The connection of the previous test has its prepared statements.
    connection.close()
    yield
    connection.close()


class Query:
    """Counts how often it runs."""

    def __init__(self, sql: str = "SELECT 7") -> None:
        self.sql = sql
        self.runs = 0

    def __call__(self) -> object:
        self.runs += 1
        with connection.cursor() as cursor:
            cursor.execute(self.sql)
            return cursor.fetchone()[0]


def end_our_connection() -> None:
    """End it from another connection, like an operator or a restart."""
    connection.ensure_connection()
    with connect_elsewhere() as other_connection:
        own_pid = connection.connection.info.backend_pid
        end = "SELECT pg_terminate_backend(%s, %s)"
        assert other_connection.execute(end, [own_pid, DEADLINE * 1000]).fetchone() == (True,)


def test_a_working_connection_runs_a_query_once() -> None:
    query = Query()
    assert (read_first(query), query.runs) == (7, 1)


def test_dead_connection_is_replaced_once_without_an_error() -> None:
    end_our_connection()
    query = Query()
    assert (read_first(query), query.runs) == (7, 2)
    assert (read_first(query), query.runs) == (7, 3)


def test_a_connection_is_opened_when_there_is_none() -> None:
    connection.close()
    query = Query()
    assert (read_first(query), query.runs) == (7, 1)


def test_inside_a_transaction_nothing_is_repeated() -> None:
    """Earlier statements of the transaction would be lost silently."""
    query = Query()

    @transaction.atomic
    def in_a_transaction() -> None:
        end_our_connection()
        read_first(query)

    with pytest.raises(OperationalError):
        in_a_transaction()
    assert query.runs == 1


@pytest.mark.slow
def test_error_of_a_query_on_a_good_connection_is_not_repeated() -> None:
    """A statement timeout is an OperationalError too; a second attempt would double the load that caused it."""
    slow = Query("SET statement_timeout = 1; SELECT pg_sleep(10)")
    with pytest.raises(OperationalError):
        read_first(slow)
    wrong = Query("SELECT nothing_of_that_name")
    with pytest.raises(ProgrammingError):
        read_first(wrong)
    assert (slow.runs, wrong.runs) == (1, 1)


def test_the_error_of_the_second_attempt_is_raised() -> None:
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
    """Sends one request of a kind over a broken connection, and returns the status of the response."""
    owner = account("alice@example.com")
    key, bearer, anonymous = key_client(owner.api_key), bearer_client(owner.user), key_client("")
    browser = Client(headers={"host": "sho.rt", "user-agent": FIREFOX})
    code = key.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]["shortCode"]
    tokens = log_in(User.objects.get())
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
def test_a_restarted_database_fails_no_request(name: str, status: int) -> None:
    assert requests(name) == status


def test_a_lock_that_another_transaction_holds_is_a_conflict() -> None:
    query = Query("SELECT pg_advisory_xact_lock(7)")
    with connect_elsewhere() as other_connection, other_connection.transaction(), transaction.atomic():
        other_connection.execute(query.sql)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '10ms'")
        with pytest.raises(OperationalError) as locked, transaction.atomic():
            query()
    assert is_conflict(locked.value)


def test_a_transaction_that_was_idle_for_too_long_is_an_outage_instead_of_a_conflict() -> None:
    query = Query()

    def stay_idle() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '10ms'")
            pid = connection.connection.info.backend_pid
            find = "SELECT FROM pg_stat_activity WHERE pid = %s"
            eventually(lambda: not other_connection.execute(find, [pid]).fetchall())
            query()

    with connect_elsewhere() as other_connection, pytest.raises(Error) as ended:
        stay_idle()
    assert is_outage(ended.value)
    assert not is_conflict(ended.value)


def read_prepared(value: object) -> object:
    with prepared_cursor() as cursor:
        cursor.execute("SELECT %s::int + 1", [value])
        return cursor.fetchone()[0]


def prepared_statements() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        return [statement for (statement,) in cursor.fetchall()]


def test_a_prepared_statement_is_parsed_once_for_all_values() -> None:
    assert [read_prepared(value) for value in (1, 2, 3)] == [2, 3, 4]
    assert prepared_statements() == ["SELECT $1::int + 1"]


def test_the_query_log_has_the_text_of_a_prepared_statement(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1) as captured:
        assert read_prepared(1) == 2
    assert [query["sql"] for query in captured] == ["SELECT 1::int + 1"]


def test_other_statements_are_not_prepared() -> None:
    assert Query()() == 7
    assert prepared_statements() == []


def test_a_new_connection_prepares_its_statements_again() -> None:
    assert read_prepared(1) == 2
    end_our_connection()
    assert read_first(lambda: read_prepared(2)) == 3
    assert prepared_statements() == ["SELECT $1::int + 1"]


def test_an_error_of_a_prepared_statement_is_translated() -> None:
    with pytest.raises(DataError, match="integer out of range"):
        read_prepared(2**31 - 1)
    assert read_prepared(1) == 2


def test_a_closed_connection_is_an_outage() -> None:
    connection.ensure_connection()
    connection.connection.close()
    with pytest.raises(OperationalError, match="The connection is closed") as failure:
        prepared_cursor()
    assert is_outage(failure.value)
