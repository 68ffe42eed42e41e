"""Clicks that tests append to the journal, and their links."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from analytics.journal.records import Record, encode
from analytics.journal.writer import journal
from analytics.models import Kind
from links.models import Link
from testing.visitors.agents import FIREFOX

MakeLink = Callable[..., dict[str, Any]]
AMERICAN, BRITISH = "8.8.8.8", "212.58.244.20"


def pk(link: dict[str, Any]) -> int:
    return Link.objects.get(public_id=link["_id"]).pk


def journaled(link_id: int, moment: datetime | None = None, count: int = 1, **fields: Any) -> None:
    """Append clicks as a worker does, with the given time."""
    microseconds = time.time_ns() // 1000 if moment is None else int(moment.timestamp()) * 1_000_000
    record = Record(microseconds, link_id, Kind.CLICK, 0, AMERICAN, "", FIREFOX, "")._replace(**fields)
    for _ in range(count):
        journal().append(encode(record))
