"""Records that reach the pipeline through the database. They name visitors' addresses, so they are sealed."""

from __future__ import annotations

from django.conf import settings
from django.db import connection

from common.secrets import seal, unseal

# The second half of a statement whose first half claims a click.
ADD_CLAIMED = "INSERT INTO analytics_pendingrecord (record) SELECT %(record)s FROM claimed"
_SEALING = "click-records"


def sealed(payload: bytes) -> bytes:
    return seal(payload, purpose=_SEALING, context=b"", secret=settings.SECRET_KEY)


def opened(content: bytes) -> bytes:
    """Raises ValueError if none of the installation's secrets opens it."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    payload = unseal(bytes(content), purpose=_SEALING, context=b"", secrets=secrets)
    if payload is None:
        raise ValueError("sealed with a secret that is not known here")
    return payload


def add_pending(payload: bytes) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO analytics_pendingrecord (record) VALUES (%s)", [sealed(payload)])


def take_pending(limit: int) -> list[bytes]:
    """Sealed records, in their order; gone with the commit of the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH taken AS (
                DELETE FROM analytics_pendingrecord WHERE id IN (
                    SELECT id FROM analytics_pendingrecord ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
                ) RETURNING id, record
            ) SELECT record FROM taken ORDER BY id
            """,
            [limit],
        )
        return [bytes(record) for (record,) in cursor.fetchall()]
