"""The table of what an operator sees of each fault: `testing.failover.observing.table`."""

from __future__ import annotations

from collections import Counter

from testing.failover.observing import Row, Seen, table

DOWN = "503 database: the database does not respond, changes: none heard for … s"
LINE = "links.destinations: Another server has taken over (timeline …). All links will be read again."


def test_faults_that_look_alike_share_a_row_and_pending_alerts_are_told_apart() -> None:
    killed = Seen(
        Counter({"200": 9, DOWN: 3, "503 journal: it cannot be written": 1}),
        {"database_up": 0, "changes_unheard_seconds": 12.4},
        {"PostgresFailedOver"},
        {"ShortenerDatabaseDown", "PostgresFailedOver"},
        Counter({LINE: 1, "x: A group of 3 claims was rejected: why": 7}),
    )
    cut = Seen(
        Counter({DOWN: 2}), {"database_up": 0, "changes_unheard_seconds": 31}, set(), {"ShortenerCutOff"}
    )
    healthy = Seen(Counter({"200": 9}))
    rows = [
        Row(["dead"], (20, 5, 0), killed),
        Row(["slow"], (1, 1, 1), healthy),
        Row(["cut"], (3, 9, 1), cut),
    ]
    assert table(rows).splitlines()[2:] == [
        "| dead, cut | 20/9/1 | changes, database | `changes_unheard_seconds=31`, `database_up=0`"
        " | PostgresFailedOver, (CutOff, DatabaseDown) | `Another server has taken over` |",
        "| slow | 1/1/1 | 200 |  |  |  |",
    ]
