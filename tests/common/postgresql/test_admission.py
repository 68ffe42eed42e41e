"""Which servers the connections of a host may use."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import InternalError, OperationalError, connection, transaction
from pytest_django.fixtures import Settings

from accounts.models import User
from common import changing_commands
from common.database import is_outage, is_replicated, lacks_standby
from common.host import cache_versions, primary, state
from common.host.primary import Verdict, number_of, timeline_of
from common.postgresql import servers
from common.postgresql.base import Unreplicated
from common.postgresql.servers import OnFormerPrimary, OnStandby
from common.postgresql.timeouts import BoundedConnection
from limits.rates import spend_request
from shortener_project.configuration.database import database_settings
from testing.accounts.accounts import account
from testing.connections import closed_connection as closed_connection
from testing.connections import connect_elsewhere
from testing.service.postgresql.standbys import primary_and_standby

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_host_memory")]


@pytest.fixture(autouse=True)
def new_connection(own_host_memory: None, closed_connection: None) -> None:
    connection.close()


def parameters(url: str) -> dict[str, Any]:
    database = database_settings(url, statement_timeout=0, idle_transaction_timeout=0, lock_timeout=0)
    names = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    return {name: database[key] for name, key in names.items() if database[key]} | database["OPTIONS"]


def reached(url: str) -> tuple[str, int]:
    """The host name and the timeline of the server that a new connection reaches."""
    opened, server = servers.connect(BoundedConnection.connect_in_autocommit, parameters(url))
    with opened:
        return opened.info.host, timeline_of(server.number)


def name_of(url: str) -> str:
    return str(dj_database_url.parse(url)["HOST"])


@pytest.mark.slow
def test_the_server_with_the_highest_timeline_is_used_wherever_the_url_names_it() -> None:
    with primary_and_standby() as pair:
        former, new = name_of(pair.primary.url), name_of(pair.standby.url)
        hosts = urlsplit(pair.url).netloc.rpartition("@")[2]
        reverse = pair.url.replace(hosts, ",".join(reversed(hosts.split(","))))
        with pytest.raises(OnStandby):
            reached(pair.standby.url)
        for url in (pair.primary.url, pair.url, reverse):
            assert reached(url) == (former, 1)

        pair.promote()

        # Both accept writes, and this host has not met the new one yet.
        primary.note_place(1)
        assert reached(pair.url) == (former, 1)
        before = cache_versions.versions_of("sho.rt", "spring").known
        # At once, without waiting for a checkpoint.
        assert reached(pair.standby.url) == (new, 2)
        assert not before.is_current
        for url in (pair.standby.url, pair.url, reverse):
            assert reached(url) == (new, 2)
        with pytest.raises(OnFormerPrimary, match="is on timeline 1, but this host has used timeline 2"):
            reached(pair.primary.url)


def test_parameters_of_several_servers_are_those_of_each() -> None:
    several = {"host": "a,b", "port": "1,2", "dbname": "name"}
    assert [*servers.servers_of(several)] == [
        {"host": "a", "port": "1", "dbname": "name"},
        {"host": "b", "port": "2", "dbname": "name"},
    ]
    one_port = {"host": "a,b", "port": "5432"}
    assert [*servers.servers_of(one_port)] == [
        {"host": "a", "port": "5432"},
        {"host": "b", "port": "5432"},
    ]
    assert [*servers.servers_of({"dbname": "name"})] == [{"dbname": "name"}]


def test_a_connection_is_left_before_its_next_use() -> None:
    connection.ensure_connection()
    former = connection.connection
    assert primary.admit(number_of(7, 1)) is Verdict.OTHER

    assert User.objects.count() == 0

    assert former.closed
    assert connection.connection is not former
    assert primary.current() == connection._server


def test_a_transaction_on_a_former_primary_ends_without_effect() -> None:
    def rename(**when: bool) -> None:
        with transaction.atomic():
            User.objects.update(first_name="Grace")
            primary.admit(number_of(7, 1))
            if when["statement"]:
                User.objects.count()

    owner = account("ada@example.com").user
    for statement in (True, False):
        with pytest.raises(OperationalError, match="Another server has taken over") as ended:
            rename(statement=statement)
        assert is_outage(ended.value)
        assert User.objects.get(pk=owner.pk).first_name == "Ada"


def test_nothing_is_committed_without_a_required_standby(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = account("ada@example.com").user
    connection.close()
    settings.REQUIRE_SYNCHRONOUS = True
    monkeypatch.setitem(connection.settings_dict, "RESPONSE_SECONDS", 10)
    # As the heartbeats of this host do.
    primary.note_committed()

    # A new connection sees that the server lists no standby.
    primary.note_standby(primary.current())
    connection.ensure_connection()
    assert not primary.has_standby()
    with pytest.raises(InternalError) as refused:
        User.objects.update(first_name="Grace")
    assert lacks_standby(refused.value)
    spend_request("requests may be lost", 1)

    primary.note_standby(primary.current())
    assert User.objects.update(first_name="Augusta") == 1

    def lose_standby() -> None:
        with transaction.atomic():
            User.objects.update(first_name="Grace")
            primary.note_no_standby()

    with pytest.raises(Unreplicated) as ended:
        lose_standby()
    assert lacks_standby(ended.value)
    assert User.objects.get(pk=owner.pk).first_name == "Augusta"

    # The same on a server that replaces this one.
    primary.note_standby(primary.current())
    primary.admit(number_of(7, 1))
    assert not primary.has_standby()


def test_without_heartbeats_of_the_host_a_session_confirms_two_of_its_own(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = account("ada@example.com").user
    connection.close()
    settings.REQUIRE_SYNCHRONOUS = True
    monkeypatch.setitem(connection.settings_dict, "RESPONSE_SECONDS", 10)
    monkeypatch.setattr(servers, "awaits_standby", lambda _: True)
    # No process checks the servers.
    state.mapped().servers[state.COMMITTED] = 0
    with pytest.raises(InternalError):
        User.objects.update(first_name="Grace")
    assert connection._is_read_only
    connection._confirmed_since -= servers.PERIOD_SECONDS
    # Although the session is read-only.
    assert User.objects.filter(pk=owner.pk).update(first_name="Augusta") == 1


def test_a_command_changes_nothing_without_a_required_standby(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REQUIRE_SYNCHRONOUS = True
    monkeypatch.setattr(changing_commands, "WAIT_SECONDS", 0)
    with pytest.raises(CommandError, match="No synchronous standby has confirmed commits"):
        call_command("create_account", "ada@example.com")
    assert not User.objects.exists()


def test_what_was_committed_with_another_connection_may_not_be_replicated(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REQUIRE_SYNCHRONOUS = True
    connection.ensure_connection()
    monkeypatch.setattr(servers, "awaits_standby", lambda _: True)
    primary.note_standby(primary.current())
    before = connection.connection
    assert is_replicated(before)
    primary.admit(number_of(7, 1))
    primary.note_standby(primary.current())
    assert not is_replicated(before)


def test_a_failed_check_ends_what_earlier_ones_have_shown(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REQUIRE_SYNCHRONOUS = True
    monkeypatch.setattr(servers, "awaits_standby", lambda _: True)
    watch = servers.Watch(parameters(os.environ["DATABASE_URL"]))
    watch.check()
    assert not primary.has_standby()
    watch.check()
    assert primary.has_standby()
    with monkeypatch.context() as broken:
        broken.setitem(watch._parameters, "port", "1")
        watch.check()
    assert not primary.has_standby()


def test_a_broken_connection_is_closed_after_a_request_whatever_the_standbys_do(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REQUIRE_SYNCHRONOUS = True
    monkeypatch.setitem(connection.settings_dict, "RESPONSE_SECONDS", 10)
    primary.note_committed()
    connection.ensure_connection()
    connection.connection.close()
    # The session would become writable again.
    primary.note_standby(primary.current())
    with pytest.raises(OperationalError):
        User.objects.exists()

    connection.close_if_unusable_or_obsolete()

    assert not User.objects.exists()


def test_a_new_connection_tries_the_server_first_that_the_host_has_used_last() -> None:
    own = parameters(os.environ["DATABASE_URL"])
    # Nothing listens at the first port.
    several = {**own, "host": f"127.0.0.1,{own['host']}", "port": f"1,{own.get('port') or 5432}"}
    tried = []

    def opened(wanted: Mapping[str, Any]) -> BoundedConnection:
        tried.append(wanted["host"])
        return BoundedConnection.connect_in_autocommit(wanted)

    for _ in range(2):
        servers.connect(opened, several)[0].close()

    assert tried == [several["host"], f"{own['host']},127.0.0.1"]


@contextmanager
def role(name: str) -> Iterator[tuple[psycopg.Connection[tuple[object, ...]], dict[str, Any]]]:
    """A connection of the owner, and the connection parameters of a new role without special rights."""
    connection.ensure_connection()
    with connect_elsewhere() as owner:
        owner.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'secret'")
        try:
            yield owner, {**connection.get_connection_params(), "user": name, "password": "secret"}
        finally:
            owner.execute(f"DROP ROLE {name}")


@pytest.fixture
def restricted() -> Iterator[dict[str, Any]]:
    """The connection parameters of a role that may neither identify the server nor write messages."""
    query = """
        SELECT oid::regprocedure::text FROM pg_proc
        WHERE proname IN ('pg_control_system', 'pg_logical_emit_message')
    """
    with role("restricted_client") as (owner, parameters):
        functions = [name for (name,) in owner.execute(query).fetchall()]
        for function in functions:
            owner.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
        try:
            yield parameters
        finally:
            for function in functions:
                owner.execute(f"GRANT EXECUTE ON FUNCTION {function} TO PUBLIC")


def test_without_rights_any_server_is_used_and_contact_counts_as_a_commit(restricted: dict[str, Any]) -> None:
    primary.admit(number_of(7, 2))
    opened, server = servers.connect(BoundedConnection.connect_in_autocommit, restricted)
    with opened:
        assert server == (primary.UNKNOWN, "permission denied for function pg_control_system")
        servers.confirm(opened)
        assert opened.execute("SELECT 1").fetchone() == (1,)


def test_a_heartbeat_needs_no_special_rights_and_commits() -> None:
    query = "SELECT pg_current_wal_flush_lsn()::text, txid_snapshot_xmax(txid_current_snapshot())"
    is_later = (
        "SELECT pg_current_wal_flush_lsn() > %s::pg_lsn, txid_snapshot_xmax(txid_current_snapshot()) > %s"
    )
    with (
        role("ordinary_client") as (owner, parameters),
        psycopg.connect(**parameters, autocommit=True) as opened,
    ):
        [before] = owner.execute(query).fetchall()
        servers.confirm(opened)
        assert owner.execute(is_later, before).fetchall() == [(True, True)]


def test_a_new_connection_has_the_time_zone_without_another_statement() -> None:
    connection.close()
    with connection.execute_wrapper(lambda execute, *arguments: pytest.fail(f"{arguments}")):
        connection.ensure_connection()
    assert connection.connection.info.parameter_status("TimeZone") == "UTC"
