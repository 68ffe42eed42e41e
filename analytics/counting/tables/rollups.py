"""Writes a batch of clicks to the tables: one COPY, then statements over the whole batch.

Concurrent drainers add to separate rows of the sums (see `analytics.counting.tables.slots`). They still share two
kinds of rows: a visitor of a link, because a unique click must be counted once, and a link's counter. These come late,
so that another transaction waits only for the end of a batch. The rows that requests also lock come last: the links'
counters and their owners' totals. Every statement writes its rows in the order of their keys, and the statements keep
their order: concurrent batches cannot deadlock.

Clicks of branches come after the visitors, because only then is it known which of these clicks are unique. No earlier
statement writes the rows of their dimensions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from django.db import connection

from analytics.counting.tables import rollup_statements as sql
from analytics.counting.tables.enrichment import DAY_MICROSECONDS, Facts
from analytics.counting.tables.lifetime_counts import closed_day
from analytics.counting.tables.salts import date_of
from analytics.models import Kind
from links.click_counters import add_clicks, existing_links

_ROWS = ("analytics_click", "analytics_dayvisitor")
_SUMS = (
    "analytics_daytotal", "analytics_quartertotal", "analytics_daycount", "analytics_lifecount",
    "analytics_monthcount",
)  # fmt: skip


def add_to_tables(batch: Sequence[Facts], slot: int) -> None:
    """Count requests in every table, in the caller's transaction, and leave out those of deleted links.

    ``slot``: see `analytics.counting.tables.slots`.
    """
    ids = {facts.link_id for facts in batch}
    clicks = Counter(facts.link_id for facts in batch if facts.kind == Kind.CLICK and not facts.counted)
    existing = existing_links(ids)
    with connection.cursor() as cursor:
        # With the default, grouping a batch would spill to the disk.
        cursor.execute("SET LOCAL work_mem = '64MB'")
        cursor.execute(sql.CREATE_BATCH)
        # Django translates the errors of statements, but not of COPY.
        with connection.wrap_database_errors, cursor.copy(sql.COPY_BATCH) as copy:
            for facts in batch:
                if facts.link_id in existing:
                    copy.write_row(facts)
        cursor.execute(sql.ADD_CLICKS)
        closed = closed_day(min(facts.time for facts in batch) // DAY_MICROSECONDS)
        parameters = {"slot": slot, "closed": closed}
        cursor.execute(sql.ADD_VALUES.of(closed), parameters)
        if any(facts.branch_number for facts in batch):
            cursor.execute(sql.ADD_TOTALS_OF_BRANCHES, {"slot": slot})
            cursor.execute(sql.ADD_CLICKS_AND_VALUES_OF_BRANCHES.of(closed), parameters)
        else:
            cursor.execute(sql.ADD_TOTALS, {"slot": slot})
        # Locks the counters: from here on, a link can only be deleted after this commit.
        deleted = existing - add_clicks({link_id: clicks[link_id] for link_id in existing})
        if deleted:
            for table in _ROWS:
                cursor.execute(f"DELETE FROM {table} WHERE link_id = ANY(%s)", [list(deleted)])
            # Open batches hold the rows of other slots: waiting could deadlock. Housekeeping deletes the rest.
            for table in _SUMS:
                cursor.execute(
                    f"DELETE FROM {table} WHERE link_id = ANY(%s) AND slot = %s",
                    [list(deleted), slot],
                )


def add_unknown_codes(hits: Iterable[tuple[int, int]], slot: int) -> None:
    """``hits`` are (domain, day since 1970)."""
    counted = Counter(hits)
    if counted:
        with connection.cursor() as cursor:
            cursor.execute(
                sql.ADD_UNKNOWN_CODES,
                [
                    slot,
                    [domain for domain, _ in counted],
                    [date_of(day) for _, day in counted],
                    list(counted.values()),
                ],
            )
