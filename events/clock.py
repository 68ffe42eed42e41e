"""Emits what no change causes: links that start or end, and keys that will expire."""

from __future__ import annotations

from django.db import transaction

from common.database import execute, fetch

# Of one transaction, which keeps changes of such times waiting.
_MOST = 2_000


def tick() -> None:
    """Emit everything that is due, each event exactly once, however many clocks run and are killed."""
    align_positions()
    while is_more_due():
        pass


def is_more_due(most: int = _MOST) -> bool:
    """Emit up to ``most`` events of each type, and return whether more are due."""
    with transaction.atomic():
        [(is_more,)] = fetch("SELECT events_tick(%s)", [most])
    return bool(is_more)


def align_positions() -> None:
    """Keep positions ascending after a failover or a restore. Call it before the service writes."""
    with transaction.atomic():
        execute("SELECT events_align()")
