"""The journal of this process: its failure, and its new records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from django.conf import settings
from django.test import override_settings

from analytics.journal.records import decode, read_frames
from analytics.journal.writer import SUFFIX, journal


@contextmanager
def failing_journal() -> Iterator[None]:
    """A journal whose folder is a file."""
    own = journal()
    journal.cache_clear()
    with override_settings(CLICKS_DIR=Path(__file__)):
        yield
    journal.cache_clear()
    with patch("analytics.journal.writer.Journal", return_value=own):
        journal()


def journal_sizes() -> dict[Path, int]:
    return {path: path.stat().st_size for path in settings.CLICKS_DIR.glob(f"*{SUFFIX}")}


def records_since(before: dict[Path, int]) -> dict[str, list[bytes]]:
    records: dict[str, list[bytes]] = {}
    # A segment that is full is followed by a new one, whose name is random.
    for path in sorted(journal_sizes(), key=lambda path: path not in before):
        with path.open("rb") as segment:
            segment.seek(before.get(path, 0))
            data = segment.read()
        frames = read_frames(data, len(data))
        if (frames[-1].end if frames else 0) != len(data):
            raise RuntimeError("The journal contains something that is not a record.")
        for framed in frames:
            records.setdefault(decode(framed.payload).address, []).append(framed.payload)
    return records
