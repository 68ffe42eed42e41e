"""Limits concurrent expensive calls: per account over all hosts, and per process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore

from django.db import Error

from accounts.models import User
from common.errors import TooManyAttempts
from limits.rates import acquire_lease, release_lease

PER_ACCOUNT = 2
# Keeps one of a worker's four threads free for other requests, and bounds the worker's memory.
PER_PROCESS = 3
# A call whose worker was killed counts for this long. Every call finishes sooner.
LEASE_SECONDS = 120
_RETRY_SECONDS = 2

PROCESS_SLOTS = BoundedSemaphore(PER_PROCESS)


class TooManyAtOnce(TooManyAttempts):
    code = "too_many_at_once"
    message = "Too many calls of this kind are running. Try again when one of them has finished."

    def __init__(self, limit: int) -> None:
        super().__init__(_RETRY_SECONDS, limit=limit, window=_RETRY_SECONDS)


# For the OpenAPI description.
REFUSAL = TooManyAtOnce(PER_ACCOUNT)


@contextmanager
def costly_call(user: User) -> Iterator[None]:
    """Raises TooManyAtOnce without waiting. Enter it outside any transaction."""
    if not PROCESS_SLOTS.acquire(blocking=False):
        raise TooManyAtOnce(PER_PROCESS)
    try:
        lease = acquire_lease(f"costly calls of {user.pk}", limit=PER_ACCOUNT, seconds=LEASE_SECONDS)
        if lease is None:
            raise TooManyAtOnce(PER_ACCOUNT)
        try:
            yield
        finally:
            # If the database is unavailable, the lease expires.
            with suppress(Error):
                release_lease(lease)
    finally:
        PROCESS_SLOTS.release()
