"""The days of a report, their time zone, and their division into steps. This module does not use the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal, NamedTuple

from common.errors import FieldError, InvalidFields

Interval = Literal["hour", "day", "month"]
Compare = Literal["previous", "year"]

FIRST_DAY = date(1970, 1, 1)
# The day before Python's last day, because a day ends at the start of the next.
LAST_DAY = date(9999, 12, 30)
MAX_DAYS = 3_700
MAX_DAYS_BY_HOUR = 31
DEFAULT_DAYS_BY_HOUR = 7

# Periods that end now, or today. They stand for two dates, except the first and the last one.
HOURS, EVERYTHING = "24h", "all"
_DAYS = {"today": 1, "7d": 7, "30d": 30, "90d": 90}
PERIODS = (HOURS, *_DAYS, "12mo", "mtd", "ytd", EVERYTHING)
_HOURS_OF_PERIOD = 24

_DAY = timedelta(days=1)


class Span(NamedTuple):
    """A half-open time range: ``since`` is included, ``until`` is not."""

    since: datetime
    until: datetime


class PartsOfDays(NamedTuple):
    """Parts of UTC days: the ``spans``, and the ``days`` without the spans ``left_out`` of them.

    ``with_clicks``: the days of all these spans, but for those left out that have not begun.
    """

    spans: list[Span]
    days: list[date]
    left_out: list[Span]
    with_clicks: list[date]

    @property
    def read(self) -> list[Span]:
        return [*self.spans, *self.left_out]


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days of a time zone, including ``last``; if it has ``hours``, only these hours of the days."""

    first: date
    last: date
    zone: tzinfo
    hours: Span | None = None

    @property
    def span(self) -> Span:
        return self.hours or Span(midnight(self.first, self.zone), midnight(self.last + _DAY, self.zone))

    @property
    def touched_days(self) -> tuple[date, date]:
        """The first and the last UTC day that overlap the period."""
        since, until = self.span
        return since.date(), max(since, until - timedelta.resolution).date()

    @property
    def whole_days(self) -> tuple[date, date]:
        """The first and the last UTC day fully inside the period; if there is none, the last precedes the first."""
        since, until = self.span
        return (since + _DAY - timedelta.resolution).date(), until.date() - _DAY

    @property
    def edges(self) -> list[Span]:
        """The parts of the period outside `whole_days`."""
        since, until = self.span
        first, last = (midnight(day, UTC) for day in self.whole_days)
        end = last + _DAY
        spans = [Span(since, until)] if end < first else [Span(since, first), Span(end, until)]
        return [span for span in spans if span.since < span.until]

    def shorter_edges(self, now: datetime) -> PartsOfDays:
        """`edges`, or the rest of their days if less of that has passed."""
        spans, days, left_out = list[Span](), list[date](), list[Span]()
        for edge in self.edges:
            # Each is within one day.
            day = midnight(edge.since.date(), UTC)
            rest = [] if edge.since >= now else [Span(day, edge.since), Span(edge.until, day + _DAY)]
            if rest and sum((_past(span, now) for span in rest), timedelta()) < _past(edge, now):
                days.append(day.date())
                left_out += [span for span in rest if span.since < span.until]
            else:
                spans.append(edge)
        begun = [span for span in left_out if span.since < now]
        with_clicks = {span.since.date() for span in [*spans, *begun]}
        return PartsOfDays(spans, days, left_out, sorted(with_clicks))

    def before(self, compare: Compare) -> Period:
        """As many days, or hours, right before the period; or the same ones a year earlier."""
        if self.hours is not None:
            since, until = self.hours
            earlier = _to_year_before(since.date()) if compare == "year" else until - since
            hours = Span(since - earlier, until - earlier)
            return Period(hours.since.astimezone(self.zone).date(), self.last - earlier, self.zone, hours)
        if compare == "year":
            first, last = (day - _to_year_before(day) for day in (self.first, self.last))
            return Period(first, last, self.zone)
        return Period(self.first - (self.last - self.first) - _DAY, self.first - _DAY, self.zone)

    def steps(self, interval: Interval) -> list[datetime]:
        """The start of each step. The first and the last month may be partial."""
        if interval == "hour":
            return list(self._hours())
        days = (self.first + _DAY * number for number in range((self.last - self.first).days + 1))
        starts = (
            midnight(day, self.zone).astimezone(self.zone)
            for day in days
            if interval == "day" or day.day == 1 or day == self.first
        )
        # A zone that crossed the date line skipped a day, which would start with the next day.
        return list(dict.fromkeys(starts))

    def _hours(self) -> Iterator[datetime]:
        moment, until = self.span
        while moment < until:
            local = moment.astimezone(self.zone)
            yield local
            # A step is shorter after a clock change of half an hour.
            moment += timedelta(minutes=60 - local.minute)


