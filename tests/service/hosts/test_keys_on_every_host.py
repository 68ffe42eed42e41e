"""A change of a key or an account is in force on another host that receives no notifications.

The other host has accepted the key before, and its change listener is stopped meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import psycopg
import pytest

from testing.accounts.accounts import PASSWORD
from testing.service.clients.operator import Operator
from testing.service.hosts import stopped, two_hosts
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Response, Service

pytestmark = pytest.mark.slow


class Hosts(NamedTuple):
    here: Service
    there: Service


class Account(NamedTuple):
    """``token`` is an access token."""

    email: str
    key: str
    token: str


@pytest.fixture(scope="module")
def hosts(database: str) -> Iterator[Hosts]:
    limits = {"RATE_LIMIT_FREE": "500", "RATE_LIMIT_PRO": "900"}
    with (
        two_hosts(database, **limits, **LONG_TIMEOUTS) as (here, there),
        stopped([there.child("follow_changes")]),
    ):
        yield Hosts(here, there)


def account(hosts: Hosts, email: str) -> Account:
    created = hosts.here.manage("create_account", email, "--password", PASSWORD)
    login = hosts.here.call("POST", "/api/auth/login", {"email": email, "password": PASSWORD})
    return Account(email, created.stdout.split()[-1], login.json()["token"])


def read(host: Service, **credential: str) -> Response:
    return host.call("GET", "/api/urls/stats", **credential)


def statuses(hosts: Hosts, key: str) -> list[int]:
    return [read(host, X_API_Key=key).status for host in hosts]


def test_a_replaced_key_is_invalid_on_the_other_host(hosts: Hosts) -> None:
    _, key, token = account(hosts, "rotation@example.com")
    for _ in range(5):
        assert statuses(hosts, key) == [200, 200]
        rotated = hosts.here.call("POST", "/api/auth/regenerate-api-key", Authorization=f"Bearer {token}")
        new = rotated.json()["apiKey"]
        assert [read(hosts.there, X_API_Key=each).status for each in (key, new)] == [401, 200]
        key = new


def test_a_disabled_account_is_refused_on_the_other_host_until_it_is_enabled(
    hosts: Hosts, database: str
) -> None:
    email, key, token = account(hosts, "disabled@example.com")
    operator = Operator(hosts.here)
    with psycopg.connect(database, autocommit=True) as connection:
        [(number,)] = connection.execute("SELECT id FROM accounts_user WHERE email = %s", [email]).fetchall()
    for action, status in (("disable", 401), ("enable", 200)):
        form = {"action": action, "_selected_action": number}
        assert operator.send("/admin/accounts/user/", form).status == 302
        assert statuses(hosts, key) == [status, status]
        assert read(hosts.there, Authorization=f"Bearer {token}").status == status


def test_a_changed_plan_applies_on_the_other_host(hosts: Hosts, database: str) -> None:
    email, key, _ = account(hosts, "plan@example.com")
    assert read(hosts.there, X_API_Key=key).headers["RateLimit-Limit"] == "500"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE accounts_user SET plan = 'pro' WHERE email = %s", [email])
    assert read(hosts.there, X_API_Key=key).headers["RateLimit-Limit"] == "900"


def test_a_deleted_account_is_refused_on_the_other_host(hosts: Hosts, database: str) -> None:
    email, key, _ = account(hosts, "deleted@example.com")
    assert statuses(hosts, key) == [200, 200]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            """
            WITH account AS (SELECT id FROM accounts_user WHERE email = %s),
                session AS (DELETE FROM accounts_session WHERE user_id = (SELECT id FROM account)),
                membership AS (DELETE FROM accounts_member WHERE user_id = (SELECT id FROM account))
            DELETE FROM accounts_apikey WHERE user_id = (SELECT id FROM account)
            """,
            [email],
        )
        connection.execute(
            """
            WITH account AS (DELETE FROM accounts_user WHERE email = %s RETURNING id)
            DELETE FROM accounts_workspace WHERE account_id = (SELECT id FROM account)
            """,
            [email],
        )
    assert statuses(hosts, key) == [401, 401]
