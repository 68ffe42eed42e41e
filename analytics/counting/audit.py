"""Compares counters and roll-ups with the clicks that they count, and reports every difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper

from analytics.counting.audit_checks import CHECKS, Check
from analytics.counting.segments.segment_rows import offset_of
from analytics.journal.pending import open_record
from analytics.journal.reader import DAMAGED_SUFFIX, segments
from analytics.journal.records import COUNTED, decode
from analytics.models import Dimension, Kind
from analytics.pipeline_models import JournalLoss


def differences() -> Iterator[str]:
    """The caller's transaction must provide one consistent snapshot. Clicks of deleted links are not compared."""
    with connection.cursor() as cursor:
        values = checked_values(cursor)
        for check in CHECKS:
            cursor.execute(f"{differences_query(check)} ORDER BY {', '.join(check.keys)}", values)
            for *subject, left, right in cursor.fetchall():
                yield f"{describe(check, subject)}: {check.left_name} {left}, {check.right_name} {right}"


def losses() -> Iterator[str]:
    """Clicks missing from both a restored database and the journals, and damaged clicks. They are no differences."""
    for loss in JournalLoss.objects.filter(size__gt=0).order_by("segment_id"):
        last = "the last of them " if loss.size > loss.end - loss.start else ""
        yield (
            f"segment {loss.segment_id}: {loss.size} bytes of clicks are lost, {last}between byte {loss.start}"
            f" and {loss.end}"
        )


def damaged_segments(folder: Path) -> Iterator[str]:
    """The segments of this host that were set aside, and how much of them is not counted."""
    for segment in segments(folder, DAMAGED_SUFFIX):
        with segment.open() as file:
            if file is not None:
                offset = offset_of(segment.id)
                yield (
                    f"segment {segment.id}: damaged; {max(0, file.size - offset)} bytes from byte {offset} on are not"
                    f" counted. `manage.py drain_clicks --damaged` counts what is intact of {segment.path}"
                )


def checked_values(cursor: CursorWrapper) -> dict[str, Any]:
    """The parameters of the queries."""
    claimed = _claimed(cursor)
    return {
        "claimed_links": list(claimed),
        "claimed": list(claimed.values()),
        "first": _first_day(cursor),
    }


def differences_query(check: Check) -> str:
    """Its rows: the keys, and the two figures ``left`` and ``right``."""
    existing = "AND link_id IN (SELECT link_id FROM links_clickcounter)" if check.keys[0] == "link_id" else ""
    return f"""
    SELECT {", ".join(check.keys)}, coalesce(l.n, 0) AS "left", coalesce(r.n, 0) AS "right"
    FROM ({check.left}) l FULL JOIN ({check.right}) r USING ({", ".join(check.keys)})
    WHERE coalesce(l.n, 0) {check.differ} coalesce(r.n, 0) {existing}
    """  # noqa: S608 # built from constants


def describe(check: Check, subject: Sequence[Any]) -> str:
    """``subject``: the values of the check's keys."""
    return " ".join(_display_name(key, value) for key, value in zip(check.keys, subject, strict=True))


def _display_name(key: str, value: Any) -> str:
    match key:
        case "link_id":
            return f"link {value}"
        case "owner_id":
            return f"owner {value}"
        case "dimension":
            return Dimension(value).label.lower()
    return str(value)


def _claimed(cursor: CursorWrapper) -> Counter[int]:
    """Pending claimed clicks by link: the counter includes them, the other tables do not yet."""
    cursor.execute("SELECT record FROM analytics_pendingrecord")
    records = [decode(open_record(content)) for (content,) in cursor.fetchall()]
    return Counter(
        record.subject for record in records if record.kind == Kind.CLICK and record.flags & COUNTED
    )


def _first_day(cursor: CursorWrapper) -> Any:
    """The first day of which all raw clicks are still stored."""
    if settings.CLICK_RETENTION_DAYS:
        cursor.execute("SELECT date '1970-01-01' + min(minute) / 1440 FROM analytics_rawclick")
        (oldest,) = cursor.fetchone() or (None,)
        if oldest is not None:
            return oldest + timedelta(days=1)
    return "-infinity"