def _past(span: Span, now: datetime) -> timedelta:
    return max(timedelta(), min(span.until, now) - span.since)


def _to_year_before(day: date) -> timedelta:
    """The time to the same day of the year before; of 29 February, to the 28th."""
    return day - day.replace(year=day.year - 1, day=min(day.day, 28) if day.month == 2 else day.day)


def midnight(day: date, zone: tzinfo) -> datetime:
    """The start of a day, in UTC. Correct also if a clock change skips midnight."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def first_day(period: str, today: date) -> date:
    """The first day of a named period, which ends ``today``: of any but HOURS and EVERYTHING."""
    if period in _DAYS:
        return today - _DAY * (_DAYS[period] - 1)
    if period == "mtd":
        return today.replace(day=1)
    # The month of today and the eleven before it.
    months = today.year * 12 + today.month - 12 if period == "12mo" else today.year * 12
    return date(months // 12, months % 12 + 1, 1)


def local_day(moment: datetime | date, zone: tzinfo) -> date | None:
    """The day in the zone; None outside FIRST_DAY to LAST_DAY."""
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
class RequestedRange:
    """The range and the interval of a client's query. Without dates, the link's whole lifetime.

    ``last_hours``: the current hour and those before it, so many in all, instead of days. With ``compare``, it is the
    period with which the range is compared.
    """

    start: date | None
    end: date | None
    zone: tzinfo
    interval: Interval = "day"
    last_hours: int = 0
    compare: Compare | None = None

    @property
    def is_everything(self) -> bool:
        return self.start is None and self.end is None and self.interval != "hour" and not self.last_hours

    def period(self, created: datetime, now: datetime) -> Period:
        """Return the period, by default from the link's creation to today. Raises InvalidFields."""
        period = self._period(created, now)
        return period if self.compare is None else period.before(self.compare)

    def compared(self, compare: Compare) -> RequestedRange:
        """Raises InvalidFields for the whole lifetime."""
        if self.is_everything:
            raise _range_error("compare", "Choose a period or dates: nothing precedes the whole lifetime.")
        return replace(self, compare=compare)

    def _period(self, created: datetime, now: datetime) -> Period:
        self._check_order()
        if self.last_hours:
            return self._hours(now)
        today = now.astimezone(self.zone).date()
        start, end = self.start, self.end
        if end is None:
            end = max(today, start or today)
        if start is None and self.interval == "hour":
            start = end - _DAY * (DEFAULT_DAYS_BY_HOUR - 1)
        elif start is None:
            start = min(created.astimezone(self.zone).date(), end)
        period = Period(start, end, self.zone)
        self._check_length(period)
        return period

    def bounds(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """The start (inclusive) and the end (exclusive). Raises InvalidFields."""
        self._check_order()
        if self.last_hours:
            return self._hours(now).span
        return (
            None if self.start is None else midnight(self.start, self.zone),
            None if self.end is None else midnight(self.end + _DAY, self.zone),
        )

    def _hours(self, now: datetime) -> Period:
        # Hours of the zone, which can start at any quarter of an hour of UTC.
        local = now.astimezone(self.zone)
        hour = (local - timedelta(minutes=local.minute)).replace(second=0, microsecond=0).astimezone(UTC)
        span = Span(hour - timedelta(hours=self.last_hours - 1), hour + timedelta(hours=1))
        return Period(span.since.astimezone(self.zone).date(), local.date(), self.zone, span)

    def _check_order(self) -> None:
        if self.start is not None and self.end is not None and self.end < self.start:
            raise _range_error("endDate", "Must not be earlier than startDate.")

    def _check_length(self, period: Period) -> None:
        days = (period.last - period.first).days + 1
        if days > MAX_DAYS:
            field = "startDate" if self.start else "endDate"
            raise _range_error(field, f"The range must have at most {MAX_DAYS} days.")
        if self.interval == "hour" and days > MAX_DAYS_BY_HOUR:
            raise _range_error("interval", f"By hour, the range must have at most {MAX_DAYS_BY_HOUR} days.")


def named_range(period: str, zone: tzinfo, interval: Interval, now: datetime) -> RequestedRange:
    """The range of one of the PERIODS."""
    if period == EVERYTHING:
        return RequestedRange(None, None, zone, interval)
    if period == HOURS:
        return RequestedRange(None, None, zone, interval, last_hours=_HOURS_OF_PERIOD)
    today = now.astimezone(zone).date()
    return RequestedRange(first_day(period, today), today, zone, interval)


def _range_error(field: str, message: str) -> InvalidFields:
    return InvalidFields([FieldError(field, "range", message)])
