"""Limits the stored responses of an account's Idempotency-Keys, in bytes.

Every stored response stays valid for 24 hours. At the limit, new keys are refused and nothing is evicted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock

from django.conf import settings
from django.db import connection

from accounts.models import User
from common.errors import TooManyAttempts

KEPT_HOURS = 24
MB = 1_000_000
# A process queries an account's total this often, and before every refusal. In between it adds its own responses.
REFRESH_SECONDS = 60.0
_MAX_ACCOUNTS = 10_000

_KEPT = f"""
SELECT coalesce(sum(octet_length(sealed)), 0)::bigint,
    ceil(extract(epoch FROM min(created_at) + interval '{KEPT_HOURS} hours' - clock_timestamp()))::int
FROM accounts_storedresponse WHERE owner_id = %s AND created_at > now() - interval '{KEPT_HOURS} hours'
"""  # noqa: S608 # put together from constants


class StoredResponsesFull(TooManyAttempts):
    code = "idempotency_full"
    message = (
        "The stored responses of this account's Idempotency-Keys have reached their size limit. "
        "Send the request without a key, or retry later."
    )

    def __init__(self, retry_after: int, *, limit: int) -> None:
        super().__init__(retry_after, limit=limit, window=KEPT_HOURS * 3600)


@dataclass(slots=True)
class _Sum:
    queried_at: float
    bytes: int


_sums: dict[int, _Sum] = {}
_lock = Lock()


def require_space(owner: User) -> None:
    """Raises StoredResponsesFull if the stored responses take IDEMPOTENCY_MB or more.

    The last response may exceed the limit, and so may responses that other processes added since the last query.
    """
    limit = settings.IDEMPOTENCY_MB
    if not limit:
        return
    now = time.monotonic()
    total = _sums.get(owner.pk)
    if total is not None and total.bytes < limit * MB and now - total.queried_at < REFRESH_SECONDS:
        return
    with connection.cursor() as cursor:
        cursor.execute(_KEPT, [owner.pk])
        stored_bytes, oldest_expires_in = cursor.fetchone()
    with _lock:
        if len(_sums) >= _MAX_ACCOUNTS:
            _sums.clear()
        _sums[owner.pk] = _Sum(now, stored_bytes)
    if stored_bytes >= limit * MB:
        raise StoredResponsesFull(oldest_expires_in, limit=limit)


def add(owner: User, size: int) -> None:
    with _lock:
        total = _sums.get(owner.pk)
        if total is not None:
            total.bytes += size
