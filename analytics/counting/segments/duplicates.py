"""Records that the journal holds twice: at their origin, where a sync failed, and in the segment of the rewrite."""

from __future__ import annotations

import uuid

from analytics.counting.segments.losses import losses_of, save_loss
from analytics.counting.segments.segment_rows import add_segments, lock_segments
from analytics.journal.records import Record, encode, frame


def skip_counted_copies(records: list[Record], offsets: dict[uuid.UUID, int]) -> list[Record]:
    """Skip rewritten records that were counted at their origin, and mark the others as counted there.

    ``offsets`` holds this batch's new offsets by segment; the offsets of origins are added to it. If the space at a
    record's origin is a loss (see `analytics.counting.segments.losses`), this database did not count it there.
    """
    segments = {record.origin.segment for record in records if record.origin is not None}
    if not segments:
        return records
    add_segments(sorted(segments))
    counted_up_to = lock_segments(sorted(segments), wait=True) | offsets
    losses = losses_of(segments)
    kept = []
    for record in records:
        if record.origin is not None:
            segment, end = record.origin
            loss = losses.get(segment)
            if end > counted_up_to[segment]:
                counted_up_to[segment] = offsets[segment] = end
            elif loss is not None and loss.start < end <= loss.end:
                # Copies keep the order of their origins, so the remaining loss starts here.
                loss.start = end
                loss.size -= len(frame(encode(record)))
            else:
                continue
        kept.append(record)
    for segment, loss in losses.items():
        save_loss(segment, loss)
    return kept
