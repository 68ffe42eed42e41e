"""A backlog of clicks in the journal, which a drainer will count."""

from __future__ import annotations

from pathlib import Path

from analytics.journal.records import encode
from analytics.journal.writer import Journal
from bench.load.traffic import Traffic

SEGMENTS = 20


def write_backlog(folder: Path, traffic: Traffic, clicks: int) -> None:
    """Write ``clicks`` records of ``traffic`` to segments in ``folder``, as SEGMENTS workers do that have ended."""
    for number in range(SEGMENTS):
        journal = Journal(folder, "process")
        share = clicks // SEGMENTS + (number < clicks % SEGMENTS)
        journal.append(*(encode(record) for record in traffic.records(share)))
        if journal._segment is not None:
            journal._segment.close()
