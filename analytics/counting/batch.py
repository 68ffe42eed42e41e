"""One batch of records: what it read from the journal, and how it is counted or stored as a dead letter."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from django.db import DataError, connection, transaction

from analytics.counting.day_visitors import salts_of
from analytics.counting.days import choose_slot
from analytics.counting.enrichment import DAY_MICROSECONDS, Place, facts_of
from analytics.counting.ignored import without_ignored
from analytics.counting.raw_clicks import ClickTexts
from analytics.counting.rollups import add_to_tables
from analytics.counting.segments import skip_counted_copies
from analytics.counting.unknown_codes import add_unknown_codes
from analytics.journal.pending import open_record, seal_record
from analytics.journal.records import UNKNOWN_CODE, Corrupt, Fields, fields_of
from common.database import prepared_cursor

# A journal may wait for an unavailable database, but not for longer than this: an older time is wrong.
OLDEST_DAYS = 30


def with_bounded_times(records: Sequence[Fields]) -> list[Fields]:
    """Replace times in the future, or more than 30 days in the past, with the current time."""
    if not records:
        return []
    with prepared_cursor() as cursor:
        cursor.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
        [(now,)] = cursor.fetchall()
    oldest = now - OLDEST_DAYS * 86_400_000_000
    return [record if oldest <= record.time <= now else record._replace(time=now) for record in records]


# Larger batches cost hardly less per record, but more memory and longer locks.
BATCH = 20_000
# A transaction of this length blocks others only briefly. Smaller batches cost more per record.
BATCH_SECONDS = 1.0
SMALL_BATCH = 1_000

log = logging.getLogger(__name__)

_POISON = (DataError, ValueError, OverflowError)


class Uncountable(Exception):
    """A record of the batch cannot be counted; the transaction was rolled back."""


@dataclass
class Batch:
    """``pending`` holds encrypted records, ``payloads`` plain ones, ``offsets`` the new offsets by segment.

    ``read_to_end``: segments that this batch reads to their end. ``leaves_records``: some wait for the next batch,
    even if this one has room for more. ``lost`` and ``skipped``: the start and the end of empty and of damaged space.
    """

    pending: list[bytes]
    payloads: list[bytes] = field(default_factory=list)
    offsets: dict[uuid.UUID, int] = field(default_factory=dict)
    read_to_end: set[uuid.UUID] = field(default_factory=set)
    lost: dict[uuid.UUID, tuple[int, int]] = field(default_factory=dict)
    skipped: dict[uuid.UUID, tuple[int, int]] = field(default_factory=dict)
    finished: list[uuid.UUID] = field(default_factory=list)
    damaged: dict[uuid.UUID, Corrupt] = field(default_factory=dict)
    leaves_records: bool = False

    def __len__(self) -> int:
        return len(self.pending) + len(self.payloads)


def count(batch: Batch, places: dict[bytes, Place], texts: ClickTexts) -> None:
    """Count the records in the caller's transaction. Raises Uncountable: then roll the transaction back."""
    try:
        records = with_bounded_times(skip_counted_copies(_decoded(batch), batch.offsets))
        salts = salts_of({record.time // DAY_MICROSECONDS for record in records}) if records else {}
        unknown_codes = [record for record in records if record.kind == UNKNOWN_CODE]
        slot = choose_slot() if records else 0
        if unknown_codes:
            add_unknown_codes(unknown_codes, slot)
            records = [record for record in records if record.kind != UNKNOWN_CODE]
        if records:
            add_to_tables(facts_of(without_ignored(records), salts, places), slot, texts)
    except _POISON as error:
        raise Uncountable(str(error)) from error


def _decoded(batch: Batch) -> list[Fields]:
    """Decode all records of the batch. Raises ValueError."""
    return [fields_of(open_record(content)) for content in batch.pending] + list(
        map(fields_of, batch.payloads)
    )


def count_or_store_dead_letter(batch: Batch, places: dict[bytes, Place], texts: ClickTexts) -> None:
    """Count a batch of one record, or store the record as a dead letter."""
    offsets = dict(batch.offsets)
    try:
        with transaction.atomic():
            count(batch, places, texts)
    except Uncountable as reason:
        log.error("A record could not be counted; stored as a dead letter: %s", reason)
        batch.offsets = offsets
        # Mark the origin, because the journal may hold another copy of the record.
        with suppress(ValueError):
            skip_counted_copies(_decoded(batch), batch.offsets)
        contents = [*batch.pending, *map(seal_record, batch.payloads)]
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO analytics_deadletter (record, reason) SELECT unnest(%s::bytea[]), %s",
                [contents, str(reason)],
            )


def next_limit(limit: int, maximum: int, counted: int, seconds: float) -> int:
    """The limit of the next batch, after one with this ``limit`` counted so many records in ``seconds``.

    On a busy machine, smaller batches keep the transactions short.
    """
    limit = min(maximum, 2 * limit)
    if seconds <= BATCH_SECONDS:
        return limit
    return min(limit, max(SMALL_BATCH, int(counted * BATCH_SECONDS / seconds)))
