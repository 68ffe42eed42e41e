"""Records that reach the pipeline through the database, encrypted because they hold visitors' addresses."""

from __future__ import annotations

from django.conf import settings

from common.database import prepared_cursor
from common.secrets import seal, unseal

# The second half of a statement whose first half claims a click.
ADD_CLAIMED = "INSERT INTO analytics_pendingrecord (record) SELECT %(record)s FROM claimed"
# The same for a group of claims.
ADD_CLAIMED_GROUP = "INSERT INTO analytics_pendingrecord (record) SELECT record FROM claimed"
_SEALING = "click-records"


def seal_record(payload: bytes) -> bytes:
    return seal(payload, purpose=_SEALING, context=b"", secret=settings.SECRET_KEY)


def open_record(content: bytes) -> bytes:
    """Raises ValueError if none of the installation's secret keys decrypts it."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    payload = unseal(bytes(content), purpose=_SEALING, context=b"", secrets=secrets)
    if payload is None:
        raise ValueError("encrypted with an unknown secret key")
    return payload


def add_pending(payload: bytes) -> None:
    # No other place is left.
    with prepared_cursor(may_lose=True) as cursor:
        cursor.execute("INSERT INTO analytics_pendingrecord (record) VALUES (%s)", [seal_record(payload)])


def take_pending(limit: int) -> list[bytes]:
    """Deletes at most ``limit`` records in the caller's transaction and returns them, encrypted, oldest first."""
    with prepared_cursor() as cursor:
        # MATERIALIZED: an inlined subquery can run once per outer row, and each run locks ``limit`` more rows.
        cursor.execute(
            """
            WITH chosen AS MATERIALIZED (
                SELECT id FROM analytics_pendingrecord ORDER BY id LIMIT %s::integer FOR UPDATE SKIP LOCKED
            ), taken AS (
                DELETE FROM analytics_pendingrecord p USING chosen WHERE p.id = chosen.id RETURNING p.id, p.record
            ) SELECT record FROM taken ORDER BY id
            """,
            [limit],
        )
        return [bytes(record) for (record,) in cursor.fetchall()]
