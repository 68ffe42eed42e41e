"""Runs the click pipeline immediately, in the process and the transaction of the test."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.test import APIClient

from analytics.counting.pipeline import Drainer
from analytics.journal.writer import journal


def drain() -> int:
    """Count every record in the journal, and return the number of records."""
    drainer = Drainer(settings.CLICKS_DIR)
    total = 0
    while batch_size := drainer.drain_batch():
        total += batch_size
    return total


def clicks(api: APIClient, link: dict[str, Any]) -> int:
    """The clicks of the link, after every record in the journal is counted."""
    drain()
    return api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"]


def close_journal() -> None:
    """Close and unlock the segment of this process, as if its worker had died. The next click opens another one."""
    own = journal()
    # A thread that still holds this journal opens a segment of its own instead of writing to a closed descriptor.
    with own._writing:
        segment, own._segment = own._segment, None
    if segment is not None:
        segment.close()
    journal.cache_clear()
