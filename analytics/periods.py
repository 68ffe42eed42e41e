"""Which days a report is about, in whose time, and into which steps they are cut. No database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal, NamedTuple

from common.errors import FieldError, InvalidFields

Interval = Literal["hour", "day", "month"]

FIRST_DAY = date(1970, 1, 1)
# Python's last day but one: a day ends where the next one begins.
LAST_DAY = date(9999, 12, 30)
MAX_DAYS = 3_700
MAX_DAYS_BY_HOUR = 31
DEFAULT_DAYS_BY_HOUR = 7

_DAY = timedelta(days=1)


class Span(NamedTuple):
    """From one moment up to, but not including, another."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days of a time zone, the last one included."""

    first: date
    last: date
    zone: tzinfo

    @property
    def span(self) -> Span:
        return Span(midnight(self.first, self.zone), midnight(self.last + _DAY, self.zone))

    @property
    def touched_days(self) -> tuple[date, date]:
        """The first and the last day of UTC that have a moment of it."""
        since, until = self.span
        return since.date(), max(since, until - timedelta.resolution).date()

    @property
    def whole_days(self) -> tuple[date, date]:
        """The first and the last day of UTC that lie in it as a whole; the last is before the first if none does."""
        since, until = self.span
        return (since + _DAY - timedelta.resolution).date(), until.date() - _DAY

    @property
    def edges(self) -> list[Span]:
        """What remains at both ends."""
        since, until = self.span
        first, last = (midnight(day, UTC) for day in self.whole_days)
        end = last + _DAY
        spans = [Span(since, until)] if end < first else [Span(since, first), Span(end, until)]
        return [each for each in spans if each.since < each.until]

    def steps(self, interval: Interval) -> list[datetime]:
        """Where each step begins. The first and the last month are those parts of it that the period has."""
        if interval == "hour":
            return list(self._hours())
        days = (self.first + _DAY * number for number in range((self.last - self.first).days + 1))
        return [
            midnight(day, self.zone).astimezone(self.zone)
            for day in days
            if interval == "day" or day.day == 1 or day == self.first
        ]

    def _hours(self) -> Iterator[datetime]:
        moment, until = self.span
        while moment < until:
            local = moment.astimezone(self.zone)
            yield local
            # Where clocks change by half an hour, the next step is shorter.
            moment += timedelta(minutes=60 - local.minute)


def midnight(day: date, zone: tzinfo) -> datetime:
    """The first moment of a day, also where its clocks begin at one; in UTC."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def local_day(moment: datetime | date, zone: tzinfo) -> date | None:
    """None for what no report can be about."""
    if isinstance(moment, datetime):
        try:
            moment = moment.astimezone(zone).date()
        except OverflowError:
            return None
    return moment if FIRST_DAY <= moment <= LAST_DAY else None


def label(step: datetime, interval: Interval) -> str:
    if interval == "hour":
        return step.isoformat().replace("+00:00", "Z") if step.tzinfo is UTC else step.isoformat()
    return step.date().isoformat() if interval == "day" else step.date().isoformat()[:7]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client wants to know. Without any date, everything."""

    start: date | None
    end: date | None
    zone: tzinfo
    interval: Interval = "day"

    @property
    def is_everything(self) -> bool:
        return self.start is None and self.end is None and self.interval != "hour"

    def period(self, born: datetime, now: datetime) -> Period:
        """Open to the front, it begins with the link; open to the back, it ends today. Raises InvalidFields."""
        self._check_order()
        today = now.astimezone(self.zone).date()
        start, end = self.start, self.end
        if end is None:
            end = max(today, start or today)
        if start is None and self.interval == "hour":
            start = end - _DAY * (DEFAULT_DAYS_BY_HOUR - 1)
        elif start is None:
            start = min(born.astimezone(self.zone).date(), end)
        period = Period(start, end, self.zone)
        self._check_length(period)
        return period

    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """Where it begins and before where it ends. Raises InvalidFields."""
        self._check_order()
        return (
            None if self.start is None else midnight(self.start, self.zone),
            None if self.end is None else midnight(self.end + _DAY, self.zone),
        )

    def _check_order(self) -> None:
        if self.start is not None and self.end is not None and self.end < self.start:
            raise _refused("endDate", "Must not lie before startDate.")

    def _check_length(self, period: Period) -> None:
        days = (period.last - period.first).days + 1
        if days > MAX_DAYS:
            field = "startDate" if self.start else "endDate"
            raise _refused(field, f"A report is about at most {MAX_DAYS} days.")
        if self.interval == "hour" and days > MAX_DAYS_BY_HOUR:
            raise _refused("interval", f"By hour, a report is about at most {MAX_DAYS_BY_HOUR} days.")


def _refused(field: str, message: str) -> InvalidFields:
    return InvalidFields([FieldError(field, "range", message)])
