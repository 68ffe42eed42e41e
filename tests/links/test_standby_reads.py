"""A standby that answers, or fails meanwhile. Here, it is a second, read-only connection to the test database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.db import InternalError, connection, connections
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext, override_settings
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Change, User
from accounts.services import NewAccount
from analytics.reports.costs import ReportTooSlow, fetch_bounded
from common.database import fetch
from common.reports_database import ALIAS, Reading, on_primary, reading
from limits.rates import acquire_lease, release_lease
from links import lists, standby_reads, views
from links.models import OwnerTotals
from links.tags import listing
from links.transfer import exports
from testing.analytics.journaled import MakeLink

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("standby")]

LAG = standby_reads.LAG
# Fails with this error on the standby only.
FAIL = "SELECT fail('{}'), 1"


@pytest.fixture
def standby(settings: Settings, monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Iterator[None]:
    settings.REPORTS_DATABASE_URL = "postgres://standby/shortener"
    settings.DATABASE_ROUTERS = ["common.reports_database.Router"]
    second = connection.copy()
    second.settings_dict["OPTIONS"]["options"] = "-c default_transaction_read_only=on"
    second.settings_dict["IS_STANDBY"] = True
    connections[ALIAS] = second
    monkeypatch.setattr(standby_reads, "_standby", standby_reads._Standby())
    monkeypatch.setattr(standby_reads, "_lag", lambda wanted: 0.25)
    yield
    second.close()
    del connections[ALIAS]


@pytest.fixture
def failing(transactional_db: None) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE FUNCTION fail(state text) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
                IF current_setting('default_transaction_read_only') = 'on' THEN
                    RAISE EXCEPTION 'failed' USING ERRCODE = state;
                END IF;
                RETURN 0;
            END $$
        """)
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION fail(text)")


@on_primary
def lose_standby() -> None:
    """End the session that this thread has with the standby."""
    connections[ALIAS].ensure_connection()
    backend = connections[ALIAS].connection.info.backend_pid
    assert fetch("SELECT pg_terminate_backend(%s, 10000)", [backend]) == [(True,)]


def test_a_report_reads_only_the_state_of_the_caller_from_the_primary(
    api: APIClient, make_link: MakeLink
) -> None:
    path = f"/api/analytics/{make_link()['_id']}"
    with (
        CaptureQueriesContext(connection) as on_primary,
        CaptureQueriesContext(connections[ALIAS]) as on_standby,
    ):
        response = api.get(path)
    assert (response.status_code, response[LAG]) == (200, "0.250")
    # Who calls, and what the standby needs.
    assert len(on_primary) == 2
    assert len(on_standby) > 2


@pytest.mark.parametrize(
    "path",
    [
        *("/api/urls", "/api/urls?search=example&sortBy=title", "/api/urls?tags=news&status=active&limit=1"),
        *("/api/urls?domainId=base&hasPassword=false", "/api/urls/count?groupBy=tag", "/api/urls/count"),
        *("/api/urls/stats", "/api/urls/deleted", "/api/tags"),
    ],
)
def test_lists_read_only_the_state_of_the_caller_from_the_primary(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, path: str
) -> None:
    make_link(tags=["news"])
    both = api, strange_api
    with override_settings(REPORTS_DATABASE_URL=""):
        expected = [client.get(path).json() for client in both]
    with CaptureQueriesContext(connection) as on_primary:
        response = api.get(path)
    assert (response.status_code, response[LAG], len(on_primary)) == (200, "0.250", 2)
    assert [client.get(path).json() for client in both] == expected


def test_a_standby_that_dies_between_the_statements_of_a_list_is_replaced(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = make_link(tags=["news"])["shortCode"]

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            lose_standby()
            return function(*args, **kwargs)

        return called

    monkeypatch.setattr(lists, "link_rows", dying(lists.link_rows))
    # By the ORM, and in a transaction of its own.
    monkeypatch.setattr(views, "count_domains", dying(views.count_domains))
    monkeypatch.setattr(listing, "_with_clicks", dying(listing._with_clicks))
    for path in ("/api/urls", "/api/urls/stats", "/api/tags?clicks=true"):
        monkeypatch.setattr(standby_reads, "_standby", standby_reads._Standby())
        response = api.get(path)
        assert (response.status_code, LAG in response) == (200, False)
        assert code in str(response.json()) or "news" in str(response.json())


def test_every_update_is_either_in_the_history_or_counted(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    path = f"/api/urls/{make_link(title='Own')['_id']}"

    def traces() -> tuple[int, int]:
        counted = OwnerTotals.objects.filter(owner=alice.workspace).aggregate(number=Sum("changes"))
        return Change.objects.filter(owner=alice.workspace).count(), counted["number"]

    # The key of the account.
    assert traces() == (1, 1)
    for fields, expected in (
        ({"title": "New"}, (2, 2)),
        ({"description": "New"}, (3, 2)),
        # Only their versions are new.
        ({"title": "New"}, (3, 3)),
        ({"tags": [], "description": "New"}, (3, 4)),
    ):
        assert api.put(path, fields).status_code == 200
        assert traces() == expected
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET updated_at = now()")
    assert traces() == (3, 5)


def test_a_lost_standby_is_replaced_in_the_middle_of_a_report(api: APIClient, make_link: MakeLink) -> None:
    path = f"/api/analytics/{make_link()['_id']}"
    lose_standby()
    response = api.get(path)
    assert (response.status_code, LAG in response) == (200, False)
    assert response.json()["data"]["totalClicks"] == 0
    # The next reports do not try it again.
    assert LAG not in api.get(path)


def test_an_export_continues_without_the_standby(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "BATCH", 1)
    codes = {make_link()["shortCode"] for _ in range(3)}
    response: Any = api.get("/api/urls/export?format=jsonl")
    assert response[LAG] == "0.250"
    chunks = iter(response.streaming_content)
    content = next(chunks)
    lose_standby()
    content += b"".join(chunks)
    assert len(content.splitlines()) == 3
    assert all(code.encode() in content for code in codes)


@pytest.mark.usefixtures("failing")
def test_conflicts_with_the_recovery_are_repeated_and_timeouts_are_not() -> None:
    for limits in ("", "SET LOCAL enable_seqscan = off"):
        with reading(current := Reading()):
            assert fetch_bounded(FAIL.format("40001"), {}, limits) == [(0, 1)]
        assert current.is_over
        with reading(current := Reading()), pytest.raises(ReportTooSlow):
            fetch_bounded(FAIL.format("57014"), {}, limits)
        assert not current.is_over


def test_writes_and_limits_use_the_primary() -> None:
    with reading(Reading()):
        lease = acquire_lease("reports", limit=1, seconds=60)
        assert lease is not None
        User.objects.create(email="ada@example.com", plan="free")
        assert [user.email for user in User.objects.all()] == ["ada@example.com"]
        release_lease(lease)
    with pytest.raises(InternalError) as refused:
        User.objects.using(ALIAS).update(first_name="Grace")
    assert isinstance(refused.value.__cause__, psycopg.errors.ReadOnlySqlTransaction)
