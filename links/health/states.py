"""When a destination is dead: a pure function of its checks."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import models

from accounts.health_checks import HealthCheck


class HealthStatus(models.TextChoices):
    UNKNOWN = "unknown"
    HEALTHY = "healthy"
    BLOCKED = "blocked"
    DEAD = "dead"


class Health(NamedTuple):
    """What is shown of a link. ``problem`` is what the last check found: a key of `PROBLEMS`, or a status of HTTP.

    ``failing_since`` is the first failed check since the destination last answered.
    """

    status: str
    checked_at: datetime | None
    problem: str | None
    failing_since: datetime | None


NEVER_CHECKED = Health(HealthStatus.UNKNOWN, None, None, None)


class Verdict(models.TextChoices):
    """Of one check. ``UNDECIDED``: it says nothing about the destination, such as a timeout."""

    HEALTHY = "healthy"
    BLOCKED = "blocked"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Result(NamedTuple):
    verdict: Verdict
    problem: str | None = None


class State(NamedTuple):
    """``failures`` since a check that found it healthy or blocked; the first of them was at ``failing_since``."""

    status: str = HealthStatus.UNKNOWN
    failures: int = 0
    failing_since: datetime | None = None


FAILURES, FAILING = 3, timedelta(hours=24)
_PERIODS = {HealthCheck.DAILY: timedelta(days=1), HealthCheck.WEEKLY: timedelta(weeks=1)}
# Three failures span a day.
_AFTER_FAILURE = timedelta(hours=12, minutes=5)
# The checks of links that were created together spread over time.
_JITTER = 0.05


def state_after(state: State, result: Result, now: datetime, *, is_regular: bool) -> State:
    """``is_regular``: further checks follow. Without them a destination never becomes dead, as nobody would see that
    it recovers.
    """
    if result.verdict is Verdict.HEALTHY:
        return State(HealthStatus.HEALTHY)
    if result.verdict is Verdict.BLOCKED:
        return State(HealthStatus.BLOCKED)
    if result.verdict is Verdict.UNDECIDED or not is_regular:
        return state
    since = state.failing_since or now
    failures = min(state.failures + 1, FAILURES)
    is_dead = failures == FAILURES and now - since >= FAILING
    return State(HealthStatus.DEAD if is_dead else state.status, failures, since)


def next_check(state: State, frequency: HealthCheck, now: datetime) -> datetime | None:
    """None: there is no further check."""
    period = _PERIODS.get(frequency)
    if period is None:
        return None
    if state.failures:
        period = _AFTER_FAILURE if state.status != HealthStatus.DEAD else _PERIODS[HealthCheck.DAILY]
    return now + period * random.uniform(1, 1 + _JITTER)  # noqa: S311 # no secret
