"""The owners' totals, which triggers maintain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.services import NewAccount
from links.clicks import add_clicks
from links.models import ClickCounter, Link, OwnerTotals

MANY = 60_000


@pytest.mark.django_db(transaction=True)
def test_a_session_that_counted_clicks_of_one_link_counts_a_backlog_of_many_in_time(
    alice: NewAccount, make_link: Callable[..., dict[str, Any]]
) -> None:
    """A plan that was made for a table of one row reads the whole table for each link."""
    link = Link.objects.get(public_id=make_link()["_id"])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE links_clickcounter")
    # PostgreSQL keeps a plan of a prepared statement from its sixth execution on.
    for _ in range(10):
        with transaction.atomic():
            add_clicks({link.pk: 1})
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "INSERT INTO links_clickcounter (link_id, owner_id, clicks)"
            " SELECT %s + id, %s, 0 FROM generate_series(1, %s) id",
            [link.pk, alice.user.pk, MANY],
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
        # The drainer's timeout.
        cursor.execute("SET LOCAL statement_timeout = '60s'")
        numbers = range(link.pk, link.pk + MANY + 1)
        assert add_clicks(dict.fromkeys(numbers, 2)).keys() == set(numbers)
        transaction.set_rollback(True)


def test_a_session_that_counted_one_click_counts_a_backlog_of_many_links_in_time(alice: NewAccount) -> None:
    """The session keeps the trigger's plan for one row. A nested loop over all changed rows would take minutes."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Counters without their links, to save the time.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "INSERT INTO links_clickcounter (link_id, owner_id, clicks)"
            " SELECT id, %s, 0 FROM generate_series(1, %s) id",
            [alice.user.pk, MANY],
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
        # The drainer's timeout.
        cursor.execute("SET LOCAL statement_timeout = '60s'")
        add_clicks({1: 1})
        add_clicks(dict.fromkeys(range(1, MANY + 1), 2))
        assert ClickCounter.objects.filter(clicks=2).count() == MANY - 1
        totals = OwnerTotals.objects.filter(owner=alice.workspace).values_list("clicks", flat=True)
        assert sum(totals) == 1 + 2 * MANY
        transaction.set_rollback(True)
