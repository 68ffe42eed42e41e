"""The gaps in this host's notifications, and how long it may still use what it read before them.

The server does not repeat the notifications of a gap. So the host may have missed a change to any link that it had
read before the gap ended, and it may use such a link for only STALE_SECONDS after the last contact before the gap.

The gaps are stored in the host's shared file (`common.host.state`). Gaps that begin within the same fraction of
STALE_SECONDS count as one, so that a flapping connection needs no more space.
"""

from __future__ import annotations

from django.conf import settings

from common.host import state
from common.host.state import GAPS

# The words of the shared file: for each gap its start and its end, then the end of the last gap that was dropped.
_DROPPED = 2 * GAPS


def note_gap(end: int) -> None:
    """Record a gap from the last contact until ``end``, in microseconds. Call it before ``state.note_heard``.

    A process killed in between changes nothing: the next call records a longer gap.
    """
    words, start = state.mapped().gaps, state.last_heard()
    # There is one slot more than fractions of STALE_SECONDS. So a gap that is overwritten began STALE_SECONDS ago or
    # more.
    fraction = max(1, settings.STALE_SECONDS * 1_000_000 // (GAPS - 1))
    slot = 2 * (start // fraction % GAPS)
    if words[slot] // fraction != start // fraction:
        words[_DROPPED] = max(words[_DROPPED], words[slot + 1])
        words[slot] = start
    words[slot + 1] = max(words[slot + 1], end)


def is_usable(read_at: int) -> bool:
    """Whether the host may still use what it began to read at ``read_at`` (`state.microseconds`)."""
    words = state.mapped().gaps
    if read_at < words[_DROPPED]:
        return False
    starts = [words[slot] for slot in range(0, 2 * GAPS, 2) if read_at < words[slot + 1]]
    if not starts:
        return True
    missing_since = max(read_at, min(starts))
    stale_seconds: int = settings.STALE_SECONDS
    return state.microseconds() - missing_since <= stale_seconds * 1_000_000
