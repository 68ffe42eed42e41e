"""Counts again from the clicks what is kept as numbers, and tells every difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper

from analytics.audit_checks import CHECKS, DAY, Check
from analytics.models import Dimension, Kind
from analytics.pending import opened
from analytics.records import COUNTED, decode


def differences() -> Iterator[str]:
    """In the caller's transaction, which must see one state throughout. Clicks of deleted links are not compared."""
    with connection.cursor() as cursor:
        claimed = _claimed(cursor)
        values = {
            "claimed_links": list(claimed),
            "claimed": list(claimed.values()),
            "first": _first_day(cursor),
        }
        for check in CHECKS:
            yield from _differences(cursor, check, values)


def _differences(cursor: CursorWrapper, check: Check, values: Mapping[str, Any]) -> Iterator[str]:
    keys = ", ".join(check.keys)
    existing = "AND link_id IN (SELECT link_id FROM links_clickcounter)" if check.keys[0] == "link_id" else ""
    cursor.execute(
        f"""
        SELECT {keys}, coalesce(l.n, 0), coalesce(r.n, 0)
        FROM ({check.left}) l FULL JOIN ({check.right}) r USING ({keys})
        WHERE coalesce(l.n, 0) {check.differ} coalesce(r.n, 0) {existing} ORDER BY {keys}
        """,  # noqa: S608 # put together from the constants above
        values,
    )
    for *subject, left, right in cursor.fetchall():
        named = [_named(key, value) for key, value in zip(check.keys, subject, strict=True)]
        yield f"{' '.join(named)}: {check.left_name} {left}, {check.right_name} {right}"


def _named(key: str, value: Any) -> str:
    match key:
        case "link_id":
            return f"link {value}"
        case "owner_id":
            return f"owner {value}"
        case "dimension":
            return Dimension(value).label.lower()
    return str(value)


def _claimed(cursor: CursorWrapper) -> Counter[int]:
    """The clicks, by link, that are in the counter already and wait for the pipeline with all else."""
    cursor.execute("SELECT record FROM analytics_pendingrecord")
    records = [decode(opened(content)) for (content,) in cursor.fetchall()]
    return Counter(each.subject for each in records if each.kind == Kind.CLICK and each.flags & COUNTED)


def _first_day(cursor: CursorWrapper) -> Any:
    """The first day whose single clicks are all kept."""
    if settings.CLICK_RETENTION_DAYS:
        cursor.execute(f"SELECT min({DAY}) FROM analytics_click")  # noqa: S608 # a constant
        (oldest,) = cursor.fetchone() or (None,)
        if oldest is not None:
            return oldest + timedelta(days=1)
    return "-infinity"
