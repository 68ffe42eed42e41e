"""While a long transaction such as pg_dump reads the clicks, counting continues and housekeeping is postponed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone

from analytics.counting.retention import delete_old_clicks, ensure_partition, ensure_partitions
from analytics.models import Click
from common import database
from shortener_project.management.commands.housekeeping import run_all_steps
from testing.analytics.clicks import drain
from testing.polling import DEADLINE, eventually
from tests.analytics.counting.retention.partitions import click, month, partitions
from tests.emptying import restore_database

pytestmark = pytest.mark.django_db(transaction=True)
MakeLink = Callable[..., dict[str, Any]]
OLD_DAYS = 100
LOCK_WAITS = """
SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND state = 'active'
"""


def dump_connection() -> psycopg.Connection[Any]:
    server = os.environ["DATABASE_URL"].rpartition("/")[0]
    return psycopg.connect(f"{server}/{connection.settings_dict['NAME']}")


@contextmanager
def dump_under_way() -> Iterator[psycopg.Connection[Any]]:
    """Hold in a transaction, like pg_dump, ACCESS SHARE on the table and all its partitions."""
    with dump_connection() as dump:
        dump.execute("LOCK TABLE analytics_rawclick IN ACCESS SHARE MODE")
        yield dump


def replace_pause(monkeypatch: pytest.MonkeyPatch, pause: Callable[[float], None]) -> None:
    """Call ``pause`` instead of the pause between two attempts. Other threads of this process still sleep."""
    monkeypatch.setattr(database, "time", SimpleNamespace(sleep=pause))


def old_partition() -> str:
    moment = timezone.now() - timedelta(days=OLD_DAYS)
    click(moment)
    ensure_partitions()
    assert month(moment) in partitions()
    return month(moment)


def test_clicks_are_counted_while_a_partition_drop_is_blocked(
    visitor: Client, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, link = old_partition(), make_link()
    counted = []

    def count_meanwhile(_: float) -> None:
        visitor.get(f"/{link['shortCode']}")
        counted.append(drain())

    replace_pause(monkeypatch, count_meanwhile)
    with dump_under_way(), pytest.raises(OperationalError, match="lock timeout"):
        delete_old_clicks(30)

    assert counted == [1] * (database.LOCK_ATTEMPTS - 1)
    assert name in partitions()
    delete_old_clicks(30)
    assert name not in partitions()
    assert Click.objects.count() == len(counted)


def test_the_drop_succeeds_when_the_dump_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    name = old_partition()
    pauses: list[float] = []

    with dump_under_way() as dump:

        def end_dump(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 2:
                dump.rollback()

        replace_pause(monkeypatch, end_dump)
        delete_old_clicks(30)

    assert pauses == [database.LOCK_PAUSE_SECONDS] * 2
    assert name not in partitions()


@pytest.mark.slow
def test_insert_queued_behind_the_drop_waits_only_briefly(visitor: Client, make_link: MakeLink) -> None:
    old_partition()
    link = make_link()
    failures: list[Exception] = []

    def drop() -> None:
        try:
            delete_old_clicks(30)
        except OperationalError as error:
            failures.append(error)
        finally:
            connection.close()

    with dump_under_way():
        housekeeping = threading.Thread(target=drop)
        housekeeping.start()
        while housekeeping.is_alive():
            visitor.get(f"/{link['shortCode']}")
            assert drain() == 1
        housekeeping.join()

    assert len(failures) == 1


def test_other_housekeeping_steps_continue(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.CLICK_RETENTION_DAYS = 30
    old_partition()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO analytics_daysalt (day, salt) VALUES (now()::date - 5, 'x')")
    replace_pause(monkeypatch, lambda _: None)

    with dump_under_way():
        assert isinstance(run_all_steps(), OperationalError)

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM analytics_daysalt WHERE day < now()::date - 2")
        assert cursor.fetchall() == [(0,)]
    assert run_all_steps() is None


def test_clicks_that_arrive_while_their_partition_is_created_are_counted(
    visitor: Client, make_link: MakeLink
) -> None:
    link = make_link()
    visitor.get(f"/{link['shortCode']}")
    attached, is_waiting = threading.Event(), threading.Event()

    def create_partitions() -> None:
        try:
            with transaction.atomic():
                ensure_partition(timezone.now().date().replace(day=1))
                attached.set()
                is_waiting.wait(DEADLINE)
        finally:
            connection.close()

    def wait_for_drainer() -> None:
        with dump_connection() as observer:
            # A transaction sees one snapshot of pg_stat_activity.
            observer.autocommit = True
            eventually(lambda: observer.execute(LOCK_WAITS).fetchone())
        is_waiting.set()

    threads = [threading.Thread(target=create_partitions), threading.Thread(target=wait_for_drainer)]
    threads[0].start()
    assert attached.wait(DEADLINE)
    threads[1].start()
    call_command("drain_clicks", once=True)
    for thread in threads:
        thread.join()
    assert Click.objects.count() == 1
    assert month(timezone.now()) in partitions()


def test_partitions_of_a_test_do_not_outlive_it() -> None:
    ensure_partitions()
    assert month(timezone.now()) in partitions()

    restore_database(None)

    assert set(partitions()) == {"analytics_rawclick_default"}
