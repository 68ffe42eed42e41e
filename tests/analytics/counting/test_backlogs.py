"""A drainer's session keeps the plans of its statements: those for a few rows must do for a backlog of many links."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address

import pytest
from django.db import connection, transaction

from accounts.services import NewAccount
from analytics.counting.batch import Batch, count
from analytics.counting.raw_clicks import ClickTexts
from analytics.journal.records import Record, encode
from analytics.models import Kind
from links.models import ClickCounter

MANY = 60_000
TIME = 1_770_000_000_000_000
ADDRESSES = [str(ip_address("198.18.0.0") + number) for number in range(14)]


def count_clicks(links: Iterable[int], address: str) -> None:
    records = [
        Record(TIME, link, kind, int(kind == Kind.CLICK), address, "", "Mozilla/5.0", "")
        for link in links
        for kind in (Kind.CLICK, Kind.CRAWLER)
    ]
    with transaction.atomic():
        count(Batch(pending=[], payloads=[encode(record) for record in records]), {}, ClickTexts())


def add_counters(owner: int) -> None:
    """Counters without their links, to save the time."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "INSERT INTO links_clickcounter (link_id, owner_id, clicks)"
            " SELECT id, %s, 0 FROM generate_series(1, %s) id",
            [owner, MANY],
        )


@pytest.mark.slow
def test_a_session_that_counted_single_clicks_counts_a_backlog_of_many_links_in_time(
    alice: NewAccount,
) -> None:
    """A plan that was made for a table of a few rows reads the whole table, or the whole batch, for each link."""
    add_counters(alice.user.pk)
    with connection.cursor() as cursor:
        # The drainer's timeout.
        cursor.execute("SET LOCAL statement_timeout = '60s'")
        count_clicks([1], ADDRESSES[0])
        cursor.execute("ANALYZE")
        # PostgreSQL keeps a plan of a prepared statement from its sixth execution on.
        for address in ADDRESSES[1:11]:
            count_clicks([1], address)
        for address in ADDRESSES[11:]:
            count_clicks(range(1, MANY + 1), address)
    assert ClickCounter.objects.filter(clicks=3).count() == MANY - 1
