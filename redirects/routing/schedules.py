"""Weekly schedules and periods: when they are open, and when that changes next.

Moments are seconds since 1970. A schedule follows the wall clock of its time zone. An hour that daylight-saving time
skips is in no schedule, and one that it repeats is in the schedule both times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache
from math import inf
from typing import Any
from zoneinfo import ZoneInfo

from links.fields import DAYS

_DAY = timedelta(days=1)
# Each opening recurs after a week.
_HORIZON_DAYS = 8
_WEEK = 7 * 86_400


class Period:
    """From ``since`` until before ``until``."""

    __slots__ = ("_since", "_until")

    def __init__(self, raw: Mapping[str, str]) -> None:
        self._since = _seconds(raw.get("from"), -inf)
        self._until = _seconds(raw.get("until"), inf)

    def is_open(self, now: float) -> bool:
        return self._since <= now < self._until

    def next_change(self, now: float) -> float:
        return min((moment for moment in (self._since, self._until) if moment > now), default=inf)


class Schedule:
    """On ``days``, from the time ``from`` until before ``until``. If ``until`` is not later, the schedule ends on the
    day after the one on which it starts: ``00:00`` to ``00:00`` is a whole day.
    """

    __slots__ = ("_closes", "_days", "_is_overnight", "_opens", "_zone")

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._days = frozenset(map(DAYS.index, raw["days"]))
        self._opens = time.fromisoformat(raw["from"])
        self._closes = time.fromisoformat(raw["until"])
        self._is_overnight = self._closes <= self._opens
        self._zone = _zone(raw["timezone"])

    def is_open(self, now: float) -> bool:
        local = datetime.fromtimestamp(now, self._zone)
        clock, day = local.time(), local.weekday()
        if not self._is_overnight:
            return day in self._days and self._opens <= clock < self._closes
        return (day in self._days and clock >= self._opens) or (
            (day - 1) % 7 in self._days and clock < self._closes
        )

    def next_change(self, now: float) -> float:
        """Return the first moment after ``now`` at which the schedule opens or closes, or might do so."""
        boundary = self._next_boundary(now)
        # When the zone's offset changes, the wall clock jumps, possibly over a boundary.
        for week in range(int(now // _WEEK), int(boundary // _WEEK) + 1):
            change = _offset_change(self._zone, week)
            if change is not None and now < change < boundary:
                return change
        return boundary

    def _next_boundary(self, now: float) -> float:
        today = datetime.fromtimestamp(now, self._zone).date()
        for number in range(-1, _HORIZON_DAYS):
            day = today + timedelta(days=number)
            # No boundary of a later day is earlier than one of this day.
            if day.weekday() in self._days and (moments := [m for m in self._moments(day) if m > now]):
                return min(moments)
        raise ValueError("A schedule has at least one day.")

    def _moments(self, day: date) -> Iterator[float]:
        """Yield the boundaries of the opening on ``day``. When daylight-saving time ends, each may occur twice."""
        for local in (
            datetime.combine(day, self._opens, self._zone),
            datetime.combine(day + _DAY if self._is_overnight else day, self._closes, self._zone),
        ):
            yield local.timestamp()
            yield local.replace(fold=1).timestamp()


@cache
def _zone(name: str) -> ZoneInfo:
    """All schedules share the zones, of which there are a few hundred. Loading one takes much longer than the rest."""
    return ZoneInfo(name)


# Thousands of schedules have the same few zones.
@lru_cache(maxsize=4096)
def _offset_change(zone: ZoneInfo, week: int) -> float | None:
    """Return the moment at which the zone's offset changes after the start of a week until its end, if it does.

    Week 0 began in 1970.
    """
    start, end = week * _WEEK, (week + 1) * _WEEK
    offset = _offset(zone, start)
    if _offset(zone, end) == offset:
        return None
    while end - start > 1:
        middle = (start + end) // 2
        start, end = (middle, end) if _offset(zone, middle) == offset else (start, middle)
    return float(end)


def _offset(zone: ZoneInfo, moment: int) -> timedelta | None:
    return datetime.fromtimestamp(moment, zone).utcoffset()


def _seconds(moment: str | None, default: float) -> float:
    return default if moment is None else datetime.fromisoformat(moment).timestamp()
