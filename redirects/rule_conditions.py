"""Compiles a stored condition. The values of a condition are alternatives; ``not`` negates the whole condition.

Schedules and periods know when they are open, and when that changes next. Moments are seconds since 1970. A schedule
follows the wall clock of its time zone. An hour that daylight-saving time skips is in no schedule, and one that it
repeats is in the schedule both times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache
from math import inf
from socket import AF_INET, AF_INET6, inet_pton
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from common.bounded_cache import BoundedCache
from links.fields import DAYS, DIRECT
from redirects.visit import Visit

_DAY = timedelta(days=1)
# Each opening recurs after a week.
_HORIZON_DAYS = 8
_WEEK = 7 * 86_400


class Period:
    """The time from ``since`` until before ``until``."""

    __slots__ = ("_since", "_until")

    def __init__(self, raw: Mapping[str, str]) -> None:
        self._since = _seconds(raw.get("from"), -inf)
        self._until = _seconds(raw.get("until"), inf)

    def is_open(self, now: float) -> bool:
        return self._since <= now < self._until

    def next_change(self, now: float) -> float:
        return min((moment for moment in (self._since, self._until) if moment > now), default=inf)


class Schedule:
    """The time from ``from`` until before ``until`` on ``days``. If ``until`` is not later, it ends on
    the day after the one on which it starts: ``00:00`` to ``00:00`` is a whole day.
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


# Bytes of a compiled condition and of each of its values, at most, as tests/redirects/routing/test_memory.py measures.
# All schedules share the time zones, which are not included.
_BYTES = 1_200
_BYTES_OF_VALUE = {"schedule": 3_000, "time": 1_000}
_BYTES_OF_OTHER_VALUE = 600

VisitTest = Callable[[Visit], bool]


@dataclass(frozen=True, slots=True)
class Condition:
    """Depends either on the visit (``test``) or on the time (``windows``, of which one has to be open).

    ``size`` estimates its bytes.
    """

    type: str
    is_negated: bool
    size: int
    test: VisitTest | None = None
    windows: tuple[Period | Schedule, ...] = ()

    def holds(self, visit: Visit, now: float) -> bool:
        return self.test(visit) if self.test is not None else self.holds_at(now)

    def holds_at(self, now: float) -> bool:
        return any(window.is_open(now) for window in self.windows) != self.is_negated

    def next_change(self, now: float) -> float:
        return min((window.next_change(now) for window in self.windows), default=inf)


def compile_condition(raw: Mapping[str, Any]) -> Condition:
    """Compile ``raw``, an entry of ``conditions`` as the database stores it, which is valid.

    Links with the same condition share the compiled one: it is more often in the CPU caches.
    """
    # As text: the bytes of orjson keep their buffer of several KB.
    text = orjson.dumps(raw).decode()
    condition = compiled_conditions.get(text)
    if condition is None:
        condition = _compile(raw)
        compiled_conditions.put(text, condition)
    return condition


def _compile(raw: Mapping[str, Any]) -> Condition:
    kind, values, is_negated = raw["type"], raw.get("values") or [], bool(raw.get("not"))
    size = _BYTES + len(values) * _BYTES_OF_VALUE.get(kind, _BYTES_OF_OTHER_VALUE)
    if kind in _WINDOWS:
        return Condition(kind, is_negated, size, windows=tuple(map(_WINDOWS[kind], values)))
    test = _TESTS[kind](values)
    return Condition(kind, is_negated, size, (lambda visit: not test(visit)) if is_negated else test)


compiled_conditions = BoundedCache[str, Condition](
    8192, 8 * 1024 * 1024, lambda text, condition: condition.size + len(text.encode())
)

_WINDOWS: Mapping[str, Callable[[Any], Period | Schedule]] = {"time": Period, "schedule": Schedule}


def _country(values: Sequence[str]) -> VisitTest:
    countries = frozenset(values)
    return lambda visit: visit.country in countries


def _device(values: Sequence[str]) -> VisitTest:
    devices = frozenset(values)
    return lambda visit: visit.device in devices


def _operating_system(values: Sequence[str]) -> VisitTest:
    names = _folded(values)
    return lambda visit: (visit.operating_system or "").casefold() in names


def _browser(values: Sequence[str]) -> VisitTest:
    names = _folded(values)
    return lambda visit: (visit.browser or "").casefold() in names


def _folded(values: Sequence[str]) -> frozenset[str]:
    return frozenset(value.casefold() for value in values)


def _language(values: Sequence[str]) -> VisitTest:
    ranges = frozenset(value.lower() for value in values)
    return lambda visit: not ranges.isdisjoint(visit.language_ranges)


def _referrer_host(values: Sequence[str]) -> VisitTest:
    hosts = frozenset("" if value == DIRECT else value.lower() for value in values)
    return lambda visit: not hosts.isdisjoint(visit.referrer_hosts)


def _query(values: Sequence[Mapping[str, str]]) -> VisitTest:
    names = frozenset(value["name"] for value in values if value.get("value") is None)
    pairs = frozenset((value["name"], value["value"]) for value in values if value.get("value") is not None)

    def test(visit: Visit) -> bool:
        if not visit.query:
            return False
        sent_names, sent_pairs = visit.parameters
        return not names.isdisjoint(sent_names) or not pairs.isdisjoint(sent_pairs)

    return test


def _network(values: Sequence[str]) -> VisitTest:
    # By the length of the prefix: a visit compares once for each length, not for each network.
    networks: dict[int, dict[int, set[int]]] = {32: defaultdict(set), 128: defaultdict(set)}
    for value in values:
        address, _, length = value.partition("/")
        packed = inet_pton(AF_INET6 if ":" in address else AF_INET, address)
        bits = 8 * len(packed)
        rest = bits - int(length or bits)
        networks[bits][rest].add(int.from_bytes(packed) >> rest)

    def test(visit: Visit) -> bool:
        ip = visit.ip
        if ip is None:
            return False
        bits, number = ip
        for rest, numbers in networks[bits].items():  # noqa: SIM110 # a generator takes twice as long
            if number >> rest in numbers:
                return True
        return False

    return test


def _scanned(_: Sequence[object]) -> VisitTest:
    return lambda visit: visit.scanned


_TESTS: Mapping[str, Callable[[Sequence[Any]], VisitTest]] = {
    "country": _country,
    "device": _device,
    "os": _operating_system,
    "browser": _browser,
    "language": _language,
    "referrerHost": _referrer_host,
    "query": _query,
    "network": _network,
    "scanned": _scanned,
}
