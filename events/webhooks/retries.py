"""When a failed delivery is tried again, and when an endpoint has failed for too long."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_HOUR = 3600
# Seconds before each attempt; the first follows the event at once.
DELAYS = (0, 5, 300, 1800, *(hours * _HOUR for hours in (2, 5, 10, 14, 20, 24)))
# Attempts come up to this part later, so that the deliveries of an outage do not return all at once.
JITTER = 0.1
# An endpoint may ask for at most this wait.
MOST_WAIT = timedelta(hours=24)
DISABLED_AFTER = timedelta(days=5)
# Longer than all attempts of a message together, so that an endpoint with few messages is not forgiven between two.
FORGOTTEN_AFTER = timedelta(days=5)


def delay_after(attempts: int) -> timedelta | None:
    """How long a delivery waits after so many failed attempts. None: it has failed."""
    if attempts >= len(DELAYS):
        return None
    return timedelta(seconds=DELAYS[attempts] * random.uniform(1, 1 + JITTER))  # noqa: S311 # needs no secrecy


def requested_wait(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """The wait that ``Retry-After`` asks for, up to `MOST_WAIT`. None: it asks for none, or is malformed."""
    value = next((text.strip() for name, text in headers.items() if name.lower() == "retry-after"), "")
    if value.isascii() and value.isdigit():
        return timedelta(seconds=min(int(value[:9]), MOST_WAIT.total_seconds()))
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    wait = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    return min(wait, MOST_WAIT) if wait > timedelta(0) else None
