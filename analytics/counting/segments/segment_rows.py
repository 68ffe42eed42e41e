"""The committed offset of each segment: the pipeline counts exactly once because of these rows."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

from django.db import connection

_LOCK = 'SELECT id, "offset" FROM analytics_segment WHERE id = ANY(%s) ORDER BY id FOR UPDATE'


def add_segments(identifiers: Sequence[uuid.UUID]) -> None:
    """Insert missing rows. Call it in a separate, short transaction, so that no other drainer waits for it."""
    if not identifiers:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO analytics_segment (id) SELECT unnest(%s::uuid[]) ORDER BY 1 ON CONFLICT DO NOTHING",
            [list(identifiers)],
        )


def lock_segments(identifiers: Sequence[uuid.UUID], *, wait: bool = False) -> dict[uuid.UUID, int]:
    """Lock rows until the transaction ends, and return their offsets by id.

    With ``wait`` it locks all of them, otherwise only those that no other drainer has locked.
    """
    if not identifiers:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_LOCK if wait else f"{_LOCK} SKIP LOCKED", [list(identifiers)])
        return dict(cursor.fetchall())


def offset_of(identifier: uuid.UUID) -> int:
    """The committed offset, without a lock; 0 without a row."""
    with connection.cursor() as cursor:
        cursor.execute('SELECT "offset" FROM analytics_segment WHERE id = %s', [identifier])
        rows = cursor.fetchall()
    return rows[0][0] if rows else 0


def advance_segments(offsets: Mapping[uuid.UUID, int]) -> None:
    if not offsets:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE analytics_segment s SET "offset" = new.place
            FROM unnest(%s::uuid[], %s::bigint[]) new (id, place) WHERE s.id = new.id
            """,
            [list(offsets), list(offsets.values())],
        )


def finish_segments(identifiers: Sequence[uuid.UUID]) -> None:
    if not identifiers:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE analytics_segment SET finished_at = now() WHERE id = ANY(%s)", [list(identifiers)]
        )
