"""Slots of the rows that concurrent drainers share: each drainer adds to rows of its own, so none waits for another.

The rows of a sum are one per slot, and readers add them up. A single drainer always writes slot 0, so a sum has more
rows only if several drainers counted at the same time.
"""

from __future__ import annotations

from django.db import connection

SLOTS = 8
# Marks the clicks that another service counted. No drainer uses it; see `analytics.counting.tables.imported_days`.
IMPORTED = -1
_LOCK = 5_823_143
_CHOOSE = f"""
SELECT slot FROM generate_series(0, {SLOTS - 1}) slot WHERE pg_try_advisory_xact_lock({_LOCK}, slot) LIMIT 1
"""  # noqa: S608 # built from constants
_WAIT = f"""
WITH slot AS MATERIALIZED (SELECT pg_backend_pid() % {SLOTS} AS number)
SELECT number FROM slot, pg_advisory_xact_lock({_LOCK}, number)
"""  # noqa: S608 # built from constants


def choose_slot() -> int:
    """The first slot that no other transaction has chosen. The caller's transaction keeps it until its end.

    If more transactions than SLOTS run at the same time, some wait for each other: a slot never has two.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CHOOSE)
        slots = cursor.fetchall()
        if not slots:
            cursor.execute(_WAIT)
            slots = cursor.fetchall()
    return int(slots[0][0])
