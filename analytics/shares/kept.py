"""The reports of shares that were read a moment ago.

An address that is sent to a team has many readers at once, most of them behind one network address.
"""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import NamedTuple, TypeAlias

from django.utils import timezone

from accounts.admission import Admission
from analytics.models import Share
from analytics.shares.report import SharedReport, name_of, read_report
from common.bounded_cache import BoundedCache
from links.models import Link, SavedView

SECONDS = 10
_MOST = 64
# A report takes up to seconds. So readers of shares cannot occupy more than one of a worker's threads.
reading = Admission(1, 1, seconds=5)


class Kept(NamedTuple):
    """``until`` is a time of the monotonic clock."""

    report: SharedReport
    read_at: datetime
    until: float


# Of everything that decides what a share shows, so that a change of it shows at once.
_Key: TypeAlias = tuple[object, ...]
_kept: BoundedCache[_Key, Kept] = BoundedCache(_MOST, _MOST, lambda *_: 1)


def recent_report(share: Share, subject: SavedView | Link, reader: str) -> Kept:
    """A report of a share that may be read now, at most SECONDS old. ``reader`` waits as one caller of an `Admission`.

    Raises TooManyAtOnce, InvalidFields, NotFound or Unavailable.
    """
    selection = json.dumps(subject.report, sort_keys=True) if isinstance(subject, SavedView) else ""
    key = (share.public_id, share.period, share.timezone, name_of(subject), selection)
    if (kept := _current(key)) is not None:
        return kept
    with reading.admit(reader):
        # Another reader may have read it meanwhile.
        if (kept := _current(key)) is None:
            read_at, until = timezone.now(), time.monotonic() + SECONDS
            kept = Kept(read_report(share, subject), read_at, until)
            _kept.put(key, kept)
    return kept


def _current(key: _Key) -> Kept | None:
    kept = _kept.get(key)
    return kept if kept is not None and time.monotonic() < kept.until else None
