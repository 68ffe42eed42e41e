"""When a destination is dead, and when it is checked again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from accounts.health_checks import HealthCheck
from links.health.states import Result, State, Verdict, next_check, state_after

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)
HEALTHY, BLOCKED = Result(Verdict.HEALTHY), Result(Verdict.BLOCKED, "403")
FAILED, UNDECIDED = Result(Verdict.FAILED, "404"), Result(Verdict.UNDECIDED, "timeout")


def after(*checks: tuple[float, Result], is_regular: bool = True) -> list[str]:
    """The statuses after checks at these hours."""
    state, statuses = State(), []
    for hours, result in checks:
        state = state_after(state, result, NOON + timedelta(hours=hours), is_regular=is_regular)
        statuses.append(state.status)
    return statuses


def test_three_failures_of_a_day_kill_and_one_success_revives() -> None:
    assert after((0, FAILED), (12, FAILED), (24, FAILED)) == ["unknown", "unknown", "dead"]
    assert after((0, FAILED), (1, FAILED), (23.9, FAILED), (24, FAILED)) == [*["unknown"] * 3, "dead"]
    assert after((0, FAILED), (30, FAILED)) == ["unknown", "unknown"]
    # A success or a block begins anew, and what says nothing changes nothing.
    assert after((0, FAILED), (12, HEALTHY), (24, FAILED), (36, FAILED)) == ["unknown", *["healthy"] * 3]
    assert after((0, FAILED), (12, BLOCKED), (24, FAILED), (36, FAILED)) == ["unknown", *["blocked"] * 3]
    assert after((0, FAILED), (12, UNDECIDED), (13, FAILED), (24, FAILED))[-1] == "dead"
    dead = ((0, FAILED), (12, FAILED), (24, FAILED))
    for result, status in ((UNDECIDED, "dead"), (FAILED, "dead"), (BLOCKED, "blocked"), (HEALTHY, "healthy")):
        assert after(*dead, (48, result))[-1] == status
    assert after(*((hours, BLOCKED) for hours in range(0, 240, 24)))[-1] == "blocked"
    assert after(*dead, is_regular=False) == ["unknown"] * 3


def test_failures_are_checked_again_soon_and_dead_destinations_daily() -> None:
    day, week = timedelta(days=1), timedelta(weeks=1)
    failing, dead = State("healthy", 1, NOON), State("dead", 3, NOON)
    for state, frequency, least in (
        (State("healthy"), HealthCheck.DAILY, day),
        (State("healthy"), HealthCheck.WEEKLY, week),
        (State("blocked"), HealthCheck.WEEKLY, week),
        (failing, HealthCheck.WEEKLY, timedelta(hours=12)),
        (dead, HealthCheck.WEEKLY, day),
    ):
        due = next_check(state, frequency, NOON)
        assert due is not None
        assert least <= due - NOON <= least * 1.1
    assert next_check(dead, HealthCheck.OFF, NOON) is None
